import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../../domain/failure.ts";
import { exactShellWord } from "../../../domain/text/shell-word.ts";
import type { MergeGit, RefChange, RefUpdate } from "../../../ports/merge-git.ts";
import { missingAdvice } from "../checkout-move/move-checkout.ts";
import { expectGit, git, runGit } from "../git.ts";
import { type LockPlace, waitForLocks } from "../locks.ts";
import type { OwnDir } from "../own-dir.ts";
import { adminDirOf } from "../places.ts";
import { parseRefs } from "../refs.ts";
import { headLog } from "../work/loose-commits.ts";
import { type Entry, hasBranch, listEntries, mayBeCheckedOut } from "../worktree/list.ts";
import type { MergeRepository } from "./merge-repository.ts";
import { expectSound, newObjects } from "./sound-objects.ts";

/** Moves all refs or none. A branch that is checked out is not moved: its files would no longer be those of its tip. */
export async function updateRefs(
  mergeRepo: MergeRepository,
  changes: readonly RefChange[],
  reason: string,
  onLockRemoved?: (path: string) => void,
): Promise<RefUpdate> {
  const standIn = changes.find(
    ({ ref }) => ref.startsWith("refs/heads/") && isSymbolic(mergeRepo.repository.commonDir, ref),
  )?.ref;
  if (standIn !== undefined) return { kind: "locked", problem: standInWords(standIn) };
  const obstacle = await obstacleTo(mergeRepo, changes);
  if (obstacle !== undefined) return { kind: "moved", problem: obstacle };
  const { root } = mergeRepo.repository;
  const args = ["update-ref", "--no-deref", "-m", reason.replaceAll("\0", " "), "--stdin", "-z"];
  const commands = changes.map((change) => command(change, mergeRepo.repository.objectFormat));
  // Without the last word git changes nothing, however its input ended.
  const stdin = ["start\0", ...commands, "commit\0"].join("");
  for (let tries = 1; ; tries++) {
    const proven = tries === 1 ? expectSoundMoves(mergeRepo, changes) : undefined;
    // Git starts while the objects are read, and is told nothing before they are found sound.
    const answer = await runGit({ cwd: root, args, stdin: proven?.then(() => stdin) ?? stdin });
    if (answer.code === 0) return { kind: "updated" };
    const problem = answer.err.trim();
    if (await isElsewhere(root, changes)) return { kind: "moved", problem };
    // All are where they should be, so another writer holds a lock on one of them.
    const held = await waitForLocks(locksOf(mergeRepo, changes), { onRemoved: onLockRemoved });
    if (held !== undefined) return { kind: "locked", problem: held.problem };
    if (tries === mostTries) throw new Error(`moving refs: ${problem}`);
    await Bun.sleep(betweenTriesMs * tries);
  }
}

/** What gates proved was the content that the ids stand for, and that has to be there when it lands. */
async function expectSoundMoves(mergeRepo: MergeRepository, changes: readonly RefChange[]): Promise<void> {
  for (const { ref, from, to, known } of changes) {
    if (!ref.startsWith("refs/heads/") || from === null || to === null || from === to) continue;
    await mergeRepo.through(async (own) => {
      const ids = newObjects(own, from, to);
      if (borrowsObjects(mergeRepo)) await copyObjects(mergeRepo, own, await ids);
      await expectSound(own, mergeRepo.repository, { commit: to, ids, areNew: true, known });
    });
  }
}

/** Does git also find objects in other directories, which an agent can name and any process may delete? */
const borrowsObjects = ({ repository }: MergeRepository): boolean =>
  existsSync(join(repository.objects, "info", "alternates"));

/** What lands stays readable when those directories are gone. */
async function copyObjects({ repository }: MergeRepository, own: OwnDir, ids: readonly string[]): Promise<void> {
  const stdin = ids.map((id) => `${id}\n`).join("");
  const args = ["pack-objects", "--quiet", join(repository.objects, "pack", "pack")];
  expectGit(await own.git(args, { stdin }), "copying objects into the project");
}

/** Where git locks refs: each by its name, all that are packed, and the tables of the newer format. */
function locksOf({ repository: { commonDir } }: MergeRepository, changes: readonly RefChange[]): readonly LockPlace[] {
  const names = [...changes.map(({ ref }) => ref), "packed-refs", "reftable/tables.list"];
  return names.map((name) => ({ path: join(commonDir, `${name}.lock`), gitDir: commonDir }));
}

const mostTries = 6;
const betweenTriesMs = 50;

/**
 * Checkouts that have the branch, also in a rebase of it. A missing directory counts as well: it may have been moved, and
 * its files would no longer be those of the branch. Of our own branches it counts only if the worktree is locked.
 */
export async function checkoutsOf(mergeRepo: MergeRepository, branch: string): Promise<readonly string[]> {
  const ref = branch.startsWith("refs/") ? branch : `refs/heads/${branch}`;
  const entries = await checkouts(mergeRepo, [ref]);
  return entries.filter((entry) => isAt(entry, ref)).map(({ path }) => path);
}

/** What was made or brought in in each checkout that is none of the pool. A log that git keeps in another form is empty. */
export async function headLogs(mergeRepo: MergeRepository, poolDir: string): ReturnType<MergeGit["headLogs"]> {
  const { commonDir } = mergeRepo.repository;
  const entries = await listEntries(mergeRepo);
  return entries.flatMap(({ path: checkout }, at) => {
    const gitDir = at === 0 ? commonDir : adminDirOf({ commonDir }, checkout);
    return gitDir === undefined || isWithin(checkout, poolDir) ? [] : [{ checkout, commits: headLog(gitDir) }];
  });
}

const isWithin = (path: string, dir: string): boolean => path.startsWith(`${dir}/`);

/** All checkouts; none where no checkout can have one of these branches. */
async function checkouts(mergeRepo: MergeRepository, refs: readonly string[]): Promise<readonly Entry[]> {
  if (!mayBeCheckedOut(mergeRepo.repository, refs)) return [];
  return (await listEntries(mergeRepo)).filter(({ isBare }) => !isBare);
}

function isAt(entry: Entry, ref: string): boolean {
  const mayBeGone = ref.startsWith("refs/heads/overstory/") && entry.lock === undefined;
  return hasBranch(entry, ref) && !(mayBeGone && !existsSync(entry.path));
}

async function obstacleTo(mergeRepo: MergeRepository, changes: readonly RefChange[]): Promise<string | undefined> {
  const { root, commonDir } = mergeRepo.repository;
  const symbolic = changes.filter(({ ref }) => isSymbolic(commonDir, ref));
  // Neither we nor any other program has a use for symbolic refs there. The caller looks again and finds none.
  for (const { ref } of symbolic)
    if (ref.startsWith("refs/overstory/")) await git(root, "symbolic-ref", "--delete", ref);
  if (symbolic[0] !== undefined) return `${symbolic[0].ref} stands for another ref`;
  const branches = changes.map(({ ref }) => ref).filter((ref) => ref.startsWith("refs/heads/"));
  if (branches.length === 0) return undefined;
  const all = await checkouts(mergeRepo, branches);
  for (const branch of branches) {
    const taken = all.find((entry) => isAt(entry, branch));
    if (taken === undefined) continue;
    const how = taken.branch === branch ? "checked out" : "being rebased or bisected";
    const gone = existsSync(taken.path) ? "" : `, which is missing; ${missingAdvice}`;
    return `${branch} is ${how} at ${taken.path}${gone}`;
  }
  return undefined;
}

/** Without the stand-in a branch of ours is made again from its pin. A branch of the user's may be meant to stand for another. */
function standInWords(ref: string): string {
  const what = `${ref} stands for another ref, which would be moved in its place`;
  return ref.startsWith("refs/heads/overstory/")
    ? `${what}; take the stand-in away: git symbolic-ref -d ${exactShellWord(ref)}`
    : `${what}; let the run work for that one: ov run retarget <branch> --run <run-id>`;
}

/** Through such a ref another one would be moved than was looked at. */
function isSymbolic(commonDir: string, ref: string): boolean {
  refuseShorterName(commonDir, ref);
  const path = join(commonDir, ref);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  return stat.isSymbolicLink() || (stat.isFile() && readFileSync(path, "utf8").startsWith("ref:"));
}

/** Git cannot make `overstory/anything` beside a branch `overstory`. */
function refuseShorterName(commonDir: string, ref: string): void {
  const parts = ref.split("/");
  for (let length = 3; length < parts.length; length++) {
    const shorter = parts.slice(0, length).join("/");
    if (lstatSync(join(commonDir, shorter), { throwIfNoEntry: false })?.isFile() !== true) continue;
    const name = shorter.replace("refs/heads/", "");
    const problem = `the branch ${name} leaves no room for ${ref.replace("refs/heads/", "")}; give it another name: git branch -m ${name} <new name>`;
    throw new Failure({ kind: "unexpected", problem });
  }
}

function command({ ref, from, to }: RefChange, objectFormat: string): string {
  const nothing = "0".repeat(objectFormat === "sha1" ? 40 : 64);
  if (to === null) return from === null ? `verify ${ref}\0${nothing}\0` : `delete ${ref}\0${from}\0`;
  return `update ${ref}\0${to}\0${from ?? nothing}\0`;
}

async function isElsewhere(root: string, changes: readonly RefChange[]): Promise<boolean> {
  const names = changes.map(({ ref }) => ref);
  const list = await git(root, "for-each-ref", "--format=%(objectname) %(refname)", ...names);
  const tips = new Map(parseRefs(expectGit(list, "looking at refs").out).map(({ name, commit }) => [name, commit]));
  return changes.some(({ ref, from }) => (tips.get(ref) ?? null) !== from);
}
