import { classify, type Verdict } from "../../domain/worktree/classify.ts";
import type { OwnedWorktree, WorktreeKeeping } from "../../ports/worktrees.ts";
import type { Owner, OwnersReply } from "./owners.ts";

/** One worktree with what is known about it. */
export interface Surveyed {
  readonly worktree: OwnedWorktree;
  readonly owner: Owner | undefined;
  readonly head: string | null;
  /** False when only git's record of it is left. */
  readonly exists: boolean;
}

/** A surveyed worktree and what may be done with it. */
export interface Judged extends Surveyed {
  readonly verdict: Verdict;
  readonly landed: boolean;
  /** Where its branch stands in the project. */
  readonly tip: string | undefined;
}

/** Every worktree of an agent: those git lists, and those of agents that git does not list, as clones. */
export async function survey(worktrees: WorktreeKeeping, { owners }: OwnersReply): Promise<readonly Surveyed[]> {
  const seats = owners.filter(({ agent }) => agent.worktreePath !== null && agent.worktreeKind !== "root");
  const ownerAt = new Map(seats.map((owner) => [owner.agent.worktreePath, owner]));
  const listed = await worktrees.list();
  const found: Surveyed[] = listed.map(({ path, branch, head, exists }) => {
    const owner = ownerAt.get(path);
    return { worktree: ownedBy(owner, { path, branch: branch ?? "" }), owner, head, exists };
  });
  const known = new Set(listed.map(({ path }) => path));
  for (const owner of seats) {
    const { worktreePath: path, branch, cleanedAt } = owner.agent;
    if (path === null || known.has(path) || cleanedAt !== null) continue;
    const worktree = ownedBy(owner, { path, branch: branch ?? "" });
    const { exists, head } = await worktrees.inspect(worktree);
    if (exists) found.push({ worktree, owner, head, exists });
  }
  return found.toSorted((a, b) => (a.worktree.path < b.worktree.path ? -1 : 1));
}

function ownedBy(owner: Owner | undefined, { path, branch }: { path: string; branch: string }): OwnedWorktree {
  if (owner === undefined) {
    const agentName = branch.split("/")[1] ?? "unknown";
    return { agentName, generation: 0, path, branch, kind: "linked", baseCommit: null };
  }
  const { name: agentName, generation, worktreeKind: kind, baseCommit } = owner.agent;
  return { agentName, generation, path, branch: owner.agent.branch ?? branch, kind, baseCommit };
}

/** Looks into a worktree and decides whether it may go. */
export async function judge(worktrees: WorktreeKeeping, surveyed: Surveyed, canonicalBranch: string): Promise<Judged> {
  const { worktree, owner } = surveyed;
  await worktrees.collect(worktree);
  const { exists, head, dirty } = await worktrees.inspect(worktree);
  const tip = await worktrees.resolve(`refs/heads/${worktree.branch}`);
  const targets = owner?.targets ?? [canonicalBranch];
  const commits = new Set([head, tip].filter((commit) => commit != null));
  const landed = await allLanded(worktrees, { commits: [...commits], base: worktree.baseCommit, targets });
  const verdict = classify({
    branch: worktree.branch,
    ...(owner === undefined ? {} : { agent: owner.agent }),
    parentLives: owner?.parentLives ?? false,
    liveChildren: owner?.liveChildren ?? [],
    dirty,
    landed,
    target: targets.join(" or "),
  });
  return { ...surveyed, exists, head, verdict, landed, tip };
}

interface LandingQuestion {
  readonly commits: readonly string[];
  readonly base: string | null;
  readonly targets: readonly string[];
}

/** Is every commit in one of the targets? */
export async function allLanded(
  worktrees: WorktreeKeeping,
  { commits, base, targets }: LandingQuestion,
): Promise<boolean> {
  for (const commit of commits) {
    let landed = false;
    for (const target of targets) landed ||= await worktrees.isLanded(commit, base, `refs/heads/${target}`);
    if (!landed) return false;
  }
  return true;
}
