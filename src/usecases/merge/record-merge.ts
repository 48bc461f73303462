import type { EventLevel } from "../../domain/event/event.ts";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";

export const mergeEvents = [
  "merge_queued",
  "merge_approved",
  "merge_waits",
  "merge_superseded",
  "merge_cancelled",
  "merge_landed",
  "merge_failed",
  "merge_blocked",
  "merge_undone",
] as const;
export type MergeEvent = (typeof mergeEvents)[number];

/** Puts on record what became of an entry, in the name of whoever caused it, about the agent whose branch it is. */
export async function recordMerge(
  tx: Tx,
  { caller, now }: Pick<Context, "caller" | "now">,
  type: MergeEvent,
  entry: MergeEntry,
  more: { readonly level?: EventLevel; readonly data?: Readonly<Record<string, unknown>> } = {},
): Promise<void> {
  const { id: queueId, branch, targetBranch, taskId, headCommit, approval } = entry;
  await tx.events.append([
    {
      runId: entry.runId,
      agentName: entry.agentName,
      source: caller.kind,
      level: more.level ?? "info",
      type,
      data: { queueId, branch, targetBranch, taskId, headCommit, approval, by: caller.name, ...more.data },
      createdAt: now,
    },
  ]);
}
