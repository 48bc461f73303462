import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { FoundBranch, FoundWorktree } from "../../../ports/worktrees.ts";
import { lstatIfThere } from "../../file-access.ts";
import { expectGit, type GitAnswer, git, runGit, zeroEnded } from "../git.ts";
import { adminDirOf, standing, textOf } from "../places.ts";
import { refsBelow } from "../refs.ts";
import type { GitProject, Repository } from "../repository.ts";

/** One worktree as git lists it. */
export interface Entry {
  readonly path: string;
  readonly head: string | undefined;
  /** Full name of the branch; undefined when detached. */
  readonly branch: string | undefined;
  /**
   * Branches that a rebase or bisection in this worktree will move or return to. Git refuses to check them out
   * elsewhere.
   */
  readonly held: readonly string[];
  /** Why it is locked; undefined when it is not. */
  readonly lock: string | undefined;
  readonly isBare: boolean;
}

/** All linked worktrees of the project, its own checkout first. */
export async function listEntries({ repository }: Pick<GitProject, "repository">): Promise<readonly Entry[]> {
  const seen = await entriesWith(repository);
  if (seen[0] === undefined) return seen;
  const path = await mainCheckout(repository, seen[0].path);
  if (seen[0].isBare && !(await hasFilesOfIndex(repository, path))) return seen;
  // A mistaken setting does not turn the files of a person into none: their branch is checked out.
  const entries = seen[0].isBare ? await entriesWith(repository, "core.bare=false") : seen;
  return entries.map((entry, at) => (at === 0 ? { ...entry, path } : entry));
}

async function entriesWith(repository: Repository, ...settings: readonly string[]): Promise<readonly Entry[]> {
  const list = await askWorktrees(repository.root, settings, ["list", "--porcelain", "-z"]);
  return readEntries(repository, expectGit(list, "listing worktrees").out);
}

/**
 * Do files lie in the place of the checkout, although git takes the repository for bare? Some programs set `core.bare` by
 * mistake. A repository that was made bare on purpose may have an index left, but not the files of it.
 */
async function hasFilesOfIndex({ commonDir }: Repository, checkout: string): Promise<boolean> {
  if (checkout === commonDir || !existsSync(join(commonDir, "index"))) return false;
  const env = { GIT_DIR: commonDir, GIT_WORK_TREE: checkout };
  const { raw } = await runGit({ cwd: checkout, args: ["ls-files", "-z"], env });
  const tops = new Set(readdirSync(checkout));
  return zeroEnded(raw).some((bytes) => {
    const path = bytes.toString("utf8");
    return tops.has(path.split("/")[0] ?? "") && lstatIfThere(join(checkout, path)) !== undefined;
  });
}

/**
 * Where the files of the main checkout are. Git lists its git directory instead where that lies elsewhere, as after
 * `git init --separate-git-dir` and in a submodule. Where the place is unknown it stays the git directory, into which
 * nothing of ours writes files.
 */
async function mainCheckout({ root, gitDir, commonDir }: Repository, listed: string): Promise<string> {
  if (gitDir === commonDir) return root;
  const told = await runGit({ cwd: root, args: ["config", "--get", "core.worktree"], env: { GIT_DIR: commonDir } });
  return told.code === 0 ? resolve(commonDir, told.out.replace(/\n$/, "")) : listed;
}

function readEntries(repository: Repository, list: string): readonly Entry[] {
  return list
    .split("\0\0")
    .map((entry) => entry.split("\0"))
    .filter((lines) => lines[0]?.startsWith("worktree ") === true)
    .map((lines, at) => {
      const after = (word: string): string | undefined =>
        lines.find((line) => line === word || line.startsWith(`${word} `))?.slice(word.length + 1);
      const path = after("worktree") ?? "";
      // A rebase and a bisection both detach the checkout.
      const gitDir = !lines.includes("detached")
        ? undefined
        : at === 0
          ? repository.commonDir
          : adminDirOf(repository, path);
      return {
        path,
        head: after("HEAD"),
        branch: after("branch"),
        held: gitDir === undefined ? [] : heldIn(gitDir),
        lock: after("locked"),
        isBare: lines.includes("bare"),
      };
    });
}

/** Does this worktree have the branch, checked out or in a rebase or bisection? */
export const hasBranch = ({ branch, held }: Entry, ref: string): boolean => branch === ref || held.includes(ref);

/**
 * Could some checkout have one of these branches? A look at a few files. False where no HEAD names one of them, and no
 * rebase or bisection does. True for whatever is unusual: then the caller has to ask git.
 */
export function mayBeCheckedOut(
  { commonDir, isOrdinary }: Pick<Repository, "commonDir" | "isOrdinary">,
  refs: readonly string[],
): boolean {
  if (!isOrdinary) return true;
  const all = join(commonDir, "worktrees");
  const linked = existsSync(all) ? readdirSync(all).map((name) => join(all, name)) : [];
  return [commonDir, ...linked].some((gitDir) => {
    const head = textOf(join(gitDir, "HEAD"))?.trim();
    if (head === undefined) return true;
    if (/^[0-9a-f]{40,64}$/.test(head)) return heldIn(gitDir).some((name) => refs.includes(name));
    const branch = /^ref: (refs\/heads\/\S+)$/.exec(head)?.[1];
    return branch === undefined || refs.includes(branch) || standsForAnother(join(commonDir, branch));
  });
}

function standsForAnother(ref: string): boolean {
  const stat = lstatIfThere(ref);
  return stat !== undefined && textOf(ref)?.startsWith("ref:") !== false;
}

function heldIn(gitDir: string): readonly string[] {
  const words = (file: string): readonly string[] => textOf(join(gitDir, file))?.split(/\s+/) ?? [];
  const started = words("BISECT_START").map((name) => (name.startsWith("refs/") ? name : `refs/heads/${name}`));
  const rebased = ["rebase-merge/head-name", "rebase-merge/update-refs", "rebase-apply/head-name"].flatMap(words);
  return [...rebased, ...started].filter((name) => name.startsWith("refs/heads/") && name !== "refs/heads/");
}

const ours = "refs/heads/overstory/";
/** Landing branches belong to runs, not to agents: what is on them has landed but may not have reached the user yet. */
const landing = "refs/heads/overstory/integration/";
const isAgents = (ref: string): boolean => ref.startsWith(ours) && !ref.startsWith(landing);

/** The worktrees of agents, by their branches. */
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

/** The branches of agents. */
export async function findBranches(project: GitProject): Promise<readonly FoundBranch[]> {
  const refs = await refsBelow(project, ours);
  return refs
    .filter(({ name }) => isAgents(name))
    .map(({ name, commit }) => ({ branch: name.slice("refs/heads/".length), tip: commit }));
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

/**
 * Runs `git worktree ...`. For each of these commands git reads the records of all worktrees, and fails over a record
 * that another process is just adding or removing. Then this asks again a moment later.
 */
export const gitWorktree = (root: string, ...args: string[]): Promise<GitAnswer> => askWorktrees(root, [], args);

async function askWorktrees(root: string, settings: readonly string[], args: readonly string[]): Promise<GitAnswer> {
  // A new worktree has all files. Git would give it the patterns of a sparse checkout of the user's, and then refuse to
  // add files outside of them.
  const all = ["core.sparseCheckout=false", ...settings].flatMap((setting) => ["-c", setting]);
  for (let tries = 1; ; tries++) {
    const answer = await git(root, ...all, "worktree", ...args);
    if (answer.code === 0 || tries === mostTries || !metHalfARecord(answer)) return answer;
    await Bun.sleep(betweenTriesMs * tries);
  }
}

const mostTries = 8;
const betweenTriesMs = 15;

/** Git names the file of the record that it could not read. */
const metHalfARecord = ({ err }: GitAnswer): boolean =>
  /worktrees\/[^/\n]+\/(commondir|gitdir|locked|HEAD)\b/.test(err);
