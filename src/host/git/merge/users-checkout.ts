import { existsSync } from "node:fs";
import { join } from "node:path";
import type { FastForward } from "../../../ports/merge-git.ts";
import { expectGit } from "../git.ts";
import { inTheWay, untrackedInTheWay } from "./in-the-way.ts";
import { usersGit } from "./users-git.ts";

/** Neither tracked changes nor staged ones. */
export async function isClean(checkout: string): Promise<boolean> {
  const args = ["status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty"];
  return expectGit(await usersGit(checkout, ...args), `looking at ${checkout}`).raw.length === 0;
}

export interface Move {
  readonly checkout: string;
  readonly from: string;
  readonly to: string;
}

/** Git's own fast-forward: it changes all or nothing, and compares the tip with what it saw before it sets the branch. */
export async function fastForward(move: Move): Promise<FastForward> {
  const { checkout, from, to } = move;
  const refused = await refusal(move);
  if (refused !== undefined) return refused;
  const isForward = await usersGit(checkout, "merge-base", "--is-ancestor", from, to);
  if (isForward.code !== 0) return { kind: "failed", problem: `${to} does not come after ${from}` };
  // Ignored files are the user's as well.
  const moved = await usersGit(checkout, "merge", "--ff-only", "--no-overwrite-ignore", "--no-stat", "--quiet", to);
  return moved.code === 0 ? { kind: "done" } : await whyNot(move, moved.err);
}

/**
 * What `reset --keep` does, except that it also keeps what is staged, sets the branch only if it is still where it was,
 * and overwrites nothing that is ignored.
 */
export async function resetKeeping(move: Move): Promise<FastForward> {
  const { checkout, from, to } = move;
  const refused = await refusal(move);
  if (refused !== undefined) return refused;
  // Files that were only touched are not changed; the answer, one for every change, is of no interest.
  await usersGit(checkout, "update-index", "-q", "--refresh");
  const files = await usersGit(checkout, "read-tree", "-m", "-u", from, to);
  if (files.code !== 0) return await whyNot(move, files.err);
  const set = await usersGit(checkout, "update-ref", "-m", `overstory: moving to ${to}`, "HEAD", to, from);
  if (set.code === 0) return { kind: "done" };
  const back = await usersGit(checkout, "read-tree", "-m", "-u", to, from);
  if (back.code !== 0) return { kind: "failed", problem: `${set.err.trim()}; and then: ${back.err.trim()}` };
  return { kind: "moved", problem: set.err.trim() };
}

/** Why nothing should even be tried. */
async function refusal(move: Move): Promise<FastForward | undefined> {
  const { checkout, from } = move;
  const [branch, head] = await Promise.all([
    usersGit(checkout, "symbolic-ref", "--quiet", "HEAD"),
    usersGit(checkout, "rev-parse", "--absolute-git-dir", "HEAD"),
  ]);
  if (head.code !== 0) return { kind: "failed", problem: head.err.trim() };
  if (branch.code !== 0) return { kind: "moved", problem: `${checkout} is on no branch` };
  const [gitDir = "", tip] = head.out.split("\n");
  if (tip !== from) return { kind: "moved", problem: `${branch.out.trim()} is at ${tip}, not at ${from}` };
  const half = halfDone.find((name) => existsSync(join(gitDir, name)));
  if (half !== undefined) return { kind: "failed", problem: `${checkout} is in the middle of something (${half})` };
  const paths = await untrackedInTheWay(move);
  return paths.length === 0 ? undefined : { kind: "local-changes", paths };
}

const halfDone = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

async function whyNot(move: Move, words: string): Promise<FastForward> {
  const { checkout, from } = move;
  const head = await usersGit(checkout, "rev-parse", "--verify", "--quiet", "HEAD");
  const problem = words.trim();
  if (head.out.trim() !== from) return { kind: "moved", problem };
  const paths = await inTheWay(move);
  return paths.length === 0 ? { kind: "failed", problem } : { kind: "local-changes", paths };
}
