import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CheckoutMove } from "../../../ports/merge-git.ts";
import { expectRoom } from "../full-disk.ts";
import { expectGit, zeroEnded } from "../git.ts";
import { copyIfFile } from "../own-dir.ts";
import { whyRefused } from "./in-the-way.ts";
import { type FileStep, stampOf } from "./move-files.ts";
import { type About, type Commits, type MovePlan, plansDir, plansIn } from "./move-plan.ts";
import { below, changes } from "./tracked.ts";
import { usersFiles, whyNotFilter } from "./users-git.ts";

/** The part of a plan that staging makes. */
export type Staged = Pick<MovePlan, "dir" | "index" | "steps">;

/**
 * Git itself decides what has to be written and writes it, with filters, line ends, links and modes, into an empty
 * work tree of ours; and it makes the index that belongs to it. Sparse checkouts leave out there what they leave out here.
 */
export async function stage(scratch: string, about: About, { from, to }: Commits): Promise<Staged | CheckoutMove> {
  const { checkout } = about;
  const filters = await whyNotFilter(checkout, to);
  if (filters !== undefined) return { kind: "failed", problem: filters };
  const room = roomFor(scratch, about);
  clearRoom(room, new Set(plansIn({ scratch, commonDir: about.commonDir }).map((plan) => plan.dir)));
  const dir = mkdtempSync(join(room, "move-"));
  try {
    return await stageIn(dir, about, { from, to });
  } catch (error) {
    // The disk was full: delete the staged files, which take up room.
    return discard({ dir }, Promise.reject(error));
  }
}

async function stageIn(
  dir: string,
  { checkout, gitDir }: About,
  { from, to }: Commits,
): Promise<Staged | CheckoutMove> {
  mkdirSync(join(dir, "files"));
  mkdirSync(join(dir, "aside"));
  const index = stampOf(join(gitDir, "index"));
  copyIfFile(join(gitDir, "index"), join(dir, "before"));
  // Files that were only touched are not changed; the answer, one for every change, is of no interest.
  await usersFiles({ checkout, index: join(dir, "before") }, "update-index", "-q", "--refresh");
  copyIfFile(join(dir, "before"), join(dir, "after"));
  const there = { checkout, index: join(dir, "after"), workTree: join(dir, "files") };
  const written = await usersFiles(there, "read-tree", "-m", "-u", from, to);
  if (written.code !== 0) {
    expectRoom(written, dir);
    return discard({ dir }, await whyRefused({ checkout, from, to }, written.err));
  }
  return { dir, index, steps: await stepsFor(checkout, dir, { from, to }) };
}

/** New files are moved into the checkout, so they are made on its file system. */
function roomFor(scratch: string, { checkout, gitDir }: About): string {
  const device = statSync(checkout).dev;
  for (const dir of [plansDir(scratch), join(gitDir, "ov-moves"), join(checkout, ".overstory-moves")]) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    if (statSync(dir).dev === device) return dir;
    if (readdirSync(dir).length === 0) rmSync(dir, { recursive: true });
  }
  throw new Error(`there is no place for new files beside ${checkout}`);
}

/** Removes directories of moves that were killed before their plan was written. */
function clearRoom(room: string, used: ReadonlySet<string>): void {
  for (const name of readdirSync(room)) {
    const dir = join(room, name);
    if (name.startsWith("move-") && !used.has(dir)) rmSync(dir, { recursive: true, force: true });
  }
}

/** Files that go, then files that come, each with the stamp of the file that is in the checkout now. */
async function stepsFor(checkout: string, dir: string, { from, to }: Commits): Promise<readonly FileStep[]> {
  const removed = await changes(checkout, { from, to }, "D");
  const tracked =
    removed.length === 0 ? [] : await Promise.all(["before", "after"].map((name) => indexed(checkout, dir, name)));
  const goes = removed.filter(({ path }) => tracked[0]?.has(path) === true && tracked[1]?.has(path) === false);
  const before = (path: string): string | null => stampOf(below(checkout, path));
  return [
    ...goes.map(
      ({ path, mode }): FileStep => ({
        path,
        kind: mode === gitlink ? "no-dir" : "remove",
        before: before(path),
        staged: null,
      }),
    ),
    ...stagedPaths(`${dir}/files`).map(
      ({ path, isDirectory }): FileStep => ({
        path,
        kind: isDirectory ? "dir" : "write",
        before: before(path),
        staged: stampOf(below(`${dir}/files`, path)),
      }),
    ),
  ];
}

const gitlink = "160000";

async function indexed(checkout: string, dir: string, name: string): Promise<ReadonlySet<string>> {
  const list = await usersFiles({ checkout, index: join(dir, name) }, "ls-files", "-z");
  return new Set(
    zeroEnded(expectGit(list, `listing the index of ${checkout}`).raw).map((path) => path.toString("latin1")),
  );
}

/** Every file that git wrote, and every empty directory, which stands for a submodule. */
function stagedPaths(root: string, dir = ""): readonly { readonly path: string; readonly isDirectory: boolean }[] {
  const names = readdirSync(dir === "" ? root : below(root, dir), { encoding: "buffer" });
  if (names.length === 0 && dir !== "") return [{ path: dir, isDirectory: true }];
  const sorted = names.map((name) => name.toString("latin1")).toSorted();
  return sorted.flatMap((name) => {
    const path = dir === "" ? name : `${dir}/${name}`;
    return lstatSync(below(root, path)).isDirectory() ? stagedPaths(root, path) : [{ path, isDirectory: false }];
  });
}

/** Removes the directory of a move. The old files in it are as they were committed, or were put back. */
export function discard<T>({ dir }: Pick<Staged, "dir">, outcome: T): T {
  rmSync(dir, { recursive: true, force: true });
  const room = dirname(dir);
  const isOnlyForThis = ["ov-moves", ".overstory-moves"].includes(basename(room));
  if (isOnlyForThis && existsSync(room) && readdirSync(room).length === 0) rmSync(room, { recursive: true });
  return outcome;
}
