import type { OwnedWorktree } from "../../ports/worktrees.ts";
import { expectGit } from "./git.ts";
import { listEntries } from "./list.ts";
import { openWorktree } from "./open-worktree.ts";
import { placeOf } from "./places.ts";
import { parseRefs, pinRefs, type Ref, refsBelow, setRef } from "./refs.ts";
import type { GitProject } from "./repository.ts";
import { transfer } from "./transfer.ts";

/**
 * Brings every branch of a clone into the project: pinned first, then, for those named after the agent, as the branch
 * of the same name. A branch that somebody has checked out is only pinned.
 */
export async function collectBranches(project: GitProject, worktree: OwnedWorktree): Promise<void> {
  if (worktree.kind !== "clone" || placeOf(project.repository, worktree) === undefined) return;
  using open = await openWorktree(project, worktree);
  const listing = ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/", "refs/stash"];
  const theirs = parseRefs(expectGit(await open.own.git(listing), "listing a clone's branches").out);
  const pins = await refsBelow(project, pinRefs(worktree.agentName));
  const known = new Map(pins.map(({ name, commit }) => [name, commit]));
  const fresh = theirs.filter((ref) => known.get(pinOf(worktree, ref)) !== ref.commit);
  if (fresh.length > 0) {
    const haves = [...new Set([...known.values(), ...(worktree.baseCommit === null ? [] : [worktree.baseCommit])])];
    await transfer(project, open.own, { wants: fresh.map(({ commit }) => commit), haves });
    for (const ref of fresh) await setRef(project, pinOf(worktree, ref), ref.commit);
  }
  await updateBranches(
    project,
    theirs.filter(({ name }) => name.startsWith(ownBranches(worktree))),
  );
}

export const ownBranches = ({ agentName }: Pick<OwnedWorktree, "agentName">): string =>
  `refs/heads/overstory/${agentName}/`;

const pinOf = ({ agentName }: OwnedWorktree, { name }: Ref): string =>
  `${pinRefs(agentName)}${name.replace(/^refs\//, "")}`;

async function updateBranches(project: GitProject, wanted: readonly Ref[]): Promise<void> {
  const current = new Map(
    (await refsBelow(project, "refs/heads/overstory/")).map(({ name, commit }) => [name, commit]),
  );
  const moved = wanted.filter(({ name, commit }) => current.get(name) !== commit);
  if (moved.length === 0) return;
  const inUse = await checkedOut(project);
  for (const { name, commit } of moved) if (!inUse.has(name)) await setRef(project, name, commit);
}

/** Branches of the project that some worktree has checked out or is in the middle of rebasing, and where. */
export async function checkedOut(project: GitProject): Promise<ReadonlyMap<string, string>> {
  const entries = await listEntries(project);
  return new Map(
    entries.flatMap(({ branch, held, path }) =>
      [...held, ...(branch === undefined ? [] : [branch])].map((name) => [name, path] as const),
    ),
  );
}
