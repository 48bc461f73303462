import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { FoundBranch, FoundWorktree, OwnedWorktree, Rescue } from "../../ports/worktrees.ts";
import { expectGit } from "./git.ts";
import { listEntries } from "./list.ts";
import { type OwnDir, openOwnDir } from "./own-dir.ts";
import { standing } from "./places.ts";
import { firstFreeRef, newRef, parseRefs, refsBelow } from "./refs.ts";
import type { GitProject } from "./repository.ts";
import { saveWork } from "./snapshot.ts";

const ours = "refs/heads/overstory/";
/** Landing branches belong to runs, not to agents: what is on them has landed but may not have reached the user yet. */
const landing = "refs/heads/overstory/integration/";
const isAgents = (ref: string): boolean => ref.startsWith(ours) && !ref.startsWith(landing);
const rescueRefs = "refs/overstory/rescue/";

export async function findWorktrees(project: GitProject): Promise<readonly FoundWorktree[]> {
  const entries = await listEntries(project);
  return entries
    .filter(({ branch }) => branch !== undefined && isAgents(branch))
    .map(({ path, branch, head }) => ({
      path,
      branch: branch?.slice("refs/heads/".length) ?? null,
      head: head ?? null,
      exists: standing({ path }) !== "nothing",
    }));
}

export async function findBranches(project: GitProject): Promise<readonly FoundBranch[]> {
  const refs = await refsBelow(project, ours);
  return refs
    .filter(({ name }) => isAgents(name))
    .map(({ name, commit }) => ({ branch: name.slice("refs/heads/".length), tip: commit }));
}

export async function rescueWork(project: GitProject, worktree: OwnedWorktree): Promise<Rescue | undefined> {
  const saved = await saveWork(project, worktree, "bytes");
  if (saved === undefined) return undefined;
  const wanted = `${rescueRefs}${worktree.agentName}-${worktree.generation}`;
  const there = new Map((await refsBelow(project, rescueRefs)).map(({ name, commit }) => [name, commit]));
  const nameOf = (n: number): string => (n === 1 ? wanted : `${wanted}-${n}`);
  let n = 1;
  while (there.has(nameOf(n)) && there.get(nameOf(n)) !== saved.commit) n++;
  if (there.get(nameOf(n)) === saved.commit) return { ref: nameOf(n), ...saved };
  return { ref: await firstFreeRef(project, saved.commit, (at) => nameOf(n + at)), ...saved };
}

export async function findRescues(project: GitProject): Promise<readonly Rescue[]> {
  const refs = await refsBelow(project, rescueRefs);
  return refs.map(({ name, commit }) => ({ ref: name, commit, skipped: [] }));
}

export async function writeBundle(project: GitProject, file: string, refs: readonly string[]): Promise<boolean> {
  if (refs.length === 0) return false;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  using own = overProject(project);
  // Names on standard input: there may be more of them than a command line takes.
  const stdin = refs.map((ref) => `${ref}\n`).join("");
  expectGit(await own.git(["bundle", "create", "--quiet", file, "--stdin"], { stdin }), "writing the bundle");
  return true;
}

export async function readBundle(project: GitProject, file: string): Promise<readonly string[]> {
  using own = overProject(project);
  const listed = expectGit(await own.git(["bundle", "unbundle", file]), "reading the bundle");
  const restored: string[] = [];
  for (const { name, commit } of parseRefs(listed.out)) {
    if (name.startsWith("refs/") && (await newRef(project, name, commit))) restored.push(name);
  }
  return restored;
}

function overProject({ repository, scratch }: GitProject): OwnDir {
  return openOwnDir({
    repository,
    scratch,
    objects: "project",
  });
}
