import type { Verdict } from "../merge/entry.ts";
import { covers } from "../text/glob.ts";
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
  readonly results: readonly Pick<GateResult, "gate" | "status" | "flaky" | "kept">[];
  /** Directories that stay as earlier gates left them. */
  readonly cache: readonly string[];
}

/**
 * What the results prove about a tree. Nothing is proved where no gate passed or a required one did not; a gate that
 * was left out, needed a second run, or failed without being required leaves a gap. So does a build cache: what an
 * earlier gate wrote there may have had a part in the answer.
 */
export function verdictOf({ gates, results, cache }: Evidence): Judged {
  if (gates.length === 0) return { verdict: "unverified", gaps: ["no quality gate is configured"] };
  const seen = gates.map((gate) => ({ gate, result: results.find(({ gate: name }) => name === gate.name) }));
  const gaps = [...seen.flatMap(({ gate, result }) => gapOf(gate, result) ?? []), ...cacheGaps(results, cache)];
  const isProved = seen.some(({ result }) => result?.status === "passed");
  const isBroken = seen.some(({ gate, result }) => gate.required && result !== undefined && result.status !== "passed");
  const isLeftOut = seen.some(({ gate, result }) => gate.required && gate.paths.length === 0 && result === undefined);
  if (!isProved || isBroken || isLeftOut) return { verdict: "unverified", gaps };
  return { verdict: gaps.length === 0 ? "verified" : "verified_with_gaps", gaps };
}

function cacheGaps(results: Evidence["results"], cache: readonly string[]): readonly string[] {
  const names = cache.map((path) => path.replace(/^\/+|\/+$/g, ""));
  const isCache = (path: string): boolean =>
    names.includes(path) || names.includes(path.slice(path.lastIndexOf("/") + 1));
  const used = new Set(results.flatMap(({ kept }) => kept).filter(isCache));
  return [...used].toSorted().map((path) => `${path} was used as earlier gates left it (merge.cache)`);
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

/**
 * Does a change of these files need the gate? Unknown files need every gate. A plain directory among the paths means
 * its files too: a gate that never ran because of a missing `/**` would go unnoticed.
 */
export function applies({ paths }: Pick<Gate, "paths">, changed: readonly string[] | undefined): boolean {
  if (paths.length === 0 || changed === undefined) return true;
  return changed.some((file) => paths.some((pattern) => covers(pattern, file)));
}
