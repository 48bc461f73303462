import { hasEnded } from "../../domain/agent/agent.ts";
import { classify, type Verdict } from "../../domain/worktree/classify.ts";
import type { OwnedWorktree, WorktreeKeeping } from "../../ports/worktrees.ts";
import type { Owner, OwnersReply } from "./owners.ts";
import type { RemovingRequest } from "./removed.ts";

/** One worktree with what is known about it. */
export interface Surveyed {
  readonly worktree: OwnedWorktree;
  readonly owner: Owner | undefined;
  readonly head: string | null;
  /** False when only git's record of it is left. */
  readonly exists: boolean;
  /** Every name under which an agent could be seated here, with its newest incarnation. */
  readonly names: RemovingRequest["names"];
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
  const named = new Map(owners.map((owner) => [owner.agent.name, owner]));
  const namesAt = (path: string, branch: string): Surveyed["names"] =>
    [...new Set([branch.split("/")[1], path.slice(path.lastIndexOf("/") + 1)])]
      .filter((name) => name !== undefined)
      .map((name) => ({ name, agentId: named.get(name)?.agent.id ?? null }));
  const listed = await worktrees.list();
  const found: Surveyed[] = listed.map(({ path, branch: onBranch, head, exists }) => {
    const branch = onBranch ?? "";
    const names = namesAt(path, branch);
    // An agent owns its place from its reservation on, before its worktree is on record.
    const seated = ownerAt.get(path);
    const owner = seated ?? names.map(({ name }) => named.get(name)).find((one) => one !== undefined && isLive(one));
    return { worktree: ownedBy(seated, { path, branch }), owner, head, exists, names };
  });
  const known = new Set(listed.map(({ path }) => path));
  for (const owner of seats) {
    const { worktreePath: path, branch, cleanedAt } = owner.agent;
    if (path === null || known.has(path) || cleanedAt !== null) continue;
    const worktree = ownedBy(owner, { path, branch: branch ?? "" });
    const { exists, head } = await worktrees.inspect(worktree);
    if (exists) found.push({ worktree, owner, head, exists, names: namesAt(path, branch ?? "") });
  }
  return found.toSorted((a, b) => (a.worktree.path < b.worktree.path ? -1 : 1));
}

const isLive = ({ agent }: Owner): boolean => !hasEnded(agent);

function ownedBy(owner: Owner | undefined, { path, branch }: { path: string; branch: string }): OwnedWorktree {
  if (owner === undefined) {
    const agentName = branch.split("/")[1] ?? "unknown";
    return { agentName, generation: 0, path, branch, kind: "linked", baseCommit: null };
  }
  const { name: agentName, generation, worktreeKind: kind, worktreeIdentity: identity, baseCommit } = owner.agent;
  return { agentName, generation, path, identity, branch: owner.agent.branch ?? branch, kind, baseCommit };
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
