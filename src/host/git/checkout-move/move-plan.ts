import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { CheckoutMove } from "../../../ports/merge-git.ts";
import { writeAtomically } from "../../file-access.ts";
import { expectRoom } from "../full-disk.ts";
import { expectGit, zeroEnded } from "../git.ts";
import { below, changes } from "../merge/tracked.ts";
import { usersFiles, whyNotFilter } from "../merge/users-git.ts";
import { copyIfFile } from "../own-dir.ts";
import { commonDirOf, gitLinkIn } from "../places.ts";
import { whyRefused } from "./in-the-way.ts";
import { type FileStep, stampOf } from "./move-files.ts";

export interface Commits {
  readonly from: string;
  readonly to: string;
}

/** The checkout whose branch moves. */
export interface About {
  readonly checkout: string;
  /** The git directory of this checkout. */
  readonly gitDir: string;
  readonly commonDir: string;
  /** The branch that is checked out. */
  readonly ref: string;
}

/** One move, with all that is needed to go on after a kill. Each checkout has at most one, in a file of its own. */
export interface MovePlan extends About {
  readonly from: string;
  readonly to: string;
  /** The directory with the staged files and indexes. */
  readonly dir: string;
  /** The stamp of the checkout's index when it was copied. */
  readonly index: string | null;
  readonly steps: readonly FileStep[];
  /** False until git has said that nothing is in the way: until then nothing is moved. */
  readonly verified: boolean;
  /** Why the moved files go back. */
  readonly back: CheckoutMove | null;
}

export const plansDir = (scratch: string): string => join(scratch, "moves");
const planPath = (scratch: string, checkout: string): string =>
  join(plansDir(scratch), `${createHash("sha256").update(checkout).digest("hex").slice(0, 16)}.json`);

/** The directory of the plans, and the repository whose checkouts they may name. */
export interface PlanPlace {
  readonly scratch: string;
  readonly commonDir: string;
}

/** The plans that may be followed. Another program of this user can write to this directory, so each is checked. */
export function plansIn(place: PlanPlace): readonly MovePlan[] {
  return planNames(place).flatMap((name) => {
    const read = readPlan(place, name);
    return "plan" in read ? [read.plan] : [];
  });
}

/**
 * Renames plans that no move of ours has made, so that no later look takes them for plans. Returns a sentence for each.
 * A forged plan is never followed: a plan names files to overwrite and a directory to delete.
 */
export function putAsideForged(place: PlanPlace): readonly string[] {
  const dir = plansDir(place.scratch);
  return planNames(place).flatMap((name) => {
    const read = readPlan(place, name);
    if ("plan" in read) return [];
    const aside = join(dir, `${name}.refused`);
    renameSync(join(dir, name), aside);
    return [`the plan ${join(dir, name)} is not one of ours: ${read.problem}; it was put aside as ${aside}`];
  });
}

function planNames({ scratch }: PlanPlace): readonly string[] {
  const dir = plansDir(scratch);
  return existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith(".json")) : [];
}

function readPlan(place: PlanPlace, name: string): { readonly plan: MovePlan } | { readonly problem: string } {
  const file = join(plansDir(place.scratch), name);
  // A link or a pipe in the place of a plan is not read.
  if (!lstatSync(file).isFile()) return { problem: "it is no file" };
  let plan: MovePlan;
  try {
    plan = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { problem: "it is no JSON" };
  }
  const problem = misfit(place, plan, file);
  return problem === undefined ? { plan } : { problem };
}

/** Why a plan is not one of ours for a checkout of this repository, in words. */
function misfit({ scratch, commonDir }: PlanPlace, plan: MovePlan, file: string): string | undefined {
  if (typeof plan !== "object" || plan === null) return "it is no plan";
  const { checkout, gitDir, dir, ref, from, to, steps } = plan;
  if (![checkout, gitDir, plan.commonDir, dir, ref, from, to].every((text) => typeof text === "string")) {
    return "something is missing in it";
  }
  if (planPath(scratch, checkout) !== file) return "it lies under the name of another checkout";
  if (real(plan.commonDir) !== real(commonDir)) return "it names another repository";
  const isThere = existsSync(checkout);
  if (isThere ? real(gitDirOf(checkout) ?? "") !== real(gitDir) : !isBelow(real(gitDir), real(commonDir))) {
    return `${checkout} is no worktree of this repository`;
  }
  if (isThere && real(commonDirOf(checkout) ?? "") !== real(commonDir)) {
    return `${checkout} is no worktree of this repository`;
  }
  const stagingDirs = [plansDir(scratch), join(gitDir, "ov-moves"), join(checkout, ".overstory-moves")];
  if (!stagingDirs.includes(dirname(dir)) || !/^move-\w+$/.test(basename(dir)) || isLink(dir)) {
    return `it would delete ${dir}`;
  }
  if (!/^refs\/heads\/[^\0]+$/.test(ref) || !isInside(ref)) return `it would move ${ref}`;
  if (![from, to].every((commit) => /^[0-9a-f]{40,64}$/.test(commit))) return "it names no commits";
  if (!Array.isArray(steps)) return "it has no steps";
  const outside = steps.find((step) => typeof step?.path !== "string" || !isInside(step.path));
  return outside === undefined
    ? undefined
    : `it would write to ${String(outside?.path)}, which is not a file of ${checkout}`;
}

/** A path of a checkout: relative, without steps upwards, and not in a git directory. */
const isInside = (path: string): boolean =>
  path !== "" && path.split("/").every((part) => !["", ".", ".."].includes(part) && part.toLowerCase() !== ".git");

const isBelow = (path: string, dir: string): boolean => path === dir || path.startsWith(`${dir}/`);
const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
const real = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

function gitDirOf(checkout: string): string | undefined {
  const entry = join(checkout, ".git");
  if (statSync(entry, { throwIfNoEntry: false })?.isDirectory() === true) return entry;
  const points = gitLinkIn(entry);
  return points === undefined ? undefined : resolve(checkout, points);
}

export const savePlan = (scratch: string, plan: MovePlan): void =>
  writeAtomically(planPath(scratch, plan.checkout), JSON.stringify(plan), 0o600);

export const dropPlan = (scratch: string, { checkout }: Pick<MovePlan, "checkout">): void =>
  rmSync(planPath(scratch, checkout), { force: true });

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
  const stagingDir = stagingDirFor(scratch, about);
  clearStagingDir(stagingDir, new Set(plansIn({ scratch, commonDir: about.commonDir }).map((plan) => plan.dir)));
  const dir = mkdtempSync(join(stagingDir, "move-"));
  try {
    return await stageIn(dir, about, { from, to });
  } catch (error) {
    // The disk may be full: delete the staged files, which take up space.
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
function stagingDirFor(scratch: string, { checkout, gitDir }: About): string {
  const device = statSync(checkout).dev;
  for (const dir of [plansDir(scratch), join(gitDir, "ov-moves"), join(checkout, ".overstory-moves")]) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    if (statSync(dir).dev === device) return dir;
    if (readdirSync(dir).length === 0) rmSync(dir, { recursive: true });
  }
  throw new Error(`there is no place for new files beside ${checkout}`);
}

/** Removes directories of moves that were killed before their plan was written. */
function clearStagingDir(stagingDir: string, used: ReadonlySet<string>): void {
  for (const name of readdirSync(stagingDir)) {
    const dir = join(stagingDir, name);
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
  const stagingDir = dirname(dir);
  const isOnlyForThis = ["ov-moves", ".overstory-moves"].includes(basename(stagingDir));
  if (isOnlyForThis && existsSync(stagingDir) && readdirSync(stagingDir).length === 0)
    rmSync(stagingDir, { recursive: true });
  return outcome;
}
