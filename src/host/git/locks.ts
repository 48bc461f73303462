import { lstatSync, rmSync, type Stats } from "node:fs";
import { shellWord } from "../../domain/text/shell-word.ts";
import { type LockHolder, lockHolder } from "../linux/lock-holder.ts";

/** A lock file that git made, or could have made, where we want to write. */
export interface LockPlace {
  readonly path: string;
  /** The git directory whose commands make it. */
  readonly gitDir: string;
}

export interface HeldLock {
  readonly path: string;
  /** Which file, who holds it, and what to do, as a sentence for a person. */
  readonly problem: string;
}

export interface LockWaiting {
  readonly patienceMs?: number;
  /** Hears of each lock file that was removed: it was not ours, so a person is to know. */
  readonly onRemoved?: ((path: string) => void) | undefined;
}

/**
 * Waits until none of these lock files exists. A lock file that no living process can hold is removed: its process died,
 * and no other process removes it. Answers the lock that is still held when our patience ends.
 */
export async function waitForLocks(
  places: readonly LockPlace[],
  { patienceMs = defaultPatienceMs, onRemoved }: LockWaiting = {},
): Promise<HeldLock | undefined> {
  const until = performance.now() + patienceMs;
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, 250)) {
    const held = places.find((place) => lockAt(place.path) !== undefined && !removeIfStale(place, onRemoved));
    if (held === undefined) return undefined;
    if (performance.now() > until) return { path: held.path, problem: wordsFor(held) };
    await Bun.sleep(pauseMs);
  }
}

/** Git commands hold a lock for milliseconds. A command that waits for an editor is named, not waited for. */
const defaultPatienceMs = 8_000;

/** Younger than this, its holder may be a process that the system has not shown yet. */
const youngMs = 3_000;

function removeIfStale(place: LockPlace, onRemoved: LockWaiting["onRemoved"]): boolean {
  const found = lockAt(place.path);
  if (found === undefined) return true;
  if (ageOf(found) < youngMs || holderOf(place, found).kind !== "nobody") return false;
  const now = lockAt(place.path);
  if (now === undefined) return true;
  if (now.ino !== found.ino || now.mtimeMs !== found.mtimeMs) return false;
  rmSync(place.path, { force: true });
  onRemoved?.(place.path);
  return true;
}

function wordsFor(place: LockPlace): string {
  const found = lockAt(place.path);
  const holder: LockHolder = found === undefined ? { kind: "nobody" } : holderOf(place, found);
  if (holder.kind === "process") {
    return `${place.path} is held by "${holder.command}" (process ${holder.pid}), which still runs; wait until it has ended, or end it`;
  }
  return `${place.path} is there, and no process that we can see holds it; if no git command runs there, remove it: rm ${shellWord(place.path)}`;
}

const holderOf = ({ path, gitDir }: LockPlace, found: Stats): LockHolder =>
  lockHolder({ path, gitDir, ageMs: ageOf(found) });

const ageOf = ({ mtimeMs }: Stats): number => Date.now() - mtimeMs;

const lockAt = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });
