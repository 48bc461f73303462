import { atMost } from "../../domain/at-most.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import { damaged, mayBeCleaned, type WorktreeClass } from "../../domain/worktree/classify.ts";
import type { WorktreePorts } from "./ports.ts";
import { type Removed, removeOne } from "./remove-worktree.ts";
import { type Judged, judgeAll, type Surveyed, survey, worktreesAtOnce } from "./survey.ts";

export interface CleanWorktreesRequest {
  /** Also tell about worktrees of live agents; they are kept all the same. */
  readonly all: boolean;
  readonly force: boolean;
  /** Only those of these agents. Who names an agent gives it up: that its parent could reopen it does not hold it. */
  readonly agents?: readonly string[] | undefined;
}

export interface KeptWorktree {
  readonly agentName: string;
  readonly path: string;
  readonly branch: string;
  readonly class: WorktreeClass;
  readonly reason: string;
  readonly next: string | null;
}

export interface CleanWorktreesReport {
  readonly removed: readonly Removed[];
  readonly failed: readonly Removed[];
  readonly kept: readonly KeptWorktree[];
  /** Records of worktrees whose directory was gone. */
  readonly pruned: number;
}

/** `ov worktree clean`: removes worktrees with which nothing is lost; with force also others, rescued first. */
export async function cleanWorktrees(
  ports: WorktreePorts,
  { all, force, agents }: CleanWorktreesRequest,
): Promise<Result<CleanWorktreesReport, Refusal>> {
  const owners = await ports.facts.ownersForCleaning();
  if (!owners.ok) return owners;
  const subjects = (await survey(ports.worktrees, owners.value))
    .filter(({ worktree }) => agents === undefined || agents.includes(worktree.agentName))
    .map((surveyed) => (agents === undefined ? surveyed : givenUp(surveyed)));
  const judged = await judgeAll(ports.worktrees, subjects, owners.value.canonicalBranch);
  const mayGo = ({ exists, verdict }: Judged): boolean =>
    (!exists && verdict.class !== "running") || mayBeCleaned(verdict, { force });
  const stays = judged.filter((one) => !mayGo(one) && (all || one.verdict.class !== "running")).map(asKept);
  const going = judged.filter(mayGo);
  const policy = { branch: force ? "always" : "when-landed" } as const;
  const results = await atMost(worktreesAtOnce, going, (one) => removeOne(ports, one, policy));
  const failed = results.find((result) => !result.ok);
  if (failed !== undefined && !failed.ok) return failed;
  // What was there a moment ago has been taken away by the engine: it is cleaned all the same.
  const wasThere = new Set(subjects.filter(({ exists }) => exists).map(({ worktree }) => worktree.path));
  const removed = results.flatMap((result) => (result.ok ? [result.value] : []));
  const there = removed.filter(({ path }) => wasThere.has(path));
  const pruned = removed.length - there.length;
  const kept = [...stays, ...there.filter(isHurt).map(keptAsDamaged)];
  const done = there.filter((one) => !isHurt(one));
  const isDone = ({ removed }: Removed): boolean => removed;
  return ok({ removed: done.filter(isDone), failed: done.filter((one) => !isDone(one)), kept, pruned });
}

export const isHurt = ({ isDamaged = false }: Removed): boolean => isDamaged;

export const asKept = ({ worktree: { agentName, path, branch }, verdict }: Judged): KeptWorktree => ({
  agentName,
  path,
  branch,
  ...verdict,
});

/** One whose damage showed when its work was to be kept. */
export function keptAsDamaged({ agentName, path, branch, problem }: Removed): KeptWorktree {
  return { agentName, path, branch, ...damaged(path, problem ?? "") };
}

const givenUp = (surveyed: Surveyed): Surveyed =>
  surveyed.owner === undefined
    ? surveyed
    : { ...surveyed, owner: { ...surveyed.owner, parentLives: false, waitingMerge: null } };
