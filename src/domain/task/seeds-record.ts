import type { MergeState, TaskStatus, TaskType } from "./task.ts";

/**
 * One line of the exchange format: one task as a JSON object, times in ISO-8601. `own` are the fields other trackers do
 * not have; a line without them says nothing about them.
 */
export interface SeedsRecord {
  readonly id: string;
  readonly title: string;
  readonly status: TaskStatus;
  readonly type: TaskType;
  readonly priority: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly closedAt: number | null;
  readonly closeReason: string | null;
  readonly description: string | null;
  readonly assignee: string | null;
  readonly labels: readonly string[];
  readonly blocks: readonly string[];
  readonly blockedBy: readonly string[];
  readonly own: OwnFields | null;
  /** Fields we do not know, kept as they were. */
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface OwnFields {
  readonly mergeState: MergeState;
  readonly claimedBy: string | null;
  readonly claimExpires: number | null;
  readonly parentId: string | null;
  readonly files: readonly string[];
}
