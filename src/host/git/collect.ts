import type { OwnedWorktree } from "../../ports/worktrees.ts";
import { expectGit } from "./git.ts";
import { listEntries } from "./list.ts";
import { openWorktree } from "./open-worktree.ts";
import { placeOf } from "./places.ts";
import { transfer } from "./transfer.ts";
import { parseRefs, pinRefs, type Ref, refsBelow, setRef, type Yard } from "./yard.ts";

/**
 * Brings every branch of a clone into the project: pinned first, then, for those named after the agent, as the branch
 * of the same name. A branch that somebody has checked out is only pinned.
 */
export async function collectBranches(yard: Yard, worktree: OwnedWorktree): Promise<void> {
  if (worktree.kind !== "clone" || placeOf(yard.repository, worktree) === undefined) return;
  using open = await openWorktree(yard, worktree);
  const listing = ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/", "refs/stash"];
  const theirs = parseRefs(expectGit(await open.own.git(listing), "listing a clone's branches").out);
  const pins = await refsBelow(yard, pinRefs(worktree.agentName));
  const known = new Map(pins.map(({ name, commit }) => [name, commit]));
  const fresh = theirs.filter((ref) => known.get(pinOf(worktree, ref)) !== ref.commit);
  if (fresh.length > 0) {
    const haves = [...new Set([...known.values(), ...(worktree.baseCommit === null ? [] : [worktree.baseCommit])])];
    await transfer(yard, open.own, { wants: fresh.map(({ commit }) => commit), haves });
    for (const ref of fresh) await setRef(yard, pinOf(worktree, ref), ref.commit);
  }
  await updateBranches(
    yard,
    theirs.filter(({ name }) => name.startsWith(ownBranches(worktree))),
  );
}

export const ownBranches = ({ agentName }: Pick<OwnedWorktree, "agentName">): string =>
  `refs/heads/overstory/${agentName}/`;

const pinOf = ({ agentName }: OwnedWorktree, { name }: Ref): string =>
  `${pinRefs(agentName)}${name.replace(/^refs\//, "")}`;

async function updateBranches(yard: Yard, wanted: readonly Ref[]): Promise<void> {
  const current = new Map((await refsBelow(yard, "refs/heads/overstory/")).map(({ name, commit }) => [name, commit]));
  const moved = wanted.filter(({ name, commit }) => current.get(name) !== commit);
  if (moved.length === 0) return;
  const inUse = await checkedOut(yard);
  for (const { name, commit } of moved) if (!inUse.has(name)) await setRef(yard, name, commit);
}

/** Branches of the project that some worktree has checked out or is in the middle of rebasing, and where. */
export async function checkedOut(yard: Yard): Promise<ReadonlyMap<string, string>> {
  const entries = await listEntries(yard);
  return new Map(
    entries.flatMap(({ branch, held, path }) =>
      [...held, ...(branch === undefined ? [] : [branch])].map((name) => [name, path] as const),
    ),
  );
}
