import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { FoundBranch, FoundWorktree, OwnedWorktree, Rescue } from "../../ports/worktrees.ts";
import { expectGit } from "./git.ts";
import { listEntries } from "./list.ts";
import { type OwnDir, openOwnDir } from "./own-dir.ts";
import { standing } from "./places.ts";
import { saveWork } from "./snapshot.ts";
import { firstFreeRef, newRef, parseRefs, refsBelow, type Yard } from "./yard.ts";

const ours = "refs/heads/overstory/";
/** Landing branches belong to runs, not to agents: what is on them has landed but may not have reached the user yet. */
const landing = "refs/heads/overstory/integration/";
const isAgents = (ref: string): boolean => ref.startsWith(ours) && !ref.startsWith(landing);
const rescueRefs = "refs/overstory/rescue/";

export async function findWorktrees(yard: Yard): Promise<readonly FoundWorktree[]> {
  const entries = await listEntries(yard);
  return entries
    .filter(({ branch }) => branch !== undefined && isAgents(branch))
    .map(({ path, branch, head }) => ({
      path,
      branch: branch?.slice("refs/heads/".length) ?? null,
      head: head ?? null,
      exists: standing({ path }) !== "nothing",
    }));
}

export async function findBranches(yard: Yard): Promise<readonly FoundBranch[]> {
  const refs = await refsBelow(yard, ours);
  return refs
    .filter(({ name }) => isAgents(name))
    .map(({ name, commit }) => ({ branch: name.slice("refs/heads/".length), tip: commit }));
}

export async function rescueWork(yard: Yard, worktree: OwnedWorktree): Promise<Rescue | undefined> {
  const saved = await saveWork(yard, worktree, "bytes");
  if (saved === undefined) return undefined;
  const wanted = `${rescueRefs}${worktree.agentName}-${worktree.generation}`;
  const there = new Map((await refsBelow(yard, rescueRefs)).map(({ name, commit }) => [name, commit]));
  const nameOf = (n: number): string => (n === 1 ? wanted : `${wanted}-${n}`);
  let n = 1;
  while (there.has(nameOf(n)) && there.get(nameOf(n)) !== saved.commit) n++;
  if (there.get(nameOf(n)) === saved.commit) return { ref: nameOf(n), ...saved };
  return { ref: await firstFreeRef(yard, saved.commit, (at) => nameOf(n + at)), ...saved };
}

export async function findRescues(yard: Yard): Promise<readonly Rescue[]> {
  const refs = await refsBelow(yard, rescueRefs);
  return refs.map(({ name, commit }) => ({ ref: name, commit, skipped: [] }));
}

export async function writeBundle(yard: Yard, file: string, refs: readonly string[]): Promise<boolean> {
  if (refs.length === 0) return false;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  using own = overProject(yard);
  // Names on standard input: there may be more of them than a command line takes.
  const stdin = refs.map((ref) => `${ref}\n`).join("");
  expectGit(await own.git(["bundle", "create", "--quiet", file, "--stdin"], { stdin }), "writing the bundle");
  return true;
}

export async function readBundle(yard: Yard, file: string): Promise<readonly string[]> {
  using own = overProject(yard);
  const listed = expectGit(await own.git(["bundle", "unbundle", file]), "reading the bundle");
  const restored: string[] = [];
  for (const { name, commit } of parseRefs(listed.out)) {
    if (name.startsWith("refs/") && (await newRef(yard, name, commit))) restored.push(name);
  }
  return restored;
}

function overProject({ repository, scratch }: Yard): OwnDir {
  return openOwnDir({
    repository,
    scratch,
    objects: "project",
  });
}
