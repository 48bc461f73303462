import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { failureOf } from "../../../domain/failure.ts";
import type { CheckoutMove, FinishedMove, MoveRequest } from "../../../ports/merge-git.ts";
import { writeAtomically } from "../../atomic-file.ts";
import { expectRoom } from "../full-disk.ts";
import { expectGit, git, zeroEnded } from "../git.ts";
import { type HeldLock, type LockPlace, waitForLocks } from "../locks.ts";
import { copyIfFile } from "../own-dir.ts";
import { inTheWay, untrackedInTheWay } from "./in-the-way.ts";
import { doStep, type FileStep, notADirectoryAbove, stampOf, TakenPath, undoStep } from "./move-files.ts";
import { below } from "./tracked.ts";
import { usersFiles, whyNotFilter } from "./users-git.ts";

/**
 * Moves a branch that somebody has checked out, with the files and the index of that checkout.
 *
 * | step    | what is done                                                              | killed after it, the next look    |
 * | ------- | ------------------------------------------------------------------------- | --------------------------------- |
 * | stage   | git writes the new files and the new index into a directory of ours       | starts over                       |
 * | lock    | we take the lock of the index, with our name in it                        | takes our lock away, starts over  |
 * | verify  | git says whether anything is in the way; every path gets its stamp;       | goes on: the branch               |
 * |         | the plan is written down                                                  |                                   |
 * | branch  | compare-and-swap of the ref                                               | goes on: the files                |
 * | files   | the old file goes aside, the new one takes its place, one after the other | goes on with the rest             |
 * | index   | the new index takes the place of the old one                              | goes on: the end                  |
 * | end     | plan, lock and directory are removed                                      | removes the rest                  |
 *
 * A path that is not as it was verified stops the files: those that were moved go back, then the branch, so that
 * everything is as it was. That, too, is written down first, and goes on after a kill.
 */
export async function moveCheckout(scratch: string, request: MoveRequest): Promise<CheckoutMove> {
  const { checkout, reach } = request;
  const earlier = (await finishMoves(scratch, reach)).find((move) => move.checkout === checkout);
  if (earlier !== undefined && earlier.outcome.kind !== "done") return earlier.outcome;
  try {
    const plan = await prepare(scratch, request);
    return "kind" in plan ? plan : await carryOut(scratch, plan, request);
  } catch (error) {
    const begun = plansIn(scratch).find((plan) => plan.checkout === checkout);
    // The next look finishes a move that has begun, when the disk may have room again.
    if (begun?.verified === true || failureOf(error).kind !== "disk-full") throw error;
    if (begun !== undefined) end(scratch, begun, undefined);
    return { kind: "no-room", problem: `there is no room for its new files on the disk that holds ${checkout}` };
  }
}

/** Does the steps before the branch moves. */
async function prepare(scratch: string, request: MoveRequest): Promise<MovePlan | CheckoutMove> {
  const { checkout, from, to, reach } = request;
  for (let tries = 1; ; tries++) {
    const about = await look(request);
    if ("kind" in about) return about;
    const staged = await stage(scratch, about, { from, to });
    if ("kind" in staged) return staged;
    reach?.("promote.staged");
    const plan: MovePlan = { ...about, ...staged, from, to, verified: false, back: null };
    savePlan(scratch, plan);
    const locked = await lockIndex(about);
    if (locked !== undefined) return end(scratch, plan, { kind: "locked", problem: locked.problem });
    reach?.("promote.locked");
    const verified = await verify(about, staged, { checkout, from, to });
    if (verified.kind === "again" && tries < mostTries) {
      end(scratch, plan, undefined);
      continue;
    }
    if (verified.kind === "again") return end(scratch, plan, { kind: "failed", problem: verified.problem });
    if (verified.kind !== "done") return end(scratch, plan, verified);
    const ready = { ...plan, verified: true };
    savePlan(scratch, ready);
    reach?.("promote.verified");
    return ready;
  }
}

const mostTries = 5;

/** Moves whose maker died are finished, or taken back where somebody has written to their files meanwhile. */
export async function finishMoves(scratch: string, reach?: MoveRequest["reach"]): Promise<readonly FinishedMove[]> {
  const finished: FinishedMove[] = [];
  for (const plan of plansIn(scratch)) {
    const { checkout, ref, from, to } = plan;
    if (!plan.verified) {
      // Nothing was moved yet: whoever wants it starts over.
      end(scratch, plan, undefined);
      continue;
    }
    finished.push({
      checkout,
      ref,
      from,
      to,
      outcome: await carryOut(scratch, plan, reach === undefined ? {} : { reach }),
    });
  }
  return finished;
}

interface About {
  readonly checkout: string;
  /** Of this checkout. */
  readonly gitDir: string;
  readonly commonDir: string;
  /** The branch that is checked out. */
  readonly ref: string;
}

/** All that is needed to go on after a kill. */
interface MovePlan extends About {
  readonly from: string;
  readonly to: string;
  readonly dir: string;
  /** The index of the checkout when it was copied. */
  readonly index: string | null;
  readonly steps: readonly FileStep[];
  /** Nothing is moved before. */
  readonly verified: boolean;
  /** Why everything goes back. */
  readonly back: CheckoutMove | null;
}

const plansDir = (scratch: string): string => join(scratch, "moves");
const planPath = (scratch: string, checkout: string): string =>
  join(plansDir(scratch), `${createHash("sha256").update(checkout).digest("hex").slice(0, 16)}.json`);
function plansIn(scratch: string): readonly MovePlan[] {
  const dir = plansDir(scratch);
  if (!existsSync(dir)) return [];
  const names = readdirSync(dir).filter((name) => name.endsWith(".json"));
  return names.map((name) => JSON.parse(readFileSync(join(dir, name), "utf8")) as MovePlan);
}
const savePlan = (scratch: string, plan: MovePlan): void =>
  writeAtomically(planPath(scratch, plan.checkout), JSON.stringify(plan), 0o600);

/** Whether the checkout is as the caller thinks, before anything is made. */
async function look({ checkout, from }: MoveRequest): Promise<About | CheckoutMove> {
  const [branch, places] = await Promise.all([
    git(checkout, "symbolic-ref", "--quiet", "HEAD"),
    git(checkout, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "HEAD"),
  ]);
  if (places.code !== 0) return { kind: "failed", problem: places.err.trim() };
  const [gitDir = "", commonDir = "", tip] = places.out.split("\n");
  const isDetached = branch.code !== 0;
  const ref = branch.out.trim();
  if (!isDetached && tip !== from) return { kind: "moved", problem: `${ref} is at ${tip}, not at ${from}` };
  const half = unfinished.find(
    ({ file, detaches }) => (detaches !== true || isDetached) && existsSync(join(gitDir, file)),
  );
  if (half !== undefined) {
    const next = `finish it, or give it up: git -C '${checkout}' ${half.end}`;
    return { kind: "failed", problem: `an unfinished ${half.what} (${half.file}) is in ${checkout}; ${next}` };
  }
  if (isDetached) return { kind: "moved", problem: `${checkout} is on no branch` };
  return { checkout, gitDir, commonDir, ref };
}

/** Operations of git that block a move. One with `detaches` blocks it only while no branch is checked out. */
const unfinished: readonly {
  readonly file: string;
  readonly what: string;
  readonly end: string;
  readonly detaches?: true;
}[] = [
  { file: "MERGE_HEAD", what: "merge", end: "merge --abort" },
  { file: "CHERRY_PICK_HEAD", what: "cherry-pick", end: "cherry-pick --abort" },
  { file: "REVERT_HEAD", what: "revert", end: "revert --abort" },
  { file: "rebase-merge", what: "rebase", end: "rebase --abort" },
  { file: "rebase-apply", what: "rebase", end: "rebase --abort" },
  { file: "BISECT_START", what: "bisection", end: "bisect reset", detaches: true },
];

interface Staged {
  readonly dir: string;
  readonly index: string | null;
  readonly steps: readonly FileStep[];
}

interface Commits {
  readonly from: string;
  readonly to: string;
}

/**
 * Git itself decides what has to be written and writes it, with filters, line ends, links and modes, into an empty
 * work tree of ours; and it makes the index that belongs to it. Sparse checkouts leave out there what they leave out here.
 */
async function stage(scratch: string, about: About, { from, to }: Commits): Promise<Staged | CheckoutMove> {
  const { checkout } = about;
  const filters = await whyNotFilter(checkout, to);
  if (filters !== undefined) return { kind: "failed", problem: filters };
  const room = roomFor(scratch, about);
  clearRoom(room, new Set(plansIn(scratch).map((plan) => plan.dir)));
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
    return discard({ dir }, await whyNot({ checkout, from, to }, written.err));
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

/** Directories of moves whose maker was killed before the plan was written. */
function clearRoom(room: string, used: ReadonlySet<string>): void {
  for (const name of readdirSync(room)) {
    const dir = join(room, name);
    if (name.startsWith("move-") && !used.has(dir)) rmSync(dir, { recursive: true, force: true });
  }
}

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

interface Change {
  readonly path: string;
  /** On the side that has the path. */
  readonly mode: string;
  readonly oid: string;
}

/** Paths that differ between the commits: gone (`D`), or there in the second one (`d`). */
async function changes(checkout: string, { from, to }: Commits, filter: "D" | "d"): Promise<readonly Change[]> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", `--diff-filter=${filter}`, from, to];
  const parts = zeroEnded(expectGit(await git(checkout, ...args), `comparing ${from} with ${to}`).raw);
  const found: Change[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [old = "", now = "", oldOid = "", nowOid = ""] = (parts[at]?.toString("latin1") ?? "").slice(1).split(" ");
    const path = parts[at + 1]?.toString("latin1") ?? "";
    found.push(filter === "D" ? { path, mode: old, oid: oldOid } : { path, mode: now, oid: nowOid });
  }
  return found;
}

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

const indexLock = (gitDir: string): string => join(gitDir, "index.lock");

/** Ours says so: after a kill it is told from the lock of a git command. */
const lockText = "overstory moves this checkout\n";

/** Reading a pipe in the place of the lock would wait for ever. */
const isOurLock = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() === true && readFileSync(path, "latin1").startsWith(lockText);

/** While we have it no git command changes the index or switches the branch of the checkout. */
async function lockIndex({ gitDir }: Pick<About, "gitDir">): Promise<HeldLock | undefined> {
  const path = indexLock(gitDir);
  for (;;) {
    if (isOurLock(path)) return undefined;
    const held = await waitForLocks([{ path, gitDir }]);
    if (held !== undefined) return held;
    try {
      writeFileSync(path, lockText, { flag: "wx" });
      return undefined;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
}

function unlock(gitDir: string): void {
  if (isOurLock(indexLock(gitDir))) rmSync(indexLock(gitDir), { force: true });
}

/**
 * With the index locked: is anything in the way? The stamps were taken before, so they are of what git looks at here.
 * `again`: somebody was faster than the lock, or has only touched a file.
 */
async function verify(
  about: About,
  staged: Staged,
  way: Commits & { readonly checkout: string },
): Promise<CheckoutMove | { readonly kind: "again"; readonly problem: string }> {
  const { checkout, gitDir } = about;
  if (stampOf(join(gitDir, "index")) !== staged.index) {
    return { kind: "again", problem: `others keep changing the index of ${checkout}` };
  }
  const now = await look({ ...way, checkout });
  if ("kind" in now) return now;
  const goes = new Set(staged.steps.filter(({ kind }) => kind === "remove").map(({ path }) => path));
  const links = staged.steps.flatMap(({ path }) => notADirectoryAbove(checkout, path) ?? []);
  const blocked = new Set(links.filter((path) => !goes.has(path)).map(shown));
  if (blocked.size > 0) return { kind: "local-changes", paths: [...blocked].toSorted() };
  const untracked = await untrackedInTheWay(way);
  if (untracked.length > 0) return { kind: "local-changes", paths: untracked };
  const before = { checkout, index: join(staged.dir, "before") };
  const dry = await usersFiles(before, "read-tree", "-n", "-m", "-u", way.from, way.to);
  if (dry.code === 0) return { kind: "done" };
  const why = await whyNot(way, dry.err);
  return why.kind === "failed" ? { kind: "again", problem: why.problem } : why;
}

async function whyNot(way: Commits & { readonly checkout: string }, words: string): Promise<CheckoutMove> {
  const paths = await inTheWay(way);
  return paths.length === 0 ? { kind: "failed", problem: words.trim() } : { kind: "local-changes", paths };
}

/** From the plan to the end, wherever it stopped the last time. */
async function carryOut(scratch: string, plan: MovePlan, { reach }: Pick<MoveRequest, "reach">): Promise<CheckoutMove> {
  if (existsSync(join(plan.dir, "finished"))) return end(scratch, plan, { kind: "done" });
  if (!existsSync(plan.checkout) || !existsSync(join(plan.dir, "files"))) {
    return end(scratch, plan, { kind: "failed", problem: `${plan.checkout} is gone` });
  }
  const locked = await lockIndex(plan);
  if (locked !== undefined) return { kind: "locked", problem: locked.problem };
  if (plan.back !== null) return takeBack(scratch, plan, plan.back, reach);
  const branch = await git(plan.checkout, "symbolic-ref", "--quiet", "HEAD");
  // Somebody took our lock away and switched to another branch: the files here are not those of this one any more.
  if (branch.out.trim() !== plan.ref)
    return end(scratch, plan, { kind: "moved", problem: `${plan.checkout} is on another branch` });
  const set = await setBranch(plan, plan.from, plan.to);
  if (set !== undefined) return end(scratch, plan, set);
  reach?.("promote.after-branch");
  try {
    for (const [number, step] of plan.steps.entries()) {
      doStep(plan, step, number, () => reach?.("promote.between-files"));
    }
  } catch (error) {
    const why = backReason(plan, error);
    savePlan(scratch, { ...plan, back: why });
    reach?.("promote.before-back");
    return takeBack(scratch, plan, why, reach);
  }
  reach?.("promote.after-files");
  await placeIndex(plan);
  writeFileSync(join(plan.dir, "finished"), "");
  reach?.("promote.after-index");
  return end(scratch, plan, { kind: "done" });
}

function backReason({ checkout }: MovePlan, error: unknown): CheckoutMove {
  if (error instanceof TakenPath) return { kind: "local-changes", paths: [shown(error.path)] };
  return { kind: "failed", problem: `the files of ${checkout} could not be moved: ${String(error)}` };
}

/** Undefined when the branch is there, by this call or an earlier one. */
async function setBranch(
  { checkout, gitDir, commonDir, ref }: About,
  from: string,
  to: string,
): Promise<CheckoutMove | undefined> {
  const places: LockPlace[] = [
    { path: join(gitDir, "HEAD.lock"), gitDir },
    { path: join(commonDir, `${ref}.lock`), gitDir: commonDir },
    { path: join(commonDir, "packed-refs.lock"), gitDir: commonDir },
  ];
  for (let tries = 1; ; tries++) {
    const tip = (await git(checkout, "rev-parse", "--verify", "--quiet", ref)).out.trim();
    if (tip === to) return undefined;
    if (tip !== from) return { kind: "moved", problem: `${ref} is at ${tip}, not at ${from}` };
    const held = await waitForLocks(places);
    if (held !== undefined) return { kind: "locked", problem: held.problem };
    const set = await git(checkout, "update-ref", "-m", `overstory: moving to ${to}`, ref, to, from);
    if (set.code === 0) return undefined;
    expectRoom(set, commonDir);
    if (tries === mostTries) return { kind: "failed", problem: set.err.trim() };
  }
}

/**
 * The index that git made for the new files. When somebody has changed theirs since, because our lock was taken away,
 * only the entries that are still the old ones become the new ones.
 */
async function placeIndex(plan: MovePlan): Promise<void> {
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
  const isOld = ({ path }: Change): boolean => has.get(path) === before.get(path);
  return [
    ...gone.filter(isOld).map(({ path, oid }) => `0 ${"0".repeat(oid.length)}\t${path}\0`),
    ...come.filter(isOld).map(({ path, mode, oid }) => `${mode} ${oid}\t${path}\0`),
  ].join("");
}

async function takeBack(
  scratch: string,
  plan: MovePlan,
  why: CheckoutMove,
  reach: MoveRequest["reach"],
): Promise<CheckoutMove> {
  const stays: string[] = [];
  for (const [number, step] of [...plan.steps.entries()].toReversed()) {
    if (!undoStep(plan, step, number)) stays.push(shown(step.path));
    reach?.("promote.during-back");
  }
  const set = await setBranch(plan, plan.to, plan.from);
  if (set?.kind === "locked") return set;
  const paths = why.kind === "local-changes" ? [...new Set([...why.paths, ...stays])].toSorted() : [];
  return end(scratch, plan, why.kind === "local-changes" ? { kind: "local-changes", paths } : why);
}

function end<T>(scratch: string, plan: MovePlan, outcome: T): T {
  unlock(plan.gitDir);
  rmSync(planPath(scratch, plan.checkout), { force: true });
  return discard(plan, outcome);
}

/** What lies aside is as it was committed, or was put back. */
function discard<T>({ dir }: Pick<Staged, "dir">, outcome: T): T {
  rmSync(dir, { recursive: true, force: true });
  const room = dirname(dir);
  const isOnlyForThis = ["ov-moves", ".overstory-moves"].includes(basename(room));
  if (isOnlyForThis && existsSync(room) && readdirSync(room).length === 0) rmSync(room, { recursive: true });
  return outcome;
}

const shown = (path: string): string => Buffer.from(path, "latin1").toString();
