import type { Agent } from "../../domain/agent/agent.ts";
import type { Criterion } from "../../domain/run/checklist.ts";
import type { OpenEnd } from "../../domain/run/open-ends.ts";
import { type Run, runFlag } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { checklist } from "./checklist.ts";
import { hasMovedFrom, knowsLastChange, lastReviewers, type VerdictOnWhole, verdictOf } from "./verdict-on-whole.ts";

/** The verdict of this reviewer, while it is about the landed work and the checklist of this moment. */
export async function verdictStanding(tx: Tx, run: Run, reviewer: Agent): Promise<VerdictOnWhole | undefined> {
  const { baseCommit } = reviewer;
  if (baseCommit === null || !(await knowsLastChange(tx, run, reviewer))) return undefined;
  return (await hasMovedFrom(tx, run, baseCommit)) ? undefined : verdictOf(tx, reviewer);
}

/** What the last review found, while nothing was landed or said about it since. For readers that cannot ask git. */
export async function findingsStanding(tx: Tx, run: Run): Promise<OpenEnd | undefined> {
  const last = (await lastReviewers(tx, run)).at(-1);
  const read = last === undefined ? undefined : await verdictStanding(tx, run, last);
  if (read === undefined || read.verdict === "pass" || (await answerOf(tx, run, read)) !== undefined) return undefined;
  return endOf(run, read);
}

export const endOf = (run: Run, { by, verdict }: VerdictOnWhole): OpenEnd => ({
  kind: "review",
  name: by,
  what: `${by} read the whole difference, and its verdict is ${verdict}`,
  fix: `mend what it found, let it land, then: ov run complete; the operator may end the run without it: ov run complete${runFlag(run.id)}`,
});

/**
 * Answers since then to a verdict that sent the run back. `waived`: the operator waived every criterion that was found
 * not met. `anew`: a criterion was waived, or each of these criteria is waived or has other evidence.
 */
export async function answerOf(tx: Tx, run: Run, read: VerdictOnWhole): Promise<"waived" | "anew" | undefined> {
  const { criteria } = await checklist(tx, run);
  const isLater = (at: number | null): boolean => at !== null && at > read.givenAt;
  const found = read.unmet.map((number) => criteria.find((criterion) => criterion.number === number));
  const isEach = (holds: (criterion: Criterion) => boolean): boolean =>
    !read.isVague && found.length > 0 && found.every((criterion) => criterion !== undefined && holds(criterion));
  const isWaived = ({ waivedAt }: Criterion): boolean => waivedAt !== null;
  if (isEach(isWaived)) return "waived";
  const isAnswered = isEach((criterion) => isWaived(criterion) || isLater(criterion.provedAt));
  return isAnswered || criteria.some(({ waivedAt }) => isLater(waivedAt)) ? "anew" : undefined;
}
