export const taskStatuses = ["open", "in_progress", "in_review", "blocked", "closed"] as const;
export type TaskStatus = (typeof taskStatuses)[number];

export const taskTypes = ["task", "bug", "feature", "epic"] as const;
export type TaskType = (typeof taskTypes)[number];

/** `none`: no code to land. The others follow the branch of the task through the merge queue. */
export const mergeStates = ["none", "pending", "queued", "merged", "failed", "abandoned"] as const;
export type MergeState = (typeof mergeStates)[number];

/** One unit of work. */
export interface Task {
  readonly id: string;
  readonly title: string;
  readonly status: TaskStatus;
  readonly type: TaskType;
  /** 0 is most urgent, 4 least. */
  readonly priority: number;
  readonly description: string | null;
  readonly assignee: string | null;
  readonly labels: readonly string[];
  /** Files and globs that it owns. */
  readonly files: readonly string[];
  /** Files and globs that it changes together with other tasks: a registry, a changelog, a list of exports. */
  readonly shares: readonly string[];
  readonly parentId: string | null;
  readonly runId: string | null;
  readonly claimedBy: string | null;
  readonly claimExpires: number | null;
  readonly mergeState: MergeState;
  readonly closeReason: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly closedAt: number | null;
}

/** `taskId` cannot start before `dependsOn` is closed. */
export interface TaskDependency {
  readonly taskId: string;
  readonly dependsOn: string;
}

/** A group of tasks followed together. */
export interface Group {
  readonly id: string;
  readonly name: string;
  readonly status: "active" | "completed";
  readonly runId: string | null;
  readonly owner: string;
  readonly createdAt: number;
  readonly completedAt: number | null;
}

/** The written specification of a task; the text is a file, this is who wrote which version. */
export interface Spec {
  readonly taskId: string;
  readonly path: string;
  readonly author: string | null;
  readonly digest: string;
  readonly updatedAt: number;
}

/** The start of the ids of a project's tasks: its name, reduced to what file names and branches can hold. */
export function taskPrefix(projectName: string): string {
  const reduced = projectName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, maxPrefix)
    .replace(/-+$/, "");
  return reduced === "" ? "task" : reduced;
}

/** Leaves room for the dash and the longest random part within the 64 characters of a name. */
const maxPrefix = 40;

/** The text as it is kept: the author in a first line that renderers hide, and a newline at the end. */
export function specText(body: string, author: string | null): string {
  const head = author === null ? "" : `<!-- written-by: ${author} -->\n`;
  return `${head}${body}${body.endsWith("\n") ? "" : "\n"}`;
}

/** An id made of the words that say what is to be done: short, and a valid branch part. Letters lose their accents. */
export function taskIdOf(title: string): string {
  const words = title
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return words.slice(0, 40).replace(/-+$/, "") || "task";
}
