/** Texts that live beside the database because people and agents read them as files. Writes are atomic and repeatable. */
export interface ProjectFiles {
  /** Stores a long mail body under its digest; returns the path. */
  writeMailBlob(body: string): Promise<string>;
  readMailBlob(path: string): Promise<string | undefined>;
  /** Replaces the specification of a task; returns absolute path and digest. */
  writeSpec(taskId: string, text: string): Promise<{ path: string; digest: string }>;
  readSpec(taskId: string): Promise<{ path: string; text: string } | undefined>;
  /** Keeps the variables an agent's processes will get, readable by the owner alone; returns the path. */
  writeEnvironment(values: Readonly<Record<string, string>>): Promise<string>;
  removeEnvironment(path: string): Promise<void>;
}
