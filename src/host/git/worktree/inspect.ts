import { existsSync } from "node:fs";
import { join } from "node:path";
import { type HalfWay, halfWay, type OffBranch, type Unsettled } from "../../../domain/worktree/change.ts";
import type { OwnedWorktree, WorktreeFacts } from "../../../ports/worktrees.ts";
import { expectGit, type GitAnswer, zeroEnded } from "../git.ts";
import { placeOf, standing } from "../places.ts";
import { commitAt } from "../refs.ts";
import type { GitProject } from "../repository.ts";
import { changedInSubmodules } from "../submodules/agent-modules.ts";
import { dirtyPaths, providedFiles } from "../work/uncommitted.ts";
import { holdsWork, lookAsGit, type OpenWorktree, openWorktree } from "./open-worktree.ts";

const nothing: WorktreeFacts = {
  exists: false,
  head: null,
  ahead: 0,
  messages: [],
  dirty: false,
  onBranch: true,
  halfWay: null,
  loose: 0,
  offBranch: null,
  uncommitted: [],
  files: [],
};

export async function inspectWorktree(project: GitProject, worktree: OwnedWorktree): Promise<WorktreeFacts> {
  // What lies in the project's own checkout is the user's, not an agent's.
  if (worktree.kind === "root") return { ...nothing, exists: true, head: (await commitAt(project, "HEAD")) ?? null };
  if (!(await holdsWork(project, worktree))) return nothing;
  if (worktree.isThrownAway === true) return { ...nothing, exists: true, head: worktree.baseCommit };
  using open = await openWorktree(project, worktree);
  const base = worktree.baseCommit;
  const [outside, inside, loose, changed, commits] = await Promise.all([
    dirtyPaths(open, worktree.path),
    changedInSubmodules(project, worktree),
    open.loose(),
    base === null ? [] : changedByAgent(open, base, worktree.baseRef ?? null),
    base === null || open.head === undefined ? [] : commitsOf(open, [`${base}..${open.head}`]),
  ]);
  // To git it looked as if all of its files had been deleted.
  if (standing(worktree) !== "own") return nothing;
  const isProvided = providedFiles(project);
  const own = [...outside.filter((path) => !isProvided(path)), ...inside];
  return {
    exists: true,
    head: open.head ?? null,
    ahead: commits.length,
    messages: commits.map(({ message }) => message),
    dirty: own.length > 0,
    onBranch: open.onBranch,
    halfWay: halfWayIn(project, worktree),
    loose: loose.length,
    offBranch: await offBranchIn(open, worktree, loose),
    uncommitted: own.toSorted(),
    files: [...new Set([...changed, ...own])].toSorted(),
  };
}

/**
 * The agent's commits that its branch lacks, where the worktree is on no branch or on another, or has left such commits
 * behind. What was picked or rebased onto the branch since is not among them, nor what others made.
 */
async function offBranchIn(
  open: OpenWorktree,
  { agentName, branch, baseCommit, baseRef }: OwnedWorktree,
  loose: readonly string[],
): Promise<OffBranch | null> {
  const ends = open.onBranch || open.head === undefined ? loose : [open.head, ...loose];
  if (ends.length === 0 || baseCommit === null) return null;
  const { own } = open;
  const found = await own.git(["rev-parse", "--verify", "--quiet", `refs/heads/${branch}^{commit}`]);
  const branchTip = found.code === 0 ? found.out.trim() : null;
  const others = [`--exclude=overstory/${agentName}/*`, "--branches=overstory/*"];
  const theirs = ["--not", baseCommit, ...(baseRef == null ? [] : [baseRef]), ...others];
  const tips: string[] = [];
  const messages = new Map<string, string>();
  for (const end of ends) {
    const beside = branchTip === null ? [end] : ["--cherry-pick", "--right-only", `${branchTip}...${end}`];
    // Ignored: a clone does not know the landing branch, and a branch may be gone.
    const commits = await commitsOf(open, ["--ignore-missing", ...beside, ...theirs]);
    if (commits.length > 0) tips.push(end);
    for (const { id, message } of commits) messages.set(id, message);
  }
  if (tips.length === 0) return null;
  const onBranch = branchTip === null ? [] : await commitsOf(open, [`${baseCommit}..${branchTip}`]);
  const on = await own.git(["symbolic-ref", "--quiet", "--short", "HEAD"]);
  const name = on.out.trim();
  return {
    on: on.code === 0 && name !== branch ? name : null,
    tips,
    messages: [...messages.values()],
    branchTip,
    branchMessages: onBranch.map(({ message }) => message),
  };
}

/** Commits that no branch holds, and what git was in the middle of. */
export async function unsettledIn(project: GitProject, worktree: OwnedWorktree): Promise<Unsettled | undefined> {
  if (worktree.kind === "root" || !(await holdsWork(project, worktree))) return undefined;
  if (placeOf(project.repository, worktree) === undefined) return undefined;
  using open = await openWorktree(project, worktree);
  const { branch } = worktree;
  const found = halfWayIn(project, worktree);
  const loose = await open.loose();
  const detachedAt = open.onBranch ? null : (open.head ?? null);
  const isHeld = detachedAt === null || (await isOnBranch(open, detachedAt));
  if (found === null && detachedAt === null && loose.length === 0) return undefined;
  return { branch, halfWay: found, detachedAt, loose: isHeld ? loose : [detachedAt, ...loose] };
}

/** The operation that git is in the middle of there. */
export function halfWayIn(project: GitProject, worktree: OwnedWorktree): HalfWay | null {
  const place = placeOf(project.repository, worktree);
  if (place === undefined) return null;
  return halfWay.find((sort) => signs[sort].some((name) => existsSync(join(place.gitDir, name)))) ?? null;
}

/** What git keeps in the git directory of a worktree while it waits for its user. */
const signs: Readonly<Record<HalfWay, readonly string[]>> = {
  rebase: ["rebase-merge", "rebase-apply"],
  merge: ["MERGE_HEAD"],
  "cherry-pick": ["CHERRY_PICK_HEAD"],
  revert: ["REVERT_HEAD"],
  bisect: ["BISECT_LOG"],
};

async function isOnBranch({ own }: OpenWorktree, commit: string): Promise<boolean> {
  const listed = await own.git(["for-each-ref", "--count=1", "--contains", commit, "refs/heads/", "refs/tags/"]);
  return listed.code === 0 && listed.out !== "";
}

/** Where it is and whether anything in it is uncommitted. */
export async function stateOf(
  project: GitProject,
  worktree: OwnedWorktree,
): Promise<Pick<WorktreeFacts, "exists" | "head" | "dirty">> {
  if (worktree.kind === "root" || standing(worktree) !== "own") return nothing;
  if (worktree.isThrownAway === true) return { exists: true, head: worktree.baseCommit, dirty: false };
  using open = await openWorktree(project, worktree);
  const [outside, inside] = await Promise.all([
    dirtyPaths(open, worktree.path),
    changedInSubmodules(project, worktree),
  ]);
  if (standing(worktree) !== "own") return nothing;
  const isProvided = providedFiles(project);
  const dirty = inside.length > 0 || outside.some((path) => !isProvided(path));
  return { exists: true, head: open.head ?? null, dirty };
}

/**
 * A branch that took in what landed meanwhile differs from its base in the files of others, too. Where it kept the files
 * of its base, it takes out again what has landed in them.
 */
async function changedByAgent(open: OpenWorktree, base: string, landing: string | null): Promise<readonly string[]> {
  const [sinceBase, sinceJoin] = await Promise.all([
    namesOf(open, [base]),
    landing === null ? undefined : namesOf(open, ["--merge-base", landing]),
  ]);
  const changed = expectGit(sinceBase, "comparing a worktree with its base");
  // A clone does not know the landing branch, and a branch may be gone.
  if (sinceJoin === undefined || sinceJoin.code !== 0) return pathsIn(changed);
  const [mine, own] = [new Set(pathsIn(changed)), new Set(pathsIn(sinceJoin))];
  const putBack = [...own].filter((path) => !mine.has(path));
  const tookIn = putBack.length > 0 && landing !== null && (await hasTakenIn(open, base, landing));
  return [...[...mine].filter((path) => own.has(path)), ...(tookIn ? putBack : [])];
}

/** Did the work take in commits of the landing branch that came after its base? */
async function hasTakenIn({ own, head }: OpenWorktree, base: string, landing: string): Promise<boolean> {
  if (head === undefined) return false;
  const joined = await own.git(["merge-base", landing, head]);
  if (joined.code !== 0 || joined.out.trim() === base) return false;
  return (await own.git(["merge-base", "--is-ancestor", base, joined.out.trim()])).code === 0;
}

function namesOf(open: OpenWorktree, since: readonly string[]): Promise<GitAnswer> {
  const plain = ["--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=dirty"];
  return lookAsGit(open, ["diff", "--name-only", "-z", ...plain, ...since, "--"]);
}

const pathsIn = ({ raw }: GitAnswer): readonly string[] => zeroEnded(raw).map((path) => path.toString());

interface Commit {
  readonly id: string;
  /** May be empty. */
  readonly message: string;
}

/** Newest first. */
async function commitsOf({ own }: OpenWorktree, which: readonly string[]): Promise<readonly Commit[]> {
  const answer = await own.git(["log", "-z", "--format=%H%n%B", ...which, "--"]);
  return zeroEnded(expectGit(answer, "reading commits").raw).map((entry) => {
    const text = entry.toString();
    const end = text.indexOf("\n");
    return { id: text.slice(0, end), message: text.slice(end + 1) };
  });
}
