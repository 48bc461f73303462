import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { lstatIfThere, readText } from "../../file-access.ts";
import { expectGit, type GitAnswer, runGit, zeroEnded } from "../git.ts";
import { type OwnDir, type OwnDirOptions, openOwnDir } from "../own-dir.ts";
import { gitLinkIn } from "../places.ts";
import { parseRefs, type Ref } from "../refs.ts";
import { type Repository, readRepository } from "../repository.ts";

/**
 * Where the user keeps the modules of one repository. A module is the git repository behind a submodule; it belongs to
 * the user's checkout. We read its objects, add objects, and write refs below `refs/overstory/sub/`. We change nothing
 * else in it.
 */
export interface ModuleHome {
  /** Git directories whose `modules` are looked through, the first one first. */
  readonly gitDirs: readonly string[];
  readonly workTree: string;
}

/** Of a project in a bare layout the checkout has a git directory of its own, and git keeps its modules there. */
export const homeOf = ({ gitDir, commonDir, root }: Repository): ModuleHome => ({
  gitDirs: [...new Set([gitDir, commonDir])],
  workTree: root,
});

/** The modules of a module. */
export const homeInside = (home: ModuleHome, module: Repository, path: string): ModuleHome => ({
  gitDirs: [module.gitDir],
  workTree: join(home.workTree, path),
});

/** The git directory of the user's module; undefined while the submodule is not initialised. */
export function findModule(home: ModuleHome, { name, path }: { name: string | undefined; path: string }) {
  const absorbed = name === undefined ? [] : home.gitDirs.map((dir) => join(dir, "modules", name));
  return [...absorbed, ...insideCheckout(join(home.workTree, path))].find(isRepository);
}

/** A submodule that was added by an old git, or by hand, has its repository in its own directory. */
function insideCheckout(dir: string): readonly string[] {
  const link = join(dir, ".git");
  if (isRealDirectory(link)) return [link];
  const target = gitLinkIn(link);
  return target === undefined ? [] : [resolve(dir, target)];
}

/** Real directories only: through a link an agent could show us another repository as its own. */
export const isRepository = (dir: string): boolean =>
  [dir, join(dir, "objects"), join(dir, "refs")].every(isRealDirectory) && existsSync(join(dir, "HEAD"));

export const isRealDirectory = (path: string): boolean => lstatIfThere(path)?.isDirectory() === true;

/** The names of the modules in a directory, broken ones too. Names may have slashes; objects end the name. */
export function moduleNames(dir: string, prefix = ""): readonly string[] {
  if (!isRealDirectory(dir)) return [];
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return [];
    const inner = join(dir, entry.name);
    return isRealDirectory(join(inner, "objects"))
      ? [prefix + entry.name]
      : moduleNames(inner, `${prefix}${entry.name}/`);
  });
}

/** Read once, like the project's own repository. */
export function openModule(gitDir: string): Promise<Repository> {
  const found = known.get(gitDir);
  if (found !== undefined) return found;
  const opening = readRepository(gitDir, explicitly(gitDir));
  known.set(gitDir, opening);
  // The next caller asks again.
  opening.catch(() => known.delete(gitDir));
  return opening;
}

const known = new Map<string, Promise<Repository>>();

/** Its configuration may name a work tree that is not there at the moment, and git would give up over that. */
const explicitly = (gitDir: string) => ({ GIT_DIR: gitDir, GIT_WORK_TREE: gitDir });

const gitIn = ({ gitDir }: Repository, args: readonly string[], stdin?: string): Promise<GitAnswer> =>
  runGit({ cwd: gitDir, args, env: explicitly(gitDir), ...(stdin === undefined ? {} : { stdin }) });

/** Refs of ours in a module that hold what one agent made there. */
export const agentRefs = (agentName: string): string => `refs/overstory/sub/${agentName}/`;

/** Holds what an agent's worktree relies on while it is there. */
export const baseRef = (agentName: string): string => `${agentRefs(agentName)}base`;

/** The ref of the uncommitted work in this module at the last look at the agent's worktree. No ref: there was none. */
export const lastWorkRef = (agentName: string): string => `${agentRefs(agentName)}last`;

/** Holds a landed commit of a submodule that no other ref holds. No agent has a name like this. */
export const landedRef = (commit: string): string => `refs/overstory/sub/@landed/${commit}`;

export async function moduleRefs(module: Repository, prefix: string): Promise<readonly Ref[]> {
  const answer = await gitIn(module, ["for-each-ref", "--format=%(objectname) %(refname)", prefix]);
  return parseRefs(expectGit(answer, `listing ${prefix} of a submodule`).out);
}

/** The commit under an agent's newest uncommitted work in a module. */
export async function lastBase(module: Repository, agentName: string): Promise<string | undefined> {
  if (!mayHave(module.commonDir, lastWorkRef(agentName))) return undefined;
  const answer = await gitIn(module, ["rev-parse", "--verify", "--quiet", `${lastWorkRef(agentName)}^1`]);
  return answer.code === 0 ? answer.out.trim() : undefined;
}

/** Sets and deletes refs of a module, all or nothing. */
export async function changeModuleRefs(
  module: Repository,
  { set = [], drop = [] }: { readonly set?: readonly Ref[]; readonly drop?: readonly Ref[] },
): Promise<void> {
  if (set.length + drop.length === 0) return;
  const lines = [
    ...set.map(({ name, commit }) => `update ${name} ${commit}\n`),
    ...drop.map(({ name, commit }) => `delete ${name} ${commit}\n`),
  ];
  const answer = await gitIn(module, ["update-ref", "--no-deref", "--stdin"], lines.join(""));
  expectGit(answer, `keeping commits of the submodule at ${module.gitDir}`);
}

/** Lets go of what a worktree relied on that is no more, in all modules of the user's. */
export async function dropBases({ gitDirs }: ModuleHome, agentName: string): Promise<void> {
  for (const gitDir of gitDirs) {
    for (const name of moduleNames(join(gitDir, "modules"))) {
      const dir = join(gitDir, "modules", name);
      if (!isRepository(dir)) continue;
      await dropBases({ gitDirs: [dir], workTree: dir }, agentName);
      if (!mayHave(dir, baseRef(agentName))) continue;
      const module = await openModule(dir);
      await changeModuleRefs(module, { drop: await moduleRefs(module, baseRef(agentName)) });
    }
  }
}

/** Without a process. */
export function mayHave(gitDir: string, ref: string): boolean {
  const packed = (): string => readText(join(gitDir, "packed-refs")) ?? "";
  return existsSync(join(gitDir, ref)) || packed().includes(` ${ref}\n`);
}

/** A submodule as a commit names it. */
export interface Submodule {
  /** From `.gitmodules`; undefined where that does not name the path. */
  readonly name: string | undefined;
  readonly path: string;
  /** The commit it is to be at. */
  readonly commit: string;
}

/** The repository through a git directory of our own: its refs, its objects, nothing of its configuration. */
export const openRefs = (
  repository: Repository,
  scratch: string,
  more: Pick<OwnDirOptions, "alsoReads" | "within"> = {},
): OwnDir => openOwnDir({ repository, scratch, objects: "scratch", ...more });

/** The submodules that `.gitmodules` of a commit or tree names and that it has. */
export async function submodulesOf(own: OwnDir, commit: string): Promise<readonly Submodule[]> {
  const names = await namesIn(own, commit);
  if (names.size === 0) return [];
  const listed = await own.git(["ls-tree", "-z", "--full-tree", commit, "--", ...names.keys()]);
  if (listed.code !== 0) return [];
  return zeroEnded(listed.raw).flatMap((line) => {
    const [, oid, path] = gitlinkLine.exec(line.toString()) ?? [];
    return oid === undefined || path === undefined ? [] : [{ name: names.get(path), path, commit: oid }];
  });
}

const gitlinkLine = /^160000 commit ([0-9a-f]+)\t(.+)$/s;

/** Names by path. Git itself refuses a name that would lead out of its `modules` directory. */
export async function namesIn(own: OwnDir, commit: string): Promise<ReadonlyMap<string, string>> {
  const args = ["config", "-z", "--blob", `${commit}:.gitmodules`, "--get-regexp", "^submodule\\..*\\.path$"];
  // It fails as well where there is no such file, or none that git can read.
  const answer = await own.git(args);
  if (answer.code !== 0) return new Map();
  const found = answer.out.split("\0").flatMap((entry) => {
    const [, name, path] = /^submodule\.(.+)\.path\n(.+)$/s.exec(entry) ?? [];
    return name === undefined || path === undefined || !isSafe(name) ? [] : [[path.replace(/\/+$/, ""), name] as const];
  });
  // The repository of one must not lie inside that of another.
  return new Map(found.filter(([, name]) => !found.some(([, other]) => name.startsWith(`${other}/`))));
}

const isSafe = (name: string): boolean =>
  !name.startsWith("/") && name.split(/[/\\]/).every((part) => part !== "" && part !== "." && part !== "..");
