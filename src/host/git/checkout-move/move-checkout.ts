import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { failureOf } from "../../../domain/failure.ts";
import { shellWord } from "../../../domain/text/shell-word.ts";
import type { CheckoutMove, FinishedMove, MoveRequest } from "../../../ports/merge-git.ts";
import { expectRoom } from "../full-disk.ts";
import { expectGit, git, zeroEnded } from "../git.ts";
import { type HeldLock, type LockPlace, type LockWaiting, waitForLocks } from "../locks.ts";
import { changes, shown, type TrackedFile } from "../merge/tracked.ts";
import { usersFiles } from "../merge/users-git.ts";
import { copyIfFile } from "../own-dir.ts";
import { inTheWay, marksOf, untrackedInTheWay, whyRefused } from "./in-the-way.ts";
import { doStep, notADirectoryAbove, stampOf, TakenPath, undoStep } from "./move-files.ts";
import {
  type About,
  type Commits,
  discard,
  dropPlan,
  type MovePlan,
  type PlanPlace,
  plansIn,
  putAsideForged,
  type Staged,
  savePlan,
  stage,
} from "./move-plan.ts";

/**
 * Moves a branch that is checked out, with the files and the index of that checkout.
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
export async function moveCheckout(place: PlanPlace, request: MoveRequest): Promise<CheckoutMove> {
  const moved = await tryToMove(place, request);
  if (moved.kind !== "local-changes") return moved;
  const marked = await marksOf(request.checkout, moved.paths);
  return marked.length === 0 ? moved : { ...moved, marked };
}

async function tryToMove(place: PlanPlace, request: MoveRequest): Promise<CheckoutMove> {
  const { scratch } = place;
  const { checkout, reach } = request;
  const earlier = (await finishMoves(place, reach)).find((move) => move.checkout === checkout);
  if (earlier !== undefined && earlier.outcome.kind !== "done") return earlier.outcome;
  try {
    const plan = await prepare(scratch, request);
    return "kind" in plan ? plan : await carryOut(scratch, plan, request);
  } catch (error) {
    const begun = plansIn(place).find((plan) => plan.checkout === checkout);
    // The next look finishes a move that has begun, when the disk may have room again.
    if (begun?.verified === true || failureOf(error).kind !== "disk-full") throw error;
    if (begun !== undefined) end(scratch, begun, undefined);
    return { kind: "no-room", problem: `there is no room for its new files on the disk that holds ${checkout}` };
  }
}

/** Does the steps before the branch moves. */
async function prepare(scratch: string, request: MoveRequest): Promise<MovePlan | CheckoutMove> {
  const { checkout, from, to, reach, onLockRemoved } = request;
  for (let tries = 1; ; tries++) {
    const about = await look(request);
    if ("kind" in about) return about;
    const staged = await stage(scratch, about, { from, to });
    if ("kind" in staged) return staged;
    reach?.("promote.staged");
    const plan: MovePlan = { ...about, ...staged, from, to, verified: false, back: null };
    savePlan(scratch, plan);
    const locked = await lockIndex(about, { onRemoved: onLockRemoved });
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

/** Finishes moves that were killed, or takes them back if a user has written to their files meanwhile. */
export async function finishMoves(place: PlanPlace, reach?: MoveRequest["reach"]): Promise<readonly FinishedMove[]> {
  const { scratch } = place;
  const forged = putAsideForged(place);
  // Said once: the next look does not find them any more.
  if (forged.length > 0) throw new Error(forged.join("; "));
  const finished: FinishedMove[] = [];
  for (const plan of plansIn(place)) {
    const { checkout, ref, from, to } = plan;
    if (!plan.verified) {
      // Nothing was moved yet: the next call of moveCheckout starts over.
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

/** Whether the checkout is as the caller thinks, before anything is made. */
async function look({ checkout, from }: MoveRequest): Promise<About | CheckoutMove> {
  const problem = await checkoutProblem(checkout);
  if (problem !== undefined) return { kind: "failed", problem };
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
    const next = `finish it, or give it up: git -C ${shellWord(checkout)} ${half.end}`;
    return { kind: "failed", problem: `an unfinished ${half.what} (${half.file}) is in ${checkout}; ${next}` };
  }
  if (isDetached) return { kind: "moved", problem: `${checkout} is on no branch` };
  return { checkout, gitDir, commonDir, ref };
}

/** Why this path is no checkout: it is missing, or git takes it for something else. Undefined where it is one. */
export async function checkoutProblem(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return `the checkout ${path} is missing; ${missingAdvice}`;
  const top = await git(path, "rev-parse", "--show-toplevel");
  if (top.code === 0 && top.out.replace(/\n$/, "") === realpathSync(path)) return undefined;
  const gitDir = await git(path, "rev-parse", "--absolute-git-dir");
  if (gitDir.out.replace(/\n$/, "") !== realpathSync(path)) {
    const bare = await git(path, "rev-parse", "--is-bare-repository");
    return bare.out.trim() === "true"
      ? `git takes ${path} for a bare repository, because core.bare is set; when that is a mistake: git -C ${shellWord(path)} config core.bare false`
      : `${path} is not the top directory of a checkout; see: git worktree list`;
  }
  // Files that were written there would be refs, hooks or settings.
  const tell = `git config --file ${shellWord(join(path, "config"))} core.worktree <its directory>`;
  return `${path} is a git directory, and git does not know where its checkout is; say where: ${tell}`;
}

export const missingAdvice =
  "when it was moved, type at its new place: git worktree repair; when it was deleted: git worktree prune";

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

/**
 * With the index locked: is anything in the way? The stamps were taken before, so they are of what git looks at here.
 * `again`: another process was faster than the lock, or has only touched a file.
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
  const blocked = links.filter((path) => !goes.has(path)).map(shown);
  const inNewPlaces = [...blocked, ...(await untrackedInTheWay(way))];
  if (inNewPlaces.length > 0) {
    // All that is in the way at once, so that its user need not ask again for each.
    const paths = new Set([...inNewPlaces, ...(await inTheWay(way))]);
    return { kind: "local-changes", paths: [...paths].toSorted() };
  }
  const before = { checkout, index: join(staged.dir, "before") };
  const dry = await usersFiles(before, "read-tree", "-n", "-m", "-u", way.from, way.to);
  if (dry.code === 0) return { kind: "done" };
  const why = await whyRefused(way, dry.err);
  return why.kind === "failed" ? { kind: "again", problem: why.problem } : why;
}

/** From the plan to the end, wherever it stopped the last time. */
async function carryOut(
  scratch: string,
  plan: MovePlan,
  { reach, onLockRemoved }: Pick<MoveRequest, "reach" | "onLockRemoved">,
): Promise<CheckoutMove> {
  if (existsSync(join(plan.dir, "finished"))) return end(scratch, plan, { kind: "done" });
  if (!existsSync(plan.checkout) || !existsSync(join(plan.dir, "files"))) {
    return end(scratch, plan, { kind: "failed", problem: `${plan.checkout} is gone` });
  }
  const locked = await lockIndex(plan);
  if (locked !== undefined) return { kind: "locked", problem: locked.problem };
  if (plan.back !== null) return takeBack(scratch, plan, plan.back, reach);
  const branch = await git(plan.checkout, "symbolic-ref", "--quiet", "HEAD");
  // A user removed our lock and switched to another branch: the files here belong to that branch now.
  if (branch.out.trim() !== plan.ref)
    return end(scratch, plan, { kind: "moved", problem: `${plan.checkout} is on another branch` });
  const set = await setBranch(plan, plan.from, plan.to, onLockRemoved);
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
  onRemoved?: MoveRequest["onLockRemoved"],
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
    const held = await waitForLocks(places, { onRemoved });
    if (held !== undefined) return { kind: "locked", problem: held.problem };
    const set = await git(checkout, "update-ref", "-m", `overstory: moving to ${to}`, ref, to, from);
    if (set.code === 0) return undefined;
    expectRoom(set, commonDir);
    if (tries === mostTries) return { kind: "failed", problem: set.err.trim() };
  }
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
  unlockIndex(plan.gitDir);
  dropPlan(scratch, plan);
  return discard(plan, outcome);
}

/** Takes the lock of the index: while we hold it, no git command changes the index or switches the branch. */
async function lockIndex({ gitDir }: Pick<About, "gitDir">, waiting: LockWaiting = {}): Promise<HeldLock | undefined> {
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

function unlockIndex(gitDir: string): void {
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
  const isOld = ({ path }: TrackedFile): boolean => has.get(path) === before.get(path);
  return [
    ...gone.filter(isOld).map(({ path, oid }) => `0 ${"0".repeat(oid.length)}\t${path}\0`),
    ...come.filter(isOld).map(({ path, mode, oid }) => `${mode} ${oid}\t${path}\0`),
  ].join("");
}
