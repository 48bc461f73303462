import {
  type Approval,
  isOpenMerge,
  type MergeEntry,
  openMergeStatuses,
  sufficientApprovals,
} from "../../../domain/merge/entry.ts";
import { landingOrder } from "../../../domain/merge/order.ts";
import type { QueuePause } from "../../../domain/merge/queue-pause.ts";
import { causeWords } from "../../../domain/merge/words.ts";
import type { Tx } from "../../../ports/store.ts";
import type { Context } from "../../usecase.ts";

/** What could land now, in the order in which it should; over all targets. */
export async function readyMerges(
  tx: Tx,
  { settings, now }: Pick<Context, "settings" | "now">,
): Promise<readonly MergeEntry[]> {
  const waiting = await tx.merges.list({ statuses: ["pending", "blocked"] });
  const needed = new Set(waiting.flatMap(({ dependsOn }) => dependsOn));
  const unsettled = new Set((await unsettledOf(tx, [...needed])).map(({ id }) => id));
  const settled = needed.difference(unsettled);
  return landingOrder(waiting, { now, approvals: sufficientApprovals(settings.merge.mode), settled });
}

/** The line of those that could land: their numbers in order, and whether the operator holds it. */
export interface QueueOrder {
  readonly ids: readonly number[];
  readonly isPaused: boolean;
}

export const queueOrder = async (tx: Tx, context: Pick<Context, "settings" | "now">): Promise<QueueOrder> => ({
  ids: (await readyMerges(tx, context)).map(({ id }) => id),
  isPaused: (await tx.merges.pause()) !== undefined,
});

/**
 * Those of these entries that a dependent entry still waits for. An entry is settled when it has landed, or when it
 * ended without landing and its task is closed: another branch did the task anew, or the task was dropped.
 */
export async function unsettledOf(tx: Tx, ids: readonly number[]): Promise<readonly MergeEntry[]> {
  const unsettled: MergeEntry[] = [];
  for (const id of ids) {
    const entry = await tx.merges.get(id);
    if (entry === undefined || entry.status === "merged") continue;
    const task = isOpenMerge(entry) || entry.taskId === null ? undefined : await tx.tasks.get(entry.taskId);
    if (task?.status !== "closed") unsettled.push(entry);
  }
  return unsettled;
}

export interface BlockedMerge {
  readonly id: number;
  readonly branch: string;
  /** The obstacle, in words. */
  readonly why: string;
  /** What a person can do, with the command. */
  readonly next: string;
}

/** Where the branches of a run, or of all runs, stand; by the numbers of their entries. */
export interface MergeCounts {
  /** On their way, those that wait for a person included. */
  readonly pending: readonly number[];
  /** Wait for the operator's word. */
  readonly approvals: readonly number[];
  /** Entries that did not land and have no successor of the same branch. */
  readonly failed: readonly number[];
  /** Something outside is in their way; they are tried again, and mostly a person has to mend it. */
  readonly blocked: readonly BlockedMerge[];
  /** Why things that a person asked for have not worked yet; they are tried again. */
  readonly troubles: readonly string[];
  readonly paused: QueuePause | null;
}

export async function mergeCounts(tx: Tx, of: { readonly runId?: string }): Promise<MergeCounts> {
  const open = await tx.merges.list({ statuses: openMergeStatuses, ...of });
  const failed = await tx.merges.list({ statuses: ["failed", "conflict"], newestOfBranch: true, ...of });
  const asked = await tx.mergeOps.list({ status: "intended" });
  const troubles = asked.flatMap(({ kind, problem }) => (problem === null ? [] : [`${kind}: ${problem}`]));
  return {
    troubles,
    pending: open.map(({ id }) => id),
    approvals: open.filter(({ approval }) => approval === "waiting").map(({ id }) => id),
    failed: failed.map(({ id }) => id),
    blocked: await blockedAmong(tx, open),
    paused: (await tx.merges.pause()) ?? null,
  };
}

/**
 * Branches of all runs that an outside obstacle keeps from landing. Obstacles with a decision of their own are left
 * out.
 */
export async function blockedMerges(tx: Tx): Promise<readonly BlockedMerge[]> {
  const open = await tx.merges.list({ statuses: openMergeStatuses });
  return blockedAmong(
    tx,
    open.filter(({ cause }) => cause !== "foreign_tip"),
  );
}

export const blockedAmong = async (tx: Tx, open: readonly MergeEntry[]): Promise<readonly BlockedMerge[]> => [
  ...open.filter(({ status }) => status === "blocked").map(blockedMerge),
  ...open.filter(isRepeated).map(repeatedMerge),
  ...(await standingStill(tx, open)),
];

/** Approved branches that something blocks, and that are tried again: a person may have to mend it, or it may pass. */
export async function triedAgain(
  tx: Tx,
  open: readonly MergeEntry[],
  approvals: readonly Approval[],
): Promise<readonly MergeEntry[]> {
  const tried: MergeEntry[] = [];
  for (const entry of open) {
    // A landing branch that another program moved is a decision of the operator.
    if ((entry.status !== "blocked" && !isRepeated(entry)) || entry.cause === "foreign_tip") continue;
    if (!approvals.includes(entry.approval) || (await unsettledOf(tx, entry.dependsOn)).length > 0) continue;
    tried.push(entry);
  }
  return tried;
}

/** Git failed with it, and it is tried again and again. */
const isRepeated = ({ status, approval, cause }: MergeEntry): boolean =>
  status === "pending" && approval !== "waiting" && cause === "git_error";

/** Approved branches that wait for one which did not land, or was taken out again, and whose task no agent works on. */
async function standingStill(tx: Tx, open: readonly MergeEntry[]): Promise<readonly BlockedMerge[]> {
  const standing: BlockedMerge[] = [];
  for (const { id, branch, status, approval, dependsOn } of open) {
    if (status !== "pending" || approval === "waiting") continue;
    for (const before of await unsettledOf(tx, dependsOn)) {
      const task = before.taskId === null ? undefined : await tx.tasks.get(before.taskId);
      if (isOpenMerge(before) || (task?.claimedBy ?? null) !== null) continue;
      const what = before.status === "reverted" ? "was taken out again" : "did not land";
      const anew = before.taskId === null ? "" : `have its task done anew: ov sling ${before.taskId}; or `;
      const why = `it waits for #${before.id}, which ${what}`;
      standing.push({ id, branch, why, next: `${anew}land it without: ov merge approve ${id} --ignore-dependencies` });
      break;
    }
  }
  return standing;
}

const blockedMerge = (entry: MergeEntry): BlockedMerge => ({
  id: entry.id,
  branch: entry.branch,
  why: whyOf(entry),
  next: `when that is mended: ov merge resume ${entry.id}`,
});

const repeatedMerge = (entry: MergeEntry): BlockedMerge => ({
  id: entry.id,
  branch: entry.branch,
  why: whyOf(entry),
  next: `it is tried again by itself; to go on without it: ov merge cancel ${entry.id}`,
});

const whyOf = ({ cause, causeDetail }: MergeEntry): string =>
  [cause === null ? "" : causeWords[cause], causeDetail?.message ?? ""].filter((part) => part !== "").join(": ");
