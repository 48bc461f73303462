/** Texts that live beside the database because people and agents read them as files. Writes are atomic and repeatable. */
export interface ProjectFiles {
  /** Stores a long mail body under its digest; returns the path. */
  writeMailBlob(body: string): Promise<string>;
  readMailBlob(path: string): Promise<string | undefined>;
  /**
   * Keeps the text of a specification under its digest; returns that, and the absolute path at which people will read
   * it. What is read there stays as it is until `readSpec` is given the digest.
   */
  writeSpec(taskId: string, text: string): Promise<{ path: string; digest: string }>;
  /**
   * The specification of a task, where `digest` names the text it was last given, null for none. The readable file
   * follows: it is renewed when it is missing or holds an older text. What a person wrote into it since counts, and is
   * not replaced.
   */
  readSpec(taskId: string, digest: string | null): Promise<SpecText | undefined>;
  /** Keeps the variables an agent's processes will get, readable by the owner alone; returns the path. */
  writeEnvironment(values: Readonly<Record<string, string>>): Promise<string>;
  removeEnvironment(path: string): Promise<void>;
}

export interface SpecText {
  readonly path: string;
  readonly text: string;
  /** It is not the text the task was given through us. */
  readonly byHand: boolean;
}
