import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Failure } from "../../domain/failure.ts";
import type { Head, RepositoryBranches } from "../../ports/project-setup.ts";
import { expectGit, git } from "../git/git.ts";
import { usersFiles } from "../git/merge/users-git.ts";
import { gitLinkIn, textOf } from "../git/places.ts";
import { quickGit } from "../git/quick-git.ts";
import { commonDirAt, existing, placeIfAny, stateDir } from "../project-place.ts";

/** What git says about the place a project is set up in. */
export interface ProjectRepository {
  /** Top of the work tree. */
  readonly root: string;
  /** The state directory that belongs to it. */
  readonly state: string;
  readonly originUrl: string | undefined;
  /** Branch that `origin` calls its main one, where that is known here. */
  readonly originBranch: string | undefined;
  /** Branch that is checked out; undefined when none is. */
  readonly branch: string | undefined;
}

/** The repository around a directory. Fails where there is no work tree to set up, as in a bare repository. */
export async function findRepository(cwd: string): Promise<ProjectRepository> {
  const root = await projectRootAt(cwd);
  const [originUrl, originHead, branch] = await Promise.all([
    ask(root, "config", "--get", "remote.origin.url"),
    ask(root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"),
    currentBranch(root),
  ]);
  return { root, state: stateDir(root), originUrl, originBranch: originHead?.replace(/^origin\//, ""), branch };
}

/** The branch checked out at a directory, also before its first commit; undefined when there is none. */
export async function currentBranch(cwd: string): Promise<string | undefined> {
  // In full: git shortens the name of a branch to `heads/main` where a tag `main` exists.
  const ref = existsSync(cwd) ? await ask(cwd, "symbolic-ref", "--quiet", "HEAD") : undefined;
  return ref?.startsWith(heads) === true ? ref.slice(heads.length) : undefined;
}

const heads = "refs/heads/";

export const repositoryBranches = (cwd: string, rootOf: () => Promise<string>): RepositoryBranches => ({
  changedFiles: async () => {
    const root = await rootOf();
    const own = checkoutAround(cwd, root);
    const checkout = own === undefined || isAgents((await headAt(own)).branch) ? root : own;
    const args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=all"];
    const { out } = expectGit(await usersFiles({ checkout }, ...args), `looking at ${checkout}`);
    return out.split("\0").filter((line) => line !== "").length;
  },
  current: () => currentBranch(cwd),
  has: async (branch) => {
    const root = await rootOf();
    const { code } = await git(root, "rev-parse", "--verify", "--quiet", `refs/heads/${branch}`);
    return code === 0 || (await currentBranch(root)) === branch;
  },
  head: async () => {
    const root = await rootOf();
    const own = checkoutAround(cwd, root) === undefined ? undefined : await headAt(cwd);
    return own === undefined || isAgents(own.branch) ? headAt(root) : own;
  },
  tip: async (branch) => ask(await rootOf(), "rev-parse", "--verify", "--quiet", `${heads}${branch}^{commit}`),
  ofOrigin: async (branch) => {
    const there = await ask(
      await rootOf(),
      "rev-parse",
      "--verify",
      "--quiet",
      `refs/remotes/origin/${branch}^{commit}`,
    );
    return there === undefined ? undefined : `origin/${branch}`;
  },
  commitsBeyond: async (branch, commit) =>
    Number(await ask(await rootOf(), "rev-list", "--count", commit, `^${heads}${branch}`, "--")) || 0,
});

const isAgents = (branch: string | undefined): boolean => branch?.startsWith("overstory/") === true;

async function headAt(dir: string): Promise<Head> {
  const known = headByFiles(dir);
  if (known !== undefined) return known;
  const [branch, commit] = await Promise.all([
    currentBranch(dir),
    ask(dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"),
  ]);
  return { branch, commit };
}

/** HEAD without a git process, because each sling asks. Undefined where the files do not tell. */
function headByFiles(dir: string): Head | undefined {
  const entry = join(dir, ".git");
  if (!existsSync(entry)) return dir === dirname(dir) ? undefined : headByFiles(dirname(dir));
  const link = gitLinkIn(entry);
  const head = textOf(join(link === undefined ? entry : resolve(dir, link), "HEAD"));
  const branch = /^ref: refs\/heads\/(.+)\n$/.exec(head ?? "")?.[1];
  const commit = branch === undefined ? undefined : quickGit(dir).tipOf(branch);
  // Git has to be asked about a branch without a file: it may have no commit yet, or be kept in another form.
  return typeof commit === "string" ? { branch, commit } : undefined;
}

/** The top of the checkout that a directory is in, if it is one of the repository at `root`. The nearest upwards decides. */
function checkoutAround(dir: string, root: string): string | undefined {
  const common = commonDirAt(dir);
  if (common !== undefined) return common === commonDirAt(root) ? dir : undefined;
  return dir === dirname(dir) ? undefined : checkoutAround(dirname(dir), root);
}

/**
 * The top of the work tree, except where every other command would look elsewhere: in a linked worktree of a checkout
 * that is already set up, and in the worktree of an agent.
 */
async function projectRootAt(cwd: string): Promise<string> {
  const top = await topLevel(cwd);
  const place = placeIfAny(top);
  if (place === undefined) return top;
  const isAgents = top.includes(`${join("/", ".overstory", "worktrees")}/`);
  return isAgents || stateDir(place.root) === stateDir(top) ? place.root : top;
}

async function topLevel(cwd: string): Promise<string> {
  existing(cwd);
  const { code, out, err } = await git(cwd, "rev-parse", "--show-toplevel");
  if (code === 0) {
    const top = out.replace(/\r?\n$/, "");
    if (/[\r\n]/.test(top)) throw new Failure({ kind: "line-break-in-path", path: top });
    return top;
  }
  // A repository that git refuses to use, because another user owns it, is reported as such.
  if ((await ask(cwd, "rev-parse", "--is-bare-repository")) === "true") {
    const checkout = await checkoutOfBare(cwd);
    throw new Failure({ kind: "bare-repository", path: cwd, ...(checkout === undefined ? {} : { checkout }) });
  }
  const isGitDir = (await ask(cwd, "rev-parse", "--is-inside-work-tree")) === "false";
  if (isGitDir) throw new Failure({ kind: "inside-git-directory", path: cwd });
  if (!hasGitAbove(cwd)) throw new Failure({ kind: "not-a-git-repository", path: cwd });
  const advice = /^\s*(git config --global --add safe\.directory .+)$/m.exec(err)?.[1] ?? null;
  const problem = (err.trim().split("\n")[0] ?? "").replace(/^fatal: /, "");
  throw new Failure({ kind: "repository-unusable", path: cwd, problem, advice });
}

/** The first existing worktree of a bare repository that belongs to no agent. */
async function checkoutOfBare(cwd: string): Promise<string | undefined> {
  const list = (await ask(cwd, "worktree", "list", "--porcelain")) ?? "";
  const paths = list
    .split("\n\n")
    .filter((entry) => !/^bare$/m.test(entry) && !entry.includes("refs/heads/overstory/"));
  return paths.flatMap((entry) => /^worktree (.+)$/m.exec(entry)?.[1] ?? []).find((path) => existsSync(path));
}

function hasGitAbove(dir: string): boolean {
  return existsSync(join(dir, ".git")) || (dir !== dirname(dir) && hasGitAbove(dirname(dir)));
}

async function ask(cwd: string, ...args: string[]): Promise<string | undefined> {
  const { code, out } = await git(cwd, ...args);
  const answer = out.replace(/\r?\n$/, "");
  return code === 0 && answer !== "" ? answer : undefined;
}
