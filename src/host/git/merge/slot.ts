import { lstatSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type KeptSets, keptSets } from "./kept-set.ts";

/** What we know about one slot of the pool. It lies outside the checkout, where its commands have no business. */
export interface Slot {
  /** The checkout. */
  readonly path: string;
  /** Which files of the checkout are unchanged since we wrote them. */
  readonly index: string;
  /** What setup installed here. */
  readonly kept: KeptSets;
  /** Undefined when nothing in it can be relied on. */
  read(): SlotState | undefined;
  write(state: SlotState): void;
  forget(): void;
}

/** What a slot was last filled with. */
export interface SlotState {
  readonly commit: string;
  /** The attribute files: they decide how files look whose content is the same. */
  readonly attributes: string;
}

export function openSlot(poolDir: string, slot: number): Slot {
  mkdirSync(join(poolDir, "state"), { recursive: true, mode: 0o700 });
  const pool = realpathSync(poolDir);
  const index = join(pool, "state", `${slot}.index`);
  const file = join(pool, "state", `${slot}.filled`);
  // A git that was killed leaves it behind; nobody else uses this index.
  rmSync(`${index}.lock`, { force: true });
  const kept = keptSets(pool, slot);
  return {
    path: join(pool, String(slot)),
    index,
    kept,
    read: () => readState(file),
    write: ({ commit, attributes }) => {
      writeFileSync(`${file}.new`, `${commit}\n${attributes}\n`, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    },
    forget: () => {
      for (const path of [file, index]) rmSync(path, { force: true });
      kept.forgetPlace();
    },
  };
}

function readState(file: string): SlotState | undefined {
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const [commit = "", attributes = ""] = readFileSync(file, "utf8").split("\n");
  return attributes === "" ? undefined : { commit, attributes };
}
