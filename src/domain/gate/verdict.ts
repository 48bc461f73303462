import type { Verdict } from "../merge/entry.ts";
import type { Gate, GateResult, GateStatus } from "./gate.ts";

export interface Judged {
  readonly verdict: Verdict;
  /** Why the verdict is not `verified`, one sentence each. */
  readonly gaps: readonly string[];
}

export interface Evidence {
  /** Every gate of the project, also those that this change did not need. */
  readonly gates: readonly Pick<Gate, "name" | "required" | "paths">[];
  /** Results on the tree in question. */
  readonly results: readonly Pick<GateResult, "gate" | "status" | "flaky">[];
}

/**
 * What the results prove about a tree. Nothing is proved where no gate passed or a required one did not; a gate that
 * was left out, needed a second run, or failed without being required leaves a gap.
 */
export function verdictOf({ gates, results }: Evidence): Judged {
  if (gates.length === 0) return { verdict: "unverified", gaps: ["no quality gate is configured"] };
  const seen = gates.map((gate) => ({ gate, result: results.find(({ gate: name }) => name === gate.name) }));
  const gaps = seen.flatMap(({ gate, result }) => gapOf(gate, result) ?? []);
  const isProved = seen.some(({ result }) => result?.status === "passed");
  const isBroken = seen.some(({ gate, result }) => gate.required && result !== undefined && result.status !== "passed");
  const isLeftOut = seen.some(({ gate, result }) => gate.required && gate.paths.length === 0 && result === undefined);
  if (!isProved || isBroken || isLeftOut) return { verdict: "unverified", gaps };
  return { verdict: gaps.length === 0 ? "verified" : "verified_with_gaps", gaps };
}

function gapOf(gate: Evidence["gates"][number], result: Evidence["results"][number] | undefined): string | undefined {
  if (result === undefined) {
    return gate.paths.length === 0
      ? `${gate.name} was not run`
      : `${gate.name} was left out: no file it is for changed`;
  }
  if (result.status === "passed")
    return result.flaky ? `${gate.name} failed before it passed on the same tree` : undefined;
  return `${gate.name} ${words[result.status]}${gate.required ? "" : ", but is not required"}`;
}

const words = {
  failed: "failed",
  timed_out: "took too long",
  could_not_run: "could not be run",
} as const satisfies Record<Exclude<GateStatus, "passed">, string>;
