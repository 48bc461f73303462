import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import { mayBeCleaned, type WorktreeClass } from "../../domain/worktree/classify.ts";
import type { WorktreePorts } from "./ports.ts";
import { type Removed, removeOne } from "./remove-worktree.ts";
import { judge, type Surveyed, survey } from "./survey.ts";

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
  const done: Removed[] = [];
  const kept: KeptWorktree[] = [];
  let pruned = 0;
  for (const surveyed of await survey(ports.worktrees, owners.value)) {
    const named = agents?.includes(surveyed.worktree.agentName);
    if (named === false) continue;
    const subject = named === true ? givenUp(surveyed) : surveyed;
    const judged = await judge(ports.worktrees, subject, owners.value.canonicalBranch);
    const { verdict, worktree, exists } = judged;
    const gone = !exists && verdict.class !== "running";
    if (!gone && !mayBeCleaned(verdict, { force })) {
      const { agentName, path, branch } = worktree;
      if (all || verdict.class !== "running") kept.push({ agentName, path, branch, ...verdict });
      continue;
    }
    const removed = await removeOne(ports, judged, { branch: force ? "always" : "when-landed" });
    if (!removed.ok) return removed;
    // What was there a moment ago has been taken away by the engine: it is cleaned all the same.
    if (surveyed.exists) done.push(removed.value);
    else pruned++;
  }
  const isDone = ({ removed }: Removed): boolean => removed;
  return ok({ removed: done.filter(isDone), failed: done.filter((one) => !isDone(one)), kept, pruned });
}

const givenUp = (surveyed: Surveyed): Surveyed =>
  surveyed.owner === undefined ? surveyed : { ...surveyed, owner: { ...surveyed.owner, parentLives: false } };
