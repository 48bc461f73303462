import { existsSync } from "node:fs";
import { join } from "node:path";
import { type HalfWay, halfWay, type Unsettled } from "../../../domain/worktree/change.ts";
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
  loose: 0,
  uncommitted: [],
  files: [],
};

export async function inspectWorktree(project: GitProject, worktree: OwnedWorktree): Promise<WorktreeFacts> {
  // What lies in the project's own checkout is the user's, not an agent's.
  if (worktree.kind === "root") return { ...nothing, exists: true, head: (await commitAt(project, "HEAD")) ?? null };
  if (!(await holdsWork(project, worktree))) return nothing;
  using open = await openWorktree(project, worktree);
  const base = worktree.baseCommit;
  const [outside, inside, loose, changed, messages] = await Promise.all([
    dirtyPaths(open),
    changedInSubmodules(project, worktree),
    open.loose(),
    base === null ? [] : changedByAgent(open, base, worktree.baseRef ?? null),
    base === null || open.head === undefined ? [] : messagesSince(open, base, open.head),
  ]);
  // To git it looked as if all of its files had been deleted.
  if (standing(worktree) !== "own") return nothing;
  const isProvided = providedFiles(project);
  const own = [...outside.filter((path) => !isProvided(path)), ...inside];
  return {
    exists: true,
    head: open.head ?? null,
    ahead: messages.length,
    messages,
    dirty: own.length > 0,
    onBranch: open.onBranch,
    loose: loose.length,
    uncommitted: own.toSorted(),
    files: [...new Set([...changed, ...own])].toSorted(),
  };
}

/** Commits that no branch holds, and what git was in the middle of. */
export async function unsettledIn(project: GitProject, worktree: OwnedWorktree): Promise<Unsettled | undefined> {
  if (worktree.kind === "root" || !(await holdsWork(project, worktree))) return undefined;
  const place = placeOf(project.repository, worktree);
  if (place === undefined) return undefined;
  using open = await openWorktree(project, worktree);
  const { branch } = worktree;
  const found = halfWay.find((sort) => signs[sort].some((name) => existsSync(join(place.gitDir, name)))) ?? null;
  const loose = await open.loose();
  const detachedAt = open.onBranch ? null : (open.head ?? null);
  const isHeld = detachedAt === null || (await isOnBranch(open, detachedAt));
  if (found === null && detachedAt === null && loose.length === 0) return undefined;
  return { branch, halfWay: found, detachedAt, loose: isHeld ? loose : [detachedAt, ...loose] };
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
  using open = await openWorktree(project, worktree);
  const [outside, inside] = await Promise.all([dirtyPaths(open), changedInSubmodules(project, worktree)]);
  if (standing(worktree) !== "own") return nothing;
  const isProvided = providedFiles(project);
  const dirty = inside.length > 0 || outside.some((path) => !isProvided(path));
  return { exists: true, head: open.head ?? null, dirty };
}

/** A branch that took in what landed meanwhile differs from its base in the files of others, too. */
async function changedByAgent(open: OpenWorktree, base: string, landing: string | null): Promise<readonly string[]> {
  const [sinceBase, sinceJoin] = await Promise.all([
    namesOf(open, [base]),
    landing === null ? undefined : namesOf(open, ["--merge-base", landing]),
  ]);
  const changed = expectGit(sinceBase, "comparing a worktree with its base");
  // A clone does not know the landing branch, and a branch may be gone.
  if (sinceJoin === undefined || sinceJoin.code !== 0) return pathsIn(changed);
  const own = new Set(pathsIn(sinceJoin));
  return pathsIn(changed).filter((path) => own.has(path));
}

function namesOf(open: OpenWorktree, since: readonly string[]): Promise<GitAnswer> {
  const plain = ["--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=dirty"];
  return lookAsGit(open, ["diff", "--name-only", "-z", ...plain, ...since, "--"]);
}

const pathsIn = ({ raw }: GitAnswer): readonly string[] => zeroEnded(raw).map((path) => path.toString());

/** The messages of the commits since the base, newest first; a message may be empty. */
async function messagesSince({ own }: OpenWorktree, base: string, head: string): Promise<readonly string[]> {
  const answer = await own.git(["log", "-z", "--format=%B", `${base}..${head}`]);
  return zeroEnded(expectGit(answer, "reading commits").raw).map((message) => message.toString());
}
