import { lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LostPointer } from "../../../ports/merge-git.ts";
import { errorCode } from "../../file-access.ts";
import { expectGit, zeroEnded } from "../git.ts";
import type { MergeRepository } from "../merge/merge-repository.ts";
import type { OwnDir } from "../own-dir.ts";
import type { Repository } from "../repository.ts";
import { gitProject } from "../repository.ts";
import { transfer } from "../work/collect.ts";
import { initialise, moduleDirIn } from "./plan.ts";
import {
  changeModuleRefs,
  findModule,
  homeInside,
  homeOf,
  isRealDirectory,
  isRepository,
  landedRef,
  type ModuleHome,
  namesIn,
  openModule,
  openRefs,
  type Submodule,
  submodulesOf,
} from "./users-module.ts";

/** See `MergeGit.lostPointers`. Where no submodule differs it starts no process for two trees, and one for two commits. */
export async function lostPointers(
  mergeRepo: MergeRepository,
  from: string,
  to: string,
): Promise<readonly LostPointer[]> {
  const changed = await mergeRepo.through((own) => changedPointers(own, from, to));
  const lost: LostPointer[] = [];
  const visit = async (pointers: readonly Changed[], home: ModuleHome, outer: Outer): Promise<void> => {
    for (const pointer of pointers) {
      const { path, name, commit } = pointer;
      const shown = `${outer.prefix}${path}`;
      const dir = findModule(home, pointer);
      if (dir === undefined) {
        lost.push({ path: shown, commit, problem: name === undefined ? unnamed : notThere(shown) });
        continue;
      }
      const module = await openModule(dir);
      const names = [...outer.names, name ?? path];
      if (!(await makeSure(mergeRepo, { module, names, commit }))) {
        lost.push({ path: shown, commit, problem: missing(shown, commit, dir) });
        continue;
      }
      for (const gitDir of ownModules(mergeRepo, names)) announce(gitDir, commit);
      using own = openRefs(module, mergeRepo.scratch);
      const inner = await changedInside(own, pointer);
      await visit(inner, homeInside(home, module, path), { prefix: `${shown}/`, names });
    }
  };
  await visit(changed, homeOf(mergeRepo.repository), { prefix: "", names: [] });
  return lost;
}

interface Outer {
  readonly prefix: string;
  readonly names: readonly string[];
}

const unnamed = ".gitmodules does not name it, so nobody could tell where its commits come from";
const notThere = (path: string): string =>
  `it is not initialised in the project's checkout, so nobody can tell whether its commit exists: ${initialise(path)}`;
const missing = (path: string, commit: string, dir: string): string =>
  `its commit ${commit.slice(0, 10)} is not in ${dir}; when its remote has the commit: ${initialise(path)}`;

interface Changed extends Submodule {
  readonly before: string | undefined;
}

/** With those that `.gitmodules` does not name. */
async function changedPointers(own: OwnDir, from: string, to: string): Promise<readonly Changed[]> {
  const parts = zeroEnded(await rawDifference(own, from, to)).map((part) => part.toString());
  const found = parts.flatMap((part, at) => {
    const [, was, before, commit] = /^:(\d+) 160000 ([0-9a-f]+) ([0-9a-f]+) /.exec(part) ?? [];
    const path = parts[at + 1];
    if (commit === undefined || path === undefined) return [];
    return [{ path, commit, before: was === "160000" ? before : undefined }];
  });
  if (found.length === 0) return [];
  const names = await namesIn(own, to);
  return found.map((one) => ({ ...one, name: names.get(one.path) }));
}

const compare = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames"];
/** The same for one pair of trees after the other. */
export const comparing = { args: [...compare, "--stdin"] };

/**
 * Two trees are compared by a process that stays. Git holds its answer back until it meets a line that names no object,
 * which it repeats. Where the answer does not begin with both ids, git is asked again by itself and says why.
 */
async function rawDifference(own: OwnDir, from: string, to: string): Promise<Buffer> {
  const head = Buffer.from(`${from} ${to}\n`);
  const end = Buffer.from(`end of ${crypto.randomUUID()}\n`);
  const isWhole = (answer: Buffer): boolean => answer.subarray(-end.length).equals(end);
  const answer = isId(from) && isId(to) ? await own.ask(comparing, `${from} ${to}\n${end}`, isWhole) : undefined;
  if (answer?.subarray(0, head.length).equals(head) === true) return answer.subarray(head.length, -end.length);
  return expectGit(await own.git([...compare, from, to]), "comparing submodules").raw;
}

const isId = (name: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(name);

/** What the commit of a submodule names otherwise than the one before it, as far as that is known. */
async function changedInside(own: OwnDir, { commit, before }: Changed): Promise<readonly Changed[]> {
  const now = await submodulesOf(own, commit);
  if (now.length === 0) return [];
  const then = before === undefined ? [] : await submodulesOf(own, before);
  const was = new Map(then.map((one) => [one.path, one.commit]));
  return now.filter((one) => was.get(one.path) !== one.commit).map((one) => ({ ...one, before: was.get(one.path) }));
}

interface Wanted {
  readonly module: Repository;
  readonly names: readonly string[];
  readonly commit: string;
}

/** False when the commit is nowhere. Otherwise a ref of the user's module holds it, with everything it needs. */
async function makeSure(mergeRepo: MergeRepository, wanted: Wanted): Promise<boolean> {
  const { module, commit } = wanted;
  using own = openRefs(module, mergeRepo.scratch);
  const state = await stateOf(own, commit);
  if (state === "held") return true;
  if (state === "missing" && !(await fetchFromWorktrees(mergeRepo, wanted))) return false;
  await changeModuleRefs(module, { set: [{ name: landedRef(commit), commit }] });
  return true;
}

/** `loose`: complete, but no ref holds it, as after the user moved on from a commit made on no branch. */
async function stateOf(own: OwnDir, commit: string): Promise<"held" | "loose" | "missing"> {
  const first = await own.git(["rev-list", "--max-count=1", commit, "--not", "--all"]);
  if (first.code !== 0) return "missing";
  if (first.out === "") return "held";
  const whole = await own.git(["rev-list", "--objects", "--quiet", commit, "--not", "--all"]);
  return whole.code === 0 ? "loose" : "missing";
}

/** A branch may be asked for before the turn is over in which its agent, or the user in another worktree, made it. */
async function fetchFromWorktrees(mergeRepo: MergeRepository, { module, names, commit }: Wanted): Promise<boolean> {
  const { scratch } = mergeRepo;
  for (const gitDir of ownModules(mergeRepo, names)) {
    using both = openRefs(module, scratch, { alsoReads: [join(gitDir, "objects")] });
    if ((await stateOf(both, commit)) === "missing") continue;
    const boundary = await both.git(["rev-list", "--boundary", commit, "--not", "--all"]);
    const haves = [...expectGit(boundary, "comparing commits").out.matchAll(/^-([0-9a-f]+)$/gm)].map(
      ([, oid = ""]) => oid,
    );
    await transfer(gitProject(module, { scratch }), both, { wants: [commit], haves });
    return true;
  }
  return false;
}

/** The modules that linked worktrees have of one submodule. */
function ownModules({ repository }: MergeRepository, names: readonly string[]): readonly string[] {
  const all = join(repository.commonDir, "worktrees");
  if (!isRealDirectory(all)) return [];
  return readdirSync(all)
    .map((name) => moduleDirIn(join(all, name), names))
    .filter(isRepository);
}

/**
 * Puts a ref into the module of a worktree. Its agent can read the commit through the user's module, but git would ask
 * the remote for a commit that no ref holds. Written as a file: what is configured there must not run.
 */
function announce(gitDir: string, commit: string): void {
  let dir = join(gitDir, "refs");
  try {
    for (const part of ["overstory", "landed"]) {
      dir = join(dir, part);
      if (lstatSync(dir, { throwIfNoEntry: false }) === undefined) mkdirSync(dir);
      // Its agent put something else there; that is no place for us to write.
      if (!isRealDirectory(dir)) return;
    }
    const ref = join(dir, commit);
    if (lstatSync(ref, { throwIfNoEntry: false }) === undefined) writeFileSync(ref, `${commit}\n`, { flag: "wx" });
  } catch (error) {
    // The worktree was removed at this moment, or another process was faster.
    if (errorCode(error) !== "ENOENT" && errorCode(error) !== "EEXIST") throw error;
  }
}
