import { existsSync } from "node:fs";
import { no, ok } from "../../domain/result.ts";
import type { Seat, SeatRequest, Worktrees } from "../../ports/worktrees.ts";
import { git } from "./git.ts";

/** Linked worktrees of the project's repository. One `git worktree add` at a time: git itself races. */
export function linkedWorktrees(root: string): Worktrees {
  let queue: Promise<unknown> = Promise.resolve();
  return {
    create: (request) => {
      const turn = queue.then(() => create(root, request));
      // The queue only orders; the caller handles its own failure.
      queue = turn.catch(() => undefined);
      return turn;
    },
    currentBranch: async () => {
      const answer = await git(root, "symbolic-ref", "--quiet", "--short", "HEAD");
      return answer.code === 0 ? answer.out.trim() : undefined;
    },
  };
}

async function create(root: string, request: SeatRequest): ReturnType<Worktrees["create"]> {
  const failed = (problem: string) =>
    no({ kind: "worktree-failed" as const, path: request.path, branch: request.branch, problem: problem.trim() });
  const there = await existing(root, request);
  if (there !== undefined) return ok(there);
  if (existsSync(request.path)) return failed("the directory exists and is not this agent's worktree");
  const base = await git(root, "rev-parse", "--verify", "--quiet", `${request.baseRef}^{commit}`);
  if (base.code !== 0) return failed(`there is no commit called ${request.baseRef}`);
  const branchTip = await git(root, "rev-parse", "--verify", "--quiet", `refs/heads/${request.branch}`);
  const checkout =
    branchTip.code === 0 ? [request.path, request.branch] : ["-b", request.branch, request.path, base.out.trim()];
  const added = await git(root, "worktree", "add", "--quiet", ...checkout);
  if (added.code !== 0) return failed(added.err);
  const seat = await existing(root, request);
  return seat === undefined ? failed("git added the worktree but does not list it") : ok(seat);
}

/** The worktree of an earlier try that died before it could record the fact. */
async function existing(root: string, request: SeatRequest): Promise<Seat | undefined> {
  if (!(await finishedBeingAdded(root, request))) return undefined;
  const base = await git(root, "merge-base", request.baseRef, request.branch);
  return base.code === 0 ? { path: request.path, branch: request.branch, baseCommit: base.out.trim() } : undefined;
}

const addingPatienceMs = 10_000;

/**
 * True when git lists this agent's worktree as complete. A `git worktree add` outlives the engine that started it and
 * keeps the entry locked meanwhile, so it is waited for; one that died leaves a lock nobody will open, and an empty
 * start is better than half a checkout: no agent ever ran in it.
 */
async function finishedBeingAdded(root: string, request: SeatRequest): Promise<boolean> {
  const deadline = performance.now() + addingPatienceMs;
  for (;;) {
    const entry = await entryOf(root, request);
    if (entry === undefined) return false;
    if (!entry.some((line) => line.startsWith("locked"))) return existsSync(request.path);
    if (performance.now() > deadline) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await git(root, "worktree", "unlock", request.path);
  await git(root, "worktree", "remove", "--force", request.path);
  return false;
}

async function entryOf(root: string, request: SeatRequest): Promise<readonly string[] | undefined> {
  const list = await git(root, "worktree", "list", "--porcelain", "-z");
  return list.out
    .split("\0\0")
    .map((entry) => entry.split("\0"))
    .find((lines) => lines[0] === `worktree ${request.path}` && lines.includes(`branch refs/heads/${request.branch}`));
}
