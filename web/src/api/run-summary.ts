import { useMemo } from "react";
import { useResource } from "../live/resource.ts";
import { useUrl } from "../state/url.ts";
import { type Progress, progressOf } from "./progress.ts";
import { useOverview, useRuns, useTasks } from "./resources.ts";
import type { Budget, Landed, LiveCosts, Run, Verdict } from "./types.ts";

export interface Landing {
  readonly op: string;
  /** The branch that moved, whole: `refs/heads/main`. */
  readonly ref: string;
  readonly at: string;
  readonly name: string;
  readonly branches: readonly string[];
  readonly commit: string | null;
  readonly verdict: Verdict;
  readonly isTakenBack: boolean;
}

/** The run that the page is about: its target, how far it is, what landed last, what it costs. */
export interface RunSummary {
  readonly run: Run | undefined;
  readonly target:
    | { readonly branch: string; readonly commit: string | null; readonly verdict: Verdict | null }
    | undefined;
  readonly progress: Progress | undefined;
  readonly landings: readonly Landing[];
  readonly landingsPerHour: number | null;
  /** How long the open tasks take if they land as fast as the newest ones did. */
  readonly projection: { readonly ms: number; readonly basis: string } | undefined;
  readonly burn: Burn | undefined;
}

export interface Burn {
  readonly usd: number;
  readonly usdPerHour: number | null;
  readonly limit: number | null;
}

export function useRunSummary(): RunSummary {
  const { search } = useUrl();
  const { data: overview } = useOverview();
  const { data: runs } = useRuns();
  const { data: tasks } = useTasks();
  const { data: ops } = useResource({ path: "/api/merge/ops", given: { limit: 30 }, topic: "merge-ops?limit=30" });
  const { data: budgets } = useResource({ path: "/api/budgets", refreshedBy: "costs" });
  const { data: costs } = useResource({ path: "/api/costs/live", refreshedBy: "costs" });
  const id = search.run ?? overview?.currentRunId ?? undefined;
  return useMemo(() => {
    const run = runs?.items.find((each) => each.id === id);
    const landings = landingsOf(ops?.items ?? []);
    const progress =
      tasks === undefined ? undefined : progressOf(tasks.items.filter(({ runId }) => runId === null || runId === id));
    const pace = paceOf(landings);
    return {
      run,
      target: targetOf(run, landings),
      progress,
      landings,
      landingsPerHour: pace?.perHour ?? null,
      projection: projectionOf(progress, pace),
      burn: burnOf(id, budgets?.items, costs),
    };
  }, [runs, ops, tasks, budgets, costs, id]);
}

/** Landings that were done, newest first. */
function landingsOf(ops: readonly Landed[]): readonly Landing[] {
  return ops
    .filter(({ kind, status }) => kind === "land" && status === "done")
    .toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt))
    .map((op) => {
      const branches = op.branches.map(({ branch }) => branch);
      const verdicts = op.branches.map(({ verdict }) => verdict);
      const worst =
        (["unverified", "verified_with_gaps"] as const).find((each) => verdicts.includes(each)) ?? "verified";
      const [first = op.ref.replace("refs/heads/", "")] = branches;
      return {
        op: op.id,
        ref: op.ref,
        at: op.updatedAt,
        name: branches.length > 1 ? `train of ${branches.length}` : first,
        branches,
        commit: op.afterCommit,
        verdict: worst,
        isTakenBack: op.undoneBy !== null,
      };
    });
}

function targetOf(run: Run | undefined, landings: readonly Landing[]): RunSummary["target"] {
  const branch = run?.landingBranch ?? run?.targetBranch;
  if (branch === null || branch === undefined) return undefined;
  const newest = landings.find(({ isTakenBack, ref }) => !isTakenBack && ref === `refs/heads/${branch}`);
  return { branch, commit: newest?.commit ?? null, verdict: newest?.verdict ?? null };
}

/** How fast the newest landings followed each other, up to now. */
function paceOf(landings: readonly Landing[]): { readonly perHour: number; readonly count: number } | undefined {
  const counted = landings.filter(({ isTakenBack }) => !isTakenBack).slice(0, 6);
  const oldest = counted.at(-1);
  if (oldest === undefined || counted.length < 2) return undefined;
  const hours = (Date.now() - Date.parse(oldest.at)) / 3_600_000;
  return hours <= 0 ? undefined : { perHour: counted.length / hours, count: counted.length };
}

function projectionOf(progress: Progress | undefined, pace: ReturnType<typeof paceOf>): RunSummary["projection"] {
  if (progress === undefined || pace === undefined) return undefined;
  const left = progress.total - progress.landed;
  return left <= 0 ? undefined : { ms: (left / pace.perHour) * 3_600_000, basis: `last ${pace.count} landings` };
}

/** The ledger of the run in dollars; without one, that of the day. */
function burnOf(
  id: string | undefined,
  budgets: readonly Budget[] | undefined,
  costs: LiveCosts | undefined,
): Burn | undefined {
  const dollars = budgets?.filter(({ unit, reported }) => unit === "usd" && reported) ?? [];
  const ledger =
    dollars.find(({ scope, subject }) => scope === "run" && subject === id) ??
    dollars.find(({ scope }) => scope === "day");
  if (ledger === undefined) return undefined;
  const perMinute = costs?.totals.usdPerMinute ?? null;
  return {
    usd: ledger.spent,
    limit: ledger.limit,
    usdPerHour: perMinute === null || perMinute === 0 ? null : perMinute * 60,
  };
}
