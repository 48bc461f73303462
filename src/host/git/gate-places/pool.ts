import { chmodSync, lstatSync, mkdirSync, realpathSync, type Stats, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../../domain/failure.ts";
import type { Installed, KeepTerms, PoolCheckout } from "../../../ports/merge-git.ts";
import { type FileRules, fileRules, rulesFor } from "../filters.ts";
import { expectGit, zeroEnded } from "../git.ts";
import { treeOf } from "../merge/history.ts";
import type { MergeRepository } from "../merge/merge-repository.ts";
import { expectSound, treesOf } from "../merge/sound-objects.ts";
import { below, nameOf, type TrackedFile, trackedFiles } from "../merge/tracked.ts";
import { type OwnDir, openOwnDir } from "../own-dir.ts";
import { type ModulePlan, planModules } from "../submodules/plan.ts";
import { extrasInSubmodules, insideOf, refillSubmodules } from "../submodules/refill.ts";
import { homeOf } from "../submodules/users-module.ts";
import { removeAll } from "../work/trash.ts";
import { type KeptRoot, Tampered } from "./kept-copy.ts";
import { installKey, type KeptSet, type KeptSets, keptName, keptSets } from "./kept-set.ts";
import { makePlace, type PoolPlace, placeAt, settlePlace } from "./pool-place.ts";
import {
  extrasIn,
  hasRoomFor,
  keepRule,
  layoutOf,
  noteLeftFiles,
  remove,
  type SweepTerms,
  sweep,
  takeLeftFiles,
} from "./sweep.ts";

export interface CheckOutRequest {
  readonly poolDir: string;
  readonly slot: number;
  readonly commit: string;
  readonly keep?: KeepTerms | undefined;
}

/**
 * Checks a commit out in a slot. Commands of agents ran there before, so nothing they could have written is believed:
 * which files are unchanged is known from memory (`LeftFiles`), and a slot that resists is made anew.
 */
export async function checkOut(mergeRepo: MergeRepository, request: CheckOutRequest): Promise<PoolCheckout> {
  const { poolDir, commit, keep } = request;
  const files = await trackedFiles(mergeRepo, commit);
  const slot = openSlot(poolDir, request.slot);
  const filling = {
    slot,
    commit,
    files,
    rules: await rulesFor(mergeRepo.repository, commit),
    keep,
    plan: await planOf(mergeRepo, commit, files),
    dependencies: await dependenciesOf(mergeRepo, { slot, commit, files, keep }),
  };
  const place = placeAt(mergeRepo, slot.path);
  if (place !== undefined) {
    try {
      return await fill(mergeRepo, place, filling);
    } catch (error) {
      if (error instanceof Failure && error.data.kind === "commit-refused") throw error;
      // The place is damaged: a new one is made below. If the commit itself is bad, the same error comes again.
    }
  }
  slot.forget();
  return await fill(mergeRepo, await makePlace(mergeRepo, slot.path, commit), filling);
}

/**
 * Takes what setup made as it is now. What it made from the files of a landed commit is for all; what it made from a
 * branch is for that tree alone, because scripts of the branch had a part in it.
 */
export async function keepInstalled(
  mergeRepo: MergeRepository,
  request: CheckOutRequest & { readonly keep: KeepTerms },
): Promise<Installed> {
  const { poolDir, commit, keep } = request;
  const slot = openSlot(poolDir, request.slot);
  const files = await trackedFiles(mergeRepo, commit);
  const ids = await idsOf(mergeRepo, { commit, files, keep });
  if (ids === undefined) return { kind: "not-kept", left: [] };
  const [mayKeep, mayCache] = [keepRule(keep.keepIgnored), keepRule(keep.cache)];
  const extras = extrasIn(slot.path, layoutOf(files)).filter((path) => !mayCache(path));
  using own = openCheckout(mergeRepo, { slot, commit, rules: await fileRules(mergeRepo.repository) });
  const made = await ignoredOf(own, extras.filter(mayKeep));
  // What setup made inside a submodule is not kept.
  const inside = await extrasInSubmodules(mergeRepo, slot.path, await planOf(mergeRepo, commit, files));
  const left = [...extras.filter((path) => !made.includes(path)), ...inside];
  const id = commit === keep.landed ? ids.shared : ids.own;
  if (made.length > 0 && left.length === 0) {
    await slot.kept.make(id, slot.path, made);
    return { kind: "kept" };
  }
  slot.kept.giveUp(id, left);
  return { kind: "not-kept", left: texts(left) };
}

interface Wanted {
  readonly slot: Slot;
  readonly commit: string;
  readonly files: readonly TrackedFile[];
  readonly keep: KeepTerms | undefined;
}

/** What was installed before for these dependencies; where there is none, the commit to install it from. */
interface Dependencies {
  readonly set: KeptSet | undefined;
  readonly installOn: string | null;
}

async function dependenciesOf(
  mergeRepo: MergeRepository,
  { slot, commit, files, keep }: Wanted,
): Promise<Dependencies> {
  const isWanted = keep?.setup !== undefined && keep.setup.trim() !== "";
  const ids = keep === undefined ? undefined : await idsOf(mergeRepo, { commit, files, keep });
  if (keep === undefined || ids === undefined) return { set: undefined, installOn: isWanted ? commit : null };
  const { landed } = keep;
  const shared = slot.kept.find(ids.shared);
  for (const found of [shared, slot.kept.find(ids.own)]) {
    if (found !== undefined && "roots" in found) return { set: found, installOn: commit };
  }
  const mayShare = shared === undefined && landed !== null && landed !== commit;
  const isShared = mayShare && (await sharedId(mergeRepo, landed, keep)) === ids.shared;
  return { set: undefined, installOn: isShared ? landed : commit };
}

interface Ids {
  /** Of what was installed from files that have landed. */
  readonly shared: string;
  /** Of what was installed from exactly this tree. */
  readonly own: string;
}

async function idsOf(
  mergeRepo: MergeRepository,
  { commit, files, keep }: { commit: string; files: readonly TrackedFile[]; keep: KeepTerms },
): Promise<Ids | undefined> {
  const setup = keep.setup?.trim() ?? "";
  if (setup === "" || keep.keepIgnored.length === 0) return undefined;
  const shared = installKey(files, { ...keep, setup });
  return { shared, own: `${shared}-${(await treeOf(mergeRepo, commit)).slice(0, 16)}` };
}

async function sharedId(mergeRepo: MergeRepository, commit: string, keep: KeepTerms): Promise<string | undefined> {
  return (await idsOf(mergeRepo, { commit, files: await trackedFiles(mergeRepo, commit), keep }))?.shared;
}

interface Filling extends Wanted {
  readonly rules: FileRules;
  readonly dependencies: Dependencies;
  readonly plan: ModulePlan;
}

/** Without a list of submodules there are none that git would fill. */
async function planOf(
  { repository, scratch }: MergeRepository,
  commit: string,
  files: readonly TrackedFile[],
): Promise<ModulePlan> {
  if (!files.some(({ path }) => path === ".gitmodules")) return { modules: [], unfilled: [] };
  return planModules({ repository, home: homeOf(repository), commit, scratch });
}

async function fill(mergeRepo: MergeRepository, place: PoolPlace, filling: Filling): Promise<PoolCheckout> {
  const { slot, commit, files, rules, keep, dependencies, plan } = filling;
  const layout = layoutOf(files);
  const attributes = attributesHash(files, rules);
  const before = takeLeftFiles(slot.index);
  const left = before?.form === attributes ? before : undefined;
  const mayCache = keepRule(keep?.cache ?? []);
  const roots = new Map((dependencies.set?.roots ?? []).map((root) => [root.path, root]));
  const mayStay = (path: string, stat: Stats): boolean =>
    keep?.rest === "stays" || isOfRoot(roots.get(path), stat) || (stat.isDirectory() && mayCache(path));
  const staying = new Set<string>();
  const isAsLeft: SweepTerms["isAsLeft"] = (path, stat) => {
    if (left?.isAsLeft(path, stat) !== true) return false;
    staying.add(path);
    return true;
  };
  const stayed = sweep(place.path, layout, { mayStay, isAsLeft, filledElsewhere: insideOf(plan, "") });
  if (left === undefined) removeAll(slot.index);
  using own = openCheckout(mergeRepo, filling);
  const written = files.filter(
    ({ path, oid, mode }) => mode !== "160000" && !(staying.has(path) && left?.idOf(path) === oid),
  );
  const ids = treesOf(own, commit).then((trees) => [...trees, ...written.map(({ oid }) => oid)]);
  await expectSound(own, mergeRepo.repository, { commit, ids, areNew: false });
  const answer = await own.git(["read-tree", "--reset", "-u", commit]);
  const [, unusable] = /^(?:error|fatal): (invalid path .*|.*: File name too long)$/m.exec(answer.err) ?? [];
  if (answer.code !== 0 && unusable !== undefined) {
    const problem = `its files cannot be written: ${unusable}; rename the file`;
    throw new Failure({ kind: "commit-refused", commit, problem });
  }
  expectGit(answer, "writing the files");
  const cached = await onlyIgnored(
    own,
    place.path,
    stayed.filter((path) => mayCache(path) && !roots.has(path)),
  );
  const fitting = [...roots.values()].filter(({ path }) => hasRoomFor(layout, path));
  const kept = await putBack(own, place.path, dependencies.set, fitting);
  settlePlace(place, commit, slot.index);
  const mayStayInside = (): boolean => keep?.rest === "stays";
  const unfilled = await refillSubmodules(mergeRepo, place, { plan, state: `${slot.index}.modules`, mayStayInside });
  const empty = unfilled.length === 0 ? {} : { unfilled };
  await noteLeftFiles(slot.index, { form: attributes, root: place.path, files });
  if (kept === undefined) {
    // A command wrote to the private copy: setup has to run again.
    await slot.kept.dropAll();
    return {
      form: rules.digest,
      path: place.path,
      kept: [],
      cached: texts(cached),
      installOn: (await dependenciesOf(mergeRepo, filling)).installOn,
      ...empty,
    };
  }
  return {
    form: rules.digest,
    path: place.path,
    kept: texts(kept),
    cached: texts(cached),
    installOn: kept.length > 0 ? null : dependencies.installOn,
    ...empty,
  };
}

const openCheckout = (
  { repository, scratch }: MergeRepository,
  { slot, commit, rules }: Pick<Filling, "slot" | "commit" | "rules">,
): OwnDir =>
  openOwnDir({
    repository,
    scratch,
    head: commit,
    index: slot.index,
    workTree: slot.path,
    objects: "project",
    files: rules,
  });

const textOf = (path: string): string => Buffer.from(path, "latin1").toString();
const texts = (paths: readonly string[]): readonly string[] => paths.map(textOf).toSorted();

const isOfRoot = (root: KeptRoot | undefined, stat: Stats): boolean =>
  root !== undefined && (root.kind === "dir" ? stat.isDirectory() : !stat.isDirectory());

/** Undefined when the private copy is not what was made. */
async function putBack(
  own: OwnDir,
  root: string,
  set: KeptSet | undefined,
  roots: readonly KeptRoot[],
): Promise<readonly string[] | undefined> {
  if (set === undefined) return [];
  // Git can only say whether an existing path is ignored.
  for (const { path, kind } of roots) {
    const place = below(root, path);
    if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) continue;
    if (kind === "dir") mkdirSync(place);
    else writeFileSync(place, "");
  }
  const paths = await onlyIgnored(
    own,
    root,
    roots.map(({ path }) => path),
  );
  try {
    await set.restore(
      root,
      roots.filter(({ path }) => paths.includes(path)),
    );
    return paths;
  } catch (error) {
    if (!(error instanceof Tampered)) throw error;
    for (const path of paths) remove(root, path);
    return undefined;
  }
}

/** Removes paths that the commit does not ignore: git would show them as untracked files. */
async function onlyIgnored(own: OwnDir, root: string, paths: readonly string[]): Promise<readonly string[]> {
  const ignored = await ignoredOf(own, paths);
  for (const path of paths) if (!ignored.includes(path)) remove(root, path);
  return ignored;
}

async function ignoredOf(own: OwnDir, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const stdin = Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
  const answer = await own.git(["check-ignore", "-z", "--stdin"], { stdin, env: { GIT_LITERAL_PATHSPECS: "0" } });
  // One: none of them is.
  if (answer.code > 1) expectGit(answer, "asking what is ignored");
  const ignored = new Set(zeroEnded(answer.raw).map((path) => path.toString("latin1")));
  return paths.filter((path) => ignored.has(path));
}

/** A digest of everything but its content that decides how a file is written: attributes and filters. */
function attributesHash(files: readonly TrackedFile[], { digest }: FileRules): string {
  const hash = new Bun.CryptoHasher("sha256").update(digest);
  for (const { path, oid } of files) if (nameOf(path) === ".gitattributes") hash.update(`${oid}\t${path}\0`, "latin1");
  return hash.digest("hex").slice(0, 16);
}

/** What belongs to one slot of the pool. Commands in the checkout could write to all of it. */
interface Slot {
  /** The checkout. */
  readonly path: string;
  /** Git's list of the files in the checkout; `LeftFiles` says when it is believed. */
  readonly index: string;
  /** What setup installed here. */
  readonly kept: KeptSets;
  forget(): void;
}

function openSlot(poolDir: string, slot: number): Slot {
  const pool = usable(poolDir);
  const state = usable(join(pool, "state"));
  usable(join(pool, keptName));
  const index = join(state, `${slot}.index`);
  // A git command that was killed leaves the lock behind. No other process uses this index.
  removeAll(`${index}.lock`);
  const kept = keptSets(pool, slot);
  return {
    path: join(pool, String(slot)),
    index,
    kept,
    forget: () => {
      for (const path of [index, `${index}.modules`]) removeAll(path);
      kept.forgetPlace();
    },
  };
}

/**
 * The real path of a directory of ours that we can use, whatever a command did to it. A link in its place is taken away,
 * never followed: places are deleted in here. The directories above it may be reached through links.
 */
function usable(dir: string): string {
  if (lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) removeAll(dir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const real = realpathSync(dir);
  if ((lstatSync(real).mode & 0o700) !== 0o700) chmodSync(real, 0o700);
  return real;
}
