import { type MergeCause, type MergeEntry, openMergeStatuses, sufficientApprovals } from "../../domain/merge/entry.ts";
import { ok } from "../../domain/result.ts";
import { fields, list, noFields, whole } from "../../domain/schema/schema.ts";
import type { Settings } from "../../ports/settings.ts";
import type { Tx } from "../../ports/store.ts";
import { type BlockedMerge, blockedAmong, triedAgain, unsettledOf } from "../merge/queue/queue-state.ts";
import type { UseCase } from "../usecase.ts";

interface Terms {
  readonly now: number;
  readonly settings: Pick<Settings, "merge">;
}

/** Has the engine work to do now, or work that is under way? */
export async function isWorkDue(tx: Tx, { now, settings }: Terms): Promise<boolean> {
  if ((await tx.turns.dueWork(now)) || (await tx.checks.dueWork())) return true;
  return tx.merges.dueWork(now, sufficientApprovals(settings.merge.mode));
}

/** The next moment for which an engine has to be there; undefined when nothing is waited for. It may be past. */
export async function nextMoment(tx: Tx, terms: Terms): Promise<number | undefined> {
  return earliest(await tx.turns.nextDue(terms.now), await nextChore(tx, terms));
}

/** The same without turns: the next deadline of a budget or of a merge. */
export async function nextChore(tx: Tx, { now, settings }: Terms): Promise<number | undefined> {
  const approvals = sufficientApprovals(settings.merge.mode);
  return earliest(await tx.waits.nextDeadline("budget"), await tx.merges.nextDue(now, approvals));
}

/**
 * The time until which a running engine stays for mail that a reader took: the reader may have died before it
 * acknowledged the mail. No engine is started for it, or each look into an inbox would start one.
 */
export const nextReturn = (tx: Tx): Promise<number | undefined> => tx.deliveries.nextReturn();

/** Has an engine nothing to do and nothing to wait for? */
export async function isIdle(tx: Tx, terms: Terms): Promise<boolean> {
  if (await isWorkDue(tx, terms)) return false;
  return (await nextMoment(tx, terms)) === undefined && (await nextReturn(tx)) === undefined;
}

/** Is nothing left but branches that something blocks? They are tried again, and mostly a person has to mend it. */
async function isStuck(
  tx: Tx,
  { now, settings }: Terms,
  open: readonly MergeEntry[],
  blocked: readonly BlockedMerge[],
): Promise<boolean> {
  if (blocked.length === 0 || (await tx.turns.dueWork(now)) || (await tx.checks.dueWork())) return false;
  const later = [await tx.turns.nextDue(now), await tx.waits.nextDeadline("budget"), await nextReturn(tx)];
  const asked = await tx.mergeOps.list({ status: "intended" });
  if (earliest(...later) !== undefined || asked.length > 0) return false;
  const approvals = sufficientApprovals(settings.merge.mode);
  for (const { id, approval, dependsOn } of open) {
    if (!approvals.includes(approval) || blocked.some((one) => one.id === id)) continue;
    if ((await unsettledOf(tx, dependsOn)).length === 0) return false;
  }
  return true;
}

export function earliest(...moments: readonly (number | undefined)[]): number | undefined {
  const known = moments.filter((moment) => moment !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** The warning about an engine that does not answer, and when another one takes its place. */
export const silenceWords = ({ replacedWithinMs }: { readonly replacedWithinMs: number }): string =>
  `the engine does not answer; unless it does, another one takes its place within ` +
  `${Math.ceil(replacedWithinMs / 1000)} s; see: ov engine status`;

/** Work that an engine would see. */
export interface Workload {
  readonly runningTurns: number;
  readonly queuedTurns: number;
  /** Checks that were asked for, with `ov gate run` or `ov done`, and whose gates run now. */
  readonly runningChecks: number;
  /** Checks that wait for an engine or for a place to run in. */
  readonly waitingChecks: number;
}

export interface WorkLeft extends Workload {
  /** Nothing is left for an engine to do, now or at a later moment. */
  readonly idle: boolean;
  /** Nothing is left but the merges that are blocked. */
  readonly stuck: boolean;
  readonly blocked: readonly BlockedMerge[];
  /** Those of them that an engine tries again. */
  readonly tried: readonly TriedMerge[];
}

export interface TriedMerge {
  readonly id: number;
  readonly cause: MergeCause | null;
  /** When it was tried last. */
  readonly triedAt: number;
}

/** The work that is left for an engine. */
export const readWorkload: UseCase<object, WorkLeft> = {
  kind: "read",
  request: noFields,
  startsNoEngine: true,
  run: async (tx, { now, settings }) => {
    let queuedTurns = 0;
    for (const agent of await tx.agents.list({ live: true })) {
      if ((await tx.turns.queuedFor(agent.id)) !== undefined) queuedTurns++;
    }
    const runningTurns = (await tx.turns.running()).length;
    const taken = await tx.checks.running();
    const runningChecks = taken.filter(({ progress }) => progress !== null).length;
    const waitingChecks = taken.length - runningChecks + (await tx.checks.queued()).length;
    const work = { runningTurns, queuedTurns, runningChecks, waitingChecks };
    const open = await tx.merges.list({ statuses: openMergeStatuses });
    const blocked = await blockedAmong(tx, open);
    const again = await triedAgain(tx, open, sufficientApprovals(settings.merge.mode));
    const tried = again.map(({ id, cause, updatedAt }) => ({ id, cause, triedAt: updatedAt }));
    const terms = { now, settings };
    const [idle, stuck] = [await isIdle(tx, terms), await isStuck(tx, terms, open, blocked)];
    return ok({ ...work, idle, stuck, blocked, tried });
  },
};

/** Has merges that something blocks tried at once; otherwise as it was. */
export const tryBlocked: UseCase<{ readonly ids: readonly number[] }, object> = {
  kind: "write",
  request: fields({ ids: list(whole) }),
  operatorOnly: true,
  run: async (tx, _context, { ids }) => {
    for (const id of ids) await tx.merges.change(id, ["pending", "blocked"], { notBefore: 0 });
    return ok({});
  },
};
