import type { OwnedWorktree } from "../../../ports/worktrees.ts";
import { expectGit } from "../git.ts";
import { type OwnDir, openOwnDir } from "../own-dir.ts";
import { placeOf } from "../places.ts";
import { parseRefs, pinRefs, type Ref, refsBelow, setRef } from "../refs.ts";
import type { GitProject } from "../repository.ts";
import { checkedOut } from "../worktree/list.ts";
import { openWorktree } from "../worktree/open-worktree.ts";

/**
 * Brings every branch of a clone into the project: pinned first, then, for those named after the agent, as the branch
 * of the same name. A branch that is checked out is only pinned.
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
    const wants = fresh.map(({ commit }) => commit);
    await transfer(project, open.own, {
      wants,
      haves,
      beforeStoring: () => void placeOf(project.repository, worktree),
    });
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

/** Git itself unpacks fetches up to this many objects; a pack for every small change would make reading slow. */
const unpackLimit = 100;

interface Transfer {
  readonly wants: readonly string[];
  readonly haves: readonly string[];
  /** Throws where the other store is not sound any more: its agent may have worked in it while it was read. */
  readonly beforeStoring?: () => void;
}

/**
 * Copies everything reachable from `wants` into the project's object store, except what is reachable from `haves`,
 * which must be complete there. Objects are named by their content and checked, so nothing planted in the other store
 * can pass for something else.
 */
export async function transfer(
  project: GitProject,
  from: OwnDir,
  { wants, haves, beforeStoring }: Transfer,
): Promise<void> {
  const asked = [...wants, ...haves.map((commit) => `^${commit}`)].map((line) => `${line}\n`).join("");
  const packed = expectGit(
    await from.git(["pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset"], {
      stdin: asked,
      confined: true,
    }),
    "packing an agent's objects",
  ).raw;
  const count = packed.readUInt32BE(countOffset);
  if (count === 0) return;
  beforeStoring?.();
  using into = openOwnDir({
    repository: project.repository,
    scratch: project.scratch,
    objects: "project",
  });
  const command = count <= unpackLimit ? ["unpack-objects", "-q", "--strict"] : ["index-pack", "--stdin", "--strict"];
  expectGit(await into.git(command, { stdin: packed }), "storing an agent's objects");
}

/** "PACK", the version, then the number of objects. */
const countOffset = 8;
