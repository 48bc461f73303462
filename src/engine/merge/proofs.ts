import type { MergeOp } from "../../domain/merge/operation.ts";
import { type Criterion, criterionStatus, evidenceOf, loseProof, seeProofAgain } from "../../domain/run/checklist.ts";
import type { Run } from "../../domain/run/run.ts";
import { record } from "../../usecases/events/record.ts";
import { targetOf } from "../../usecases/merge/landing/landing-target.ts";
import { lookAt } from "../../usecases/runs/criteria.ts";
import { branchRef, type MergePorts } from "./ports.ts";

/** More runs than a project has active at a time. */
const mostRuns = 200;
/** The newest undos of runs that have ended; older ones were looked at in their time. */
const mostUndos = 20;

/**
 * Looks again for the evidence of criteria: in active runs whose landing branch has moved, by any cause, and in ended
 * runs of which work was taken back. Evidence that the branch lost no longer counts, and every list shows it as lost.
 * Safe to repeat: a criterion stores the commit on which its evidence was last seen.
 */
export async function lookForProofs(ports: MergePorts): Promise<void> {
  for (const { run, landing, criteria } of await provedRuns(ports)) {
    const landed = await ports.merging.commitOf(branchRef(landing));
    if (landed === undefined) continue;
    const open = criteria.flatMap((criterion) => {
      const evidence = criterion.checkedCommit === landed ? undefined : evidenceOf(criterion);
      return evidence === undefined ? [] : [{ criterion, evidence }];
    });
    const looked = await lookAt(
      ports.merging,
      { run, landed },
      open.map(({ evidence }) => evidence),
    );
    for (const [at, { problem, ...seen }] of looked.entries()) {
      const criterion = open[at]?.criterion;
      if (criterion === undefined) continue;
      const why = problem === undefined ? undefined : `${problem} on ${landing} any more`;
      await settle(ports, criterion, why === undefined ? seeProofAgain(criterion, seen) : loseProof(criterion, why));
    }
  }
}

interface ProvedRun {
  readonly run: Run;
  readonly landing: string;
  readonly criteria: readonly Criterion[];
}

const provedRuns = ({ store, rules }: MergePorts): Promise<readonly ProvedRun[]> =>
  store.read(async (tx) => {
    const found: ProvedRun[] = [];
    const undos = await tx.mergeOps.list({ kind: "undo", status: "done", limit: mostUndos });
    for (const run of await tx.runs.list(mostRuns)) {
      const { status, completedAt } = run;
      const isTouched = ({ ref, updatedAt }: MergeOp): boolean =>
        ref === branchRef(run.landingBranch ?? "") && updatedAt >= (completedAt ?? 0);
      if (!run.checklist || (status !== "active" && !undos.some(isTouched))) continue;
      const criteria = (await tx.criteria.of(run.id)).filter((one) => criterionStatus(one) === "proved");
      if (criteria.length > 0) found.push({ run, criteria, landing: await targetOf(tx, { settings: rules }, run.id) });
    }
    return found;
  });

/** The criterion may have been proved, waived or changed while git was asked. The newer state counts then. */
async function settle({ store, clock }: MergePorts, before: Criterion, after: Criterion): Promise<void> {
  await store.transaction(async (tx) => {
    const { runId, number } = before;
    const now = (await tx.criteria.of(runId)).find((one) => one.number === number);
    if (JSON.stringify(now) !== JSON.stringify(before)) return;
    await tx.criteria.put(after);
    if (after.proofLost === null) return;
    const data = { runId, number, why: after.proofLost };
    await record(tx, clock.now(), { source: "engine", runId, type: "proof_lost", data });
  });
}
