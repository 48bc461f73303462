import { existsSync } from "node:fs";
import type { OwnedWorktree, WorktreeFacts } from "../../ports/worktrees.ts";
import { expectGit, zeroEnded } from "./git.ts";
import { leftOut } from "./left-out.ts";
import { type OpenWorktree, openWorktree } from "./open-worktree.ts";
import { commitAt, type Yard } from "./yard.ts";

const nothing: WorktreeFacts = {
  exists: false,
  head: null,
  ahead: 0,
  messages: [],
  dirty: false,
  onBranch: true,
  files: [],
};

export async function inspectWorktree(yard: Yard, worktree: OwnedWorktree): Promise<WorktreeFacts> {
  // What lies in the project's own checkout is the user's, not an agent's.
  if (worktree.kind === "root") return { ...nothing, exists: true, head: (await commitAt(yard, "HEAD")) ?? null };
  if (!existsSync(worktree.path)) return nothing;
  using open = await openWorktree(yard, worktree);
  const base = worktree.baseCommit;
  const [dirt, changed, messages] = await Promise.all([
    dirtyPaths(open),
    base === null ? [] : changedSince(open, base),
    base === null || open.head === undefined ? [] : messagesSince(open, base, open.head),
  ]);
  const notWork = leftOut(yard);
  const own = dirt.filter((path) => !notWork(path));
  return {
    exists: true,
    head: open.head ?? null,
    ahead: messages.length,
    messages,
    dirty: own.length > 0,
    onBranch: open.onBranch,
    files: [...new Set([...changed, ...own])].toSorted(),
  };
}

/** Staged, changed and untracked paths. Files whose index entry is stale are compared, not taken for changed. */
async function dirtyPaths({ own }: OpenWorktree): Promise<readonly string[]> {
  const args = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty"];
  const answer = expectGit(await own.git(args), "the state of a worktree");
  return zeroEnded(answer.raw).map((entry) => entry.subarray(statusColumns).toString());
}

/** Two letters and a space. */
const statusColumns = 3;

async function changedSince({ own }: OpenWorktree, base: string): Promise<readonly string[]> {
  const plain = ["--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=dirty"];
  const answer = await own.git(["diff", "--name-only", "-z", ...plain, base, "--"]);
  return zeroEnded(expectGit(answer, "comparing a worktree with its base").raw).map((path) => path.toString());
}

/** The messages of the commits since the base, newest first; a message may be empty. */
async function messagesSince({ own }: OpenWorktree, base: string, head: string): Promise<readonly string[]> {
  const answer = await own.git(["log", "-z", "--format=%B", `${base}..${head}`]);
  return zeroEnded(expectGit(answer, "reading commits").raw).map((message) => message.toString());
}
