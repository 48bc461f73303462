import { chmodSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { removeAll } from "../work/trash.ts";
import { type KeptSets, keptSets } from "./kept-set.ts";

/** What belongs to one slot of the pool. Commands in the checkout could write to all of it. */
export interface Slot {
  /** The checkout. */
  readonly path: string;
  /** Git's list of the files in the checkout; see `left-files.ts` for when it is believed. */
  readonly index: string;
  /** What setup installed here. */
  readonly kept: KeptSets;
  forget(): void;
}

export function openSlot(poolDir: string, slot: number): Slot {
  const pool = usable(poolDir);
  const state = usable(join(pool, "state"));
  const index = join(state, `${slot}.index`);
  // A git that was killed leaves it behind; nobody else uses this index.
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

/** The real path of a directory of ours that we can use, whatever a command did to it. */
function usable(dir: string): string {
  // The pool itself may be reached through a link.
  const found = lstatSync(dir, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory() && !found.isSymbolicLink()) removeAll(dir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const real = realpathSync(dir);
  if ((lstatSync(real).mode & 0o700) !== 0o700) chmodSync(real, 0o700);
  return real;
}
