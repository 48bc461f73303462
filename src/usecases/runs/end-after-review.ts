import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import type { ReviewVerdict } from "../../domain/completion/request.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import type { Lack } from "../../domain/run/open-ends.ts";
import { isLastReviewer, type Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { retireIfOver } from "../coordinators/retire.ts";
import type { Context } from "../usecase.ts";
import { recordEnd } from "./change-run.ts";
import { openEndsOf } from "./open-ends.ts";
import { type DoneWithout, dismissReviewers } from "./review-question.ts";
import { hasMovedFrom, knowsLastChange, lastReviewers } from "./verdict-on-whole.ts";

/** What git says about the branch where a run lands. */
export interface LandedLook {
  /** Its tip; null where there is no such branch. */
  readonly landed: string | null;
  /** Evidence of the checklist that its tree lacks. */
  readonly lacks: readonly Lack[];
}

interface PassedReview {
  readonly reviewer: Agent;
  readonly verdict: ReviewVerdict | null;
  readonly look: LandedLook | undefined;
}

/**
 * The run that ends with this verdict. Its coordinator asked for the end, and the last review was all that was missing;
 * a turn of the coordinator that only asks again would be wasted. Undefined where it has to be woken: something is found,
 * has changed or is open, or the coordinator has something else to read or to do.
 */
export async function runEndedBy(tx: Tx, { reviewer, verdict, look }: PassedReview): Promise<Run | undefined> {
  const run = verdict === "pass" && look !== undefined ? await tx.runs.get(reviewer.runId) : undefined;
  if (run === undefined || look === undefined || run.status !== "active" || !isLastReviewer(run, reviewer))
    return undefined;
  const isOfNow = reviewer.baseCommit === look.landed && (await knowsLastChange(tx, run, reviewer));
  if (!isOfNow || (await lastReviewers(tx, run)).at(-1)?.id !== reviewer.id) return undefined;
  if (look.landed !== null && (await hasMovedFrom(tx, run, look.landed))) return undefined;
  const { coordinatorName } = run;
  const coordinator = coordinatorName === null ? undefined : await tx.agents.byName(coordinatorName);
  if (coordinator === undefined || !(await isIdle(tx, coordinator))) return undefined;
  const open = await openEndsOf(tx, run, coordinator.name, look.lacks);
  return open.every(({ kind, name }) => kind === "agent" && name === reviewer.name) ? run : undefined;
}

async function isIdle(tx: Tx, agent: Agent): Promise<boolean> {
  if (hasEnded(agent) || agent.stopRequestedBy !== null) return false;
  const turn = (await tx.turns.runningFor(agent.id)) ?? (await tx.turns.queuedFor(agent.id));
  if (turn !== undefined || (await tx.deliveries.hasWaking(agent.name))) return false;
  return (await tx.waits.of(agent.name)).every(({ kind }) => kind === "child");
}

/** Ends a run whose last review passed, or that the operator ends without it. */
export async function endAfterReview(tx: Tx, context: Context, run: Run): Promise<void> {
  await recordEnd(tx, context, run, [], "review");
  const coordinator = await tx.agents.byName(run.coordinatorName ?? "");
  if (coordinator === undefined || !hasEnded(await retireIfOver(tx, context, coordinator))) return;
  // The letter that ended the run has what its reviewers reported. The next run of this name would hand it on once more.
  const reviewers = new Set((await lastReviewers(tx, run)).map(({ name }) => name));
  for (const { message, delivery } of await tx.deliveries.inState(coordinator.name, ["queued"])) {
    if (message.type !== "worker_done" || !reviewers.has(message.fromAgent)) continue;
    const told = nextDelivery(delivery, { kind: "cancel", reason: `${run.id} ended with it` }, context.now);
    if (told.ok) await tx.deliveries.update(told.value);
  }
}

/**
 * Acts on the operator's answer to do without a last review, once it is stored. The run ends first: an agent that ends in an
 * active run wakes its coordinator.
 */
export async function doWithout(tx: Tx, context: Context, { run, endsNow }: DoneWithout): Promise<void> {
  if (endsNow) await endAfterReview(tx, context, run);
  await dismissReviewers(tx, context, run);
}
