import { rmSync } from "node:fs";
import type { PoolCheckout } from "../../../ports/merge-git.ts";
import { expectGit, zeroEnded } from "../git.ts";
import { type OwnDir, openOwnDir } from "../own-dir.ts";
import type { Ground } from "./ground.ts";
import { lockHash } from "./kept.ts";
import { makePlace, type PoolPlace, placeAt, settlePlace } from "./pool-place.ts";
import { openSlot, type Slot } from "./slot.ts";
import { hasRoomFor, keepRule, type Layout, layoutOf, remove, sweep } from "./sweep.ts";
import { nameOf, type TrackedFile, trackedFiles } from "./tracked.ts";

export interface CheckOutRequest {
  readonly poolDir: string;
  readonly slot: number;
  readonly commit: string;
  readonly keepIgnored: readonly string[];
}

/**
 * Checks a commit out in a slot. Commands of agents ran there before, so nothing they could have written is believed:
 * the index that says which files are unchanged lies elsewhere, and a slot that resists is made anew.
 */
export async function checkOut(ground: Ground, request: CheckOutRequest): Promise<PoolCheckout> {
  const { poolDir, commit, keepIgnored } = request;
  const files = await trackedFiles(ground, commit);
  const slot = openSlot(poolDir, request.slot);
  const filling = { slot, commit, files, mayKeep: keepRule(keepIgnored) };
  const place = placeAt(ground, slot.path);
  if (place !== undefined) {
    try {
      return await fill(ground, place, filling);
    } catch {
      // Whatever is wrong with it, a new one does not have it; what is wrong with the commit is met again below.
    }
  }
  slot.forget();
  return await fill(ground, await makePlace(ground, slot.path, commit), filling);
}

interface Filling {
  readonly slot: Slot;
  readonly commit: string;
  readonly files: readonly TrackedFile[];
  readonly mayKeep: (path: string) => boolean;
}

async function fill(ground: Ground, place: PoolPlace, filling: Filling): Promise<PoolCheckout> {
  const { slot, commit, files, mayKeep } = filling;
  const layout = layoutOf(files);
  const locks = lockHash(files);
  const attributes = attributesHash(files);
  const before = slot.read();
  if (before !== undefined && before.locks !== locks) await putAway(ground, filling, before);
  const stayed = sweep(place.path, layout, before?.locks === locks ? mayKeep : () => false);
  if (before?.attributes !== attributes) rmSync(slot.index, { force: true });
  slot.write({ commit, locks, attributes });
  using own = openOwnDir({
    repository: ground.repository,
    scratch: ground.scratch,
    head: commit,
    refs: ground.repository.commonDir,
    index: slot.index,
    workTree: place.path,
    objects: "project",
    files: "checkout",
  });
  expectGit(await own.git(["read-tree", "--reset", "-u", commit]), "writing the files");
  const returned = slot.kept.bringBack(place.path, locks, (path) => mayKeep(path) && hasRoomFor(layout, path));
  const kept = await onlyIgnored(own, place.path, [...stayed, ...returned]);
  settlePlace(place, commit, slot.index);
  return { path: place.path, kept: kept.map((path) => Buffer.from(path, "latin1").toString()).toSorted() };
}

/** With the files of the commit that was there before, so that directories only it had room for are found too. */
async function putAway(
  ground: Ground,
  { slot, mayKeep }: Filling,
  before: { commit: string; locks: string },
): Promise<void> {
  const layout: Layout = layoutOf(await trackedFiles(ground, before.commit));
  slot.kept.putAway(slot.path, sweep(slot.path, layout, mayKeep), before.locks);
}

/** Takes away what the commit does not ignore: there it would be an untracked file of nobody. */
async function onlyIgnored(own: OwnDir, root: string, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const stdin = Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
  const answer = await own.git(["check-ignore", "-z", "--stdin"], { stdin, env: { GIT_LITERAL_PATHSPECS: "0" } });
  // One: none of them is.
  if (answer.code > 1) expectGit(answer, "asking what is ignored");
  const ignored = new Set(zeroEnded(answer.raw).map((path) => path.toString("latin1")));
  for (const path of paths) if (!ignored.has(path)) remove(root, path);
  return paths.filter((path) => ignored.has(path));
}

function attributesHash(files: readonly TrackedFile[]): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const { path, oid } of files) if (nameOf(path) === ".gitattributes") hash.update(`${oid}\t${path}\0`, "latin1");
  return hash.digest("hex").slice(0, 16);
}
