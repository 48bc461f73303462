import { sufficientApprovals } from "../../domain/merge/entry.ts";
import { ok } from "../../domain/result.ts";
import { noFields } from "../../domain/schema/schema.ts";
import type { Settings } from "../../ports/settings.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";

interface Terms {
  readonly now: number;
  readonly settings: Pick<Settings, "merge">;
}

/** Is there something that an engine would do now, or that goes on? */
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
  /** Checks that somebody asked for, with `ov gate run` or `ov done`, and whose gates run now. */
  readonly runningChecks: number;
  /** Checks that wait for an engine or for a place to run in. */
  readonly waitingChecks: number;
}

/** What is left for an engine to do. `idle`: nothing, now or at a later moment. */
export const readWorkload: UseCase<object, Workload & { readonly idle: boolean }> = {
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
    return ok({ ...work, idle: await isIdle(tx, { now, settings }) });
  },
};
