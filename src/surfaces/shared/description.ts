import type { Exit } from "./exits.ts";

/** Machine-readable families of errors; the details of each family keep their field names. */
export const codes = [
  "VALIDATION_ERROR",
  "CONFIG_ERROR",
  "AGENT_ERROR",
  "HIERARCHY_VIOLATION",
  "LIFECYCLE_ERROR",
  "WORKTREE_ERROR",
  "MAIL_ERROR",
  "MERGE_ERROR",
  "GROUP_ERROR",
  "TASK_ERROR",
  "PERMISSION_ERROR",
  "BUSY_ERROR",
  "STORE_ERROR",
  "ENGINE_ERROR",
  "INTERNAL_ERROR",
] as const;

export type Code = (typeof codes)[number];

/** An error in the words every surface shares: what happened and what it affected, and the next command to type. */
export interface Description {
  readonly code: Code;
  readonly exit: Exit;
  readonly message: string;
  readonly hint?: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** The same request, unchanged, may succeed later. */
  readonly retryable: boolean;
}

/** `a`, `b` and `c` in prose. */
export function listed(items: readonly string[], conjunction = "or"): string {
  if (items.length < 2) return items[0] ?? "nothing";
  return `${items.slice(0, -1).join(", ")} ${conjunction} ${items[items.length - 1]}`;
}

/** The end of the sentence about a request that was refused before it changed anything. */
export const unchanged = "nothing was changed";

/** The same error after the command has changed something already: what that was, and that it stays. */
export function afterChanges(said: Description, changes: readonly string[]): Description {
  if (changes.length === 0) return said;
  const kept = `done before that, and kept: ${changes.join("; ")}`;
  const { message } = said;
  return { ...said, message: message.includes(unchanged) ? message.replace(unchanged, kept) : `${message}; ${kept}` };
}
