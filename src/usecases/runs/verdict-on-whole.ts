import { type Agent, newestPerName } from "../../domain/agent/agent.ts";
import { type Finding, type ReviewVerdict, sendsBack } from "../../domain/completion/request.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { loseProof } from "../../domain/run/checklist.ts";
import { isLastReviewer, type Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import type { Context } from "../usecase.ts";

/** The verdict of a last review. */
export interface VerdictOnWhole {
  readonly by: string;
  readonly reviewerId: string;
  readonly verdict: ReviewVerdict;
  /** The tip of the branch where the run lands, as it was read. */
  readonly commit: string | null;
  /** How many things it found. */
  readonly findings: number;
  /** Remarks beside a pass. */
  readonly remarks: readonly Finding[];
  /** What it says that it could not run, a line each. */
  readonly notRun: readonly string[];
  /** The criteria that its findings name. */
  readonly unmet: readonly number[];
  /** It did not pass, and a finding names no criterion: it may be about any of them. */
  readonly isVague: boolean;
  /** The message that has the findings for the operator; null where there is none. */
  readonly message: string | null;
  readonly givenAt: number;
}

/** The agents that read or have read the whole of a run, oldest first. */
export async function lastReviewers(tx: Tx, run: Run): Promise<readonly Agent[]> {
  const found: Agent[] = [];
  const reviewers = await tx.agents.list({ runId: run.id, capability: "reviewer" });
  for (const name of new Set(reviewers.map((agent) => agent.name))) {
    // The name may belong to an agent with another role by now.
    const newest = newestPerName(await tx.agents.list({ runId: run.id, name }));
    found.push(...newest.filter((agent) => isLastReviewer(run, agent)));
  }
  return found.toSorted((a, b) => a.startedAt - b.startedAt || a.name.localeCompare(b.name));
}

/** Has work landed on top of this commit, or was it taken out, since git was asked for the tip of the run's branch? */
export async function hasMovedFrom(tx: Tx, { landingBranch }: Run, commit: string): Promise<boolean> {
  const ops = landingBranch === null ? [] : await tx.mergeOps.list({ ref: `refs/heads/${landingBranch}` });
  const moves = ops.filter(
    ({ status, beforeCommit, afterCommit }) =>
      status !== "dropped" && afterCommit !== null && afterCommit !== beforeCommit,
  );
  // An undo brings a commit back that was left before.
  const arrived = Math.max(-1, ...moves.filter(({ afterCommit }) => afterCommit === commit).map(({ seq }) => seq));
  return moves.some(({ beforeCommit, seq }) => beforeCommit === commit && seq > arrived);
}

/**
 * The newest verdict on the whole of a run; null while there is none, also while another reviewer reads it anew. A run that
 * ended before that reviewer had finished keeps the verdict before.
 */
export async function lastVerdictOf(tx: Tx, run: Run): Promise<VerdictOnWhole | null> {
  const newestFirst = (await lastReviewers(tx, run)).toReversed();
  for (const reviewer of run.status === "active" ? newestFirst.slice(0, 1) : newestFirst) {
    const verdict = await verdictOf(tx, reviewer);
    if (verdict !== undefined) return verdict;
  }
  return null;
}

/**
 * Did this reviewer judge by the objective and the checklist as they are now? It began after their last change, or was
 * shown the operator's message about the change while it read.
 */
export async function knowsLastChange(tx: Tx, run: Run, reviewer: Agent): Promise<boolean> {
  const last = (await tx.runs.changes(run.id)).at(-1);
  if (last === undefined || reviewer.startedAt > last.changedAt) return true;
  const letters = await tx.messages.list({ to: reviewer.name, type: "status", runId: run.id });
  const letter = letters.find(
    ({ fromAgentId, payload }) => fromAgentId === null && payloadFields(payload).objectiveChange === last.number,
  );
  const delivery = letter === undefined ? undefined : await tx.deliveries.get(letter.seq, reviewer.name);
  return delivery?.state === "delivered" || delivery?.state === "acked";
}

/**
 * The verdict of a last reviewer: only an accepted completion about the branch that it was given, because its mail may
 * say anything. The first one was reported; later ones repeat it.
 */
export async function verdictOf(tx: Tx, reviewer: Agent): Promise<VerdictOnWhole | undefined> {
  const accepted = (await tx.checks.completionsOf(reviewer.id)).find(({ status }) => status === "done");
  if (accepted === undefined || accepted.request.kind !== "completion") return undefined;
  const { verdict, branch, findings, summary } = accepted.request.done;
  if (verdict === null || (branch !== null && branch !== reviewer.baseRef)) return undefined;
  const letters = await tx.messages.list({ to: "operator", type: "status", runId: reviewer.runId });
  const letter = letters.find(({ payload }) => payloadFields(payload).findingsOf === reviewer.id);
  const message = letter?.id ?? null;
  return {
    by: reviewer.name,
    reviewerId: reviewer.id,
    verdict,
    commit: reviewer.baseCommit,
    findings: findings.length,
    remarks: verdict === "pass" ? findings : [],
    notRun: summary.match(/\bnot run:[^\n]*/gi) ?? [],
    unmet: findings.flatMap(({ criterion }) => criterion ?? []),
    isVague: sendsBack(verdict) && findings.some(({ criterion }) => criterion === undefined),
    message,
    givenAt: accepted.updatedAt,
  };
}

/** A last review that sends the run back takes back the proof of each criterion that one of its findings names. */
export async function takeProofsBack(
  tx: Tx,
  { now }: Context,
  reviewer: Agent,
  findings: readonly Finding[],
): Promise<void> {
  const run = await tx.runs.get(reviewer.runId);
  if (run === undefined || !isLastReviewer(run, reviewer)) return;
  const unmet = new Set(findings.flatMap(({ criterion }) => criterion ?? []));
  for (const criterion of await tx.criteria.of(run.id)) {
    if (!unmet.has(criterion.number) || criterion.proofKind === null) continue;
    const why = `does not show it: ${reviewer.name} found that it is not met`;
    await tx.criteria.put(loseProof(criterion, why));
    const data = { runId: run.id, number: criterion.number, why };
    await record(tx, now, { source: "engine", agent: reviewer, type: "proof_lost", data });
  }
}
