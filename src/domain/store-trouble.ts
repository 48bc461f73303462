import { shellWord } from "./text/shell-word.ts";

/** Why the database cannot be used. */
export type StoreFailure =
  | { readonly kind: "store-lost"; readonly path: string; readonly backup: string | null }
  /** `backup`: the name of a backup to restore, or "newest"; null where there is none. */
  | { readonly kind: "store-corrupt"; readonly path: string; readonly problem: string; readonly backup: string | null }
  | { readonly kind: "store-too-new"; readonly path: string; readonly found: number; readonly known: number }
  /** `disk`: the whole file system is mounted read-only. */
  | { readonly kind: "store-read-only"; readonly path: string; readonly of?: "disk" }
  | { readonly kind: "store-busy"; readonly path: string; readonly waitedMs: number };

/** The problem of the database as a sentence, and the next command to type. */
export interface StoreTrouble {
  readonly says: string;
  readonly next: string;
}

/** The words of every surface about a database that cannot be used. */
export function storeTrouble(failure: StoreFailure): StoreTrouble {
  switch (failure.kind) {
    case "store-lost":
      return {
        says: `the store ${failure.path} is gone or empty, although this project had one`,
        next:
          failure.backup === null
            ? `bring the file back; there is no backup of it. To begin without it: ${beginAnew}`
            : `bring back the newest backup with: ov clean --restore ${failure.backup}, or begin without it: ${beginAnew}`,
      };
    case "store-corrupt":
      return { says: `the store ${failure.path} is damaged: ${failure.problem}`, next: waysOut(failure.backup) };
    case "store-too-new":
      return {
        says: `the store ${failure.path} has version ${failure.found}, this ov knows up to ${failure.known}`,
        next: "install a newer Overstory; this one is: ov --version",
      };
    case "store-read-only":
      return {
        says: `the store ${failure.path} cannot be written`,
        next:
          failure.of === "disk"
            ? `its disk is mounted read-only; ${remountAdvice(failure.path)}`
            : "check who owns the file and its directory, then look again: ov status",
      };
    case "store-busy":
      return {
        says: `the store ${failure.path} was locked by another process for ${failure.waitedMs} ms`,
        next: "try the same command again in a moment",
      };
  }
}

/** Disks become read-only after an error of theirs, or because they were mounted so. */
export const remountAdvice = (path: string): string =>
  `see why with dmesg, and let it be written: mount -o remount,rw "$(findmnt -no TARGET -T ${shellWord(path)})"`;

export const isStoreFailure = <F extends { readonly kind: string }>(failure: F): failure is F & StoreFailure =>
  storeKinds.some((kind) => kind === failure.kind);

const storeKinds: readonly StoreFailure["kind"][] = [
  "store-lost",
  "store-corrupt",
  "store-too-new",
  "store-read-only",
  "store-busy",
];

const beginAnew = "ov init --new-database";

/** Both keep the damaged file. `backup`: its name, or null where there is none. */
export const waysOut = (backup: string | null): string =>
  backup === null
    ? `keep the damaged file aside and begin with an empty database; there is no backup: ${beginAnew}`
    : `keep the damaged file aside and bring back the newest backup: ov clean --restore ${backup}, or begin with an empty database: ${beginAnew}`;
