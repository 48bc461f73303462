import { chmodSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectGit, zeroEnded } from "../git.ts";
import { type HeldLock, type LockWaiting, waitForLocks } from "../locks.ts";
import { copyIfFile } from "../own-dir.ts";
import { stampOf } from "./move-files.ts";
import type { About, MovePlan } from "./move-plan.ts";
import { changes, type TrackedFile } from "./tracked.ts";
import { usersFiles } from "./users-git.ts";

/** Takes the lock of the index: while we hold it, no git command changes the index or switches the branch. */
export async function lockIndex(
  { gitDir }: Pick<About, "gitDir">,
  waiting: LockWaiting = {},
): Promise<HeldLock | undefined> {
  const path = indexLock(gitDir);
  for (;;) {
    if (isOurLock(path)) return undefined;
    const held = await waitForLocks([{ path, gitDir }], waiting);
    if (held !== undefined) return held;
    try {
      writeFileSync(path, lockText, { flag: "wx" });
      return undefined;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
}

export function unlockIndex(gitDir: string): void {
  if (isOurLock(indexLock(gitDir))) rmSync(indexLock(gitDir), { force: true });
}

const indexLock = (gitDir: string): string => join(gitDir, "index.lock");

/** The text in our lock, which tells it from the lock of a git command after a kill. */
const lockText = "overstory moves this checkout\n";

/** Reading a pipe in the place of the lock would wait for ever. */
const isOurLock = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() === true && readFileSync(path, "latin1").startsWith(lockText);

/**
 * Puts the index that git made for the new files into its place. If a user removed our lock and changed the index, only
 * those entries change that are still the old ones.
 */
export async function placeIndex(plan: MovePlan): Promise<void> {
  const { checkout, gitDir, dir } = plan;
  const current = join(gitDir, "index");
  const next = join(dir, "after");
  if (stampOf(current) !== plan.index) {
    copyIfFile(current, next);
    const stdin = Buffer.from(await entriesToChange(plan), "latin1");
    const set = await usersFiles({ checkout, index: next, stdin }, "update-index", "-z", "--index-info");
    expectGit(set, `changing the index of ${checkout}`);
  }
  await usersFiles({ checkout, index: next }, "update-index", "-q", "--refresh");
  // Into the directory of the index first, so that it takes its place in one step.
  const beside = join(gitDir, "index.overstory");
  rmSync(beside, { force: true });
  writeFileSync(beside, readFileSync(next));
  const old = lstatSync(current, { throwIfNoEntry: false });
  if (old !== undefined) chmodSync(beside, old.mode & 0o777);
  renameSync(beside, current);
}

async function entriesToChange({ checkout, from, to }: MovePlan): Promise<string> {
  const list = expectGit(await usersFiles({ checkout }, "ls-files", "-s", "-z"), `listing the index of ${checkout}`);
  const has = new Map(
    zeroEnded(list.raw).map((line) => {
      const text = line.toString("latin1");
      const [entry = "", path = ""] = [text.slice(0, text.indexOf("\t")), text.slice(text.indexOf("\t") + 1)];
      return [path, entry];
    }),
  );
  const [gone, come, old] = await Promise.all([
    changes(checkout, { from, to }, "D"),
    changes(checkout, { from, to }, "d"),
    changes(checkout, { from: to, to: from }, "d"),
  ]);
  const before = new Map(old.map(({ path, mode, oid }) => [path, `${mode} ${oid} 0`]));
  const isOld = ({ path }: TrackedFile): boolean => has.get(path) === before.get(path);
  return [
    ...gone.filter(isOld).map(({ path, oid }) => `0 ${"0".repeat(oid.length)}\t${path}\0`),
    ...come.filter(isOld).map(({ path, mode, oid }) => `${mode} ${oid}\t${path}\0`),
  ].join("");
}
