import { hasEnded } from "../../../domain/agent/agent.ts";
import { isOpenMerge, type MergeEntry } from "../../../domain/merge/entry.ts";
import { ok } from "../../../domain/result.ts";
import { fields, text } from "../../../domain/schema/schema.ts";
import type { Tx } from "../../../ports/store.ts";
import type { UseCase } from "../../usecase.ts";
import { ownerOfBranch } from "../branch-owner.ts";
import { openMerges, type QueuedMerge, queuedMerge } from "../read-merges.ts";
import { type Standing, standingOf } from "../standing.ts";

/** An entry with everything that a person who watches the queue wants to know of it. */
export interface WatchedMerge extends QueuedMerge {
  /** The title of its task. */
  readonly title: string | null;
  readonly standing: Standing;
  /** It failed, and its agent works on it again. */
  readonly isBack: boolean;
  /** Its place in the list: smaller is further up. */
  readonly rank: number;
}

/**
 * Entries on their way, in the order in which they land, after those that do not move by themselves. Failed entries are
 * listed until their task is closed or their run has ended.
 */
export const readQueue: UseCase<{ readonly runId?: string | undefined }, { readonly merges: readonly WatchedMerge[] }> =
  {
    kind: "read",
    request: fields({}, { runId: text }),
    run: async (tx, context, { runId }) => {
      const open = await openMerges(tx, context);
      const failed: QueuedMerge[] = [];
      for (const entry of await tx.merges.list({ statuses: ["failed", "conflict"], newestOfBranch: true }))
        if (!(await isOver(tx, entry))) failed.push(await queuedMerge(tx, entry, { ids: [], isPaused: false }));
      const watched: WatchedMerge[] = [];
      for (const merge of [...failed, ...open.values()]) {
        if (runId !== undefined && merge.entry.runId !== runId) continue;
        const { taskId, branch } = merge.entry;
        const task = taskId === null ? undefined : await tx.tasks.get(taskId);
        const owner = isOpenMerge(merge.entry) ? undefined : await ownerOfBranch(tx, branch);
        const isBack = owner !== undefined && !hasEnded(owner);
        const standing = standingOf(merge, open);
        const rank = rankOf(merge, standing, isBack);
        watched.push({ ...merge, title: task?.title ?? null, standing, isBack, rank });
      }
      return ok({ merges: watched.toSorted((a, b) => a.rank - b.rank || a.entry.id - b.entry.id) });
    },
  };

/** Nothing is to be decided about a failed branch any more. */
async function isOver(tx: Tx, { taskId, runId }: MergeEntry): Promise<boolean> {
  const task = taskId === null ? undefined : await tx.tasks.get(taskId);
  const run = runId === null ? undefined : await tx.runs.get(runId);
  return task?.status === "closed" || (run !== undefined && run.status !== "active");
}

/** After every place in the line. */
const last = 1_000_000;

/**
 * The order of the list: entries that need a person, blocked ones, those in a train, the next, and those that wait for
 * others.
 */
function rankOf({ entry, place }: QueuedMerge, standing: Standing, isBack: boolean): number {
  if (standing.can.includes("approve")) return 0;
  if (standing.isStuck && !isBack) return 1;
  if (isBack) return 2;
  if (entry.status === "merging" || entry.status === "gating") return 3;
  return place === null ? last : 3 + place;
}
