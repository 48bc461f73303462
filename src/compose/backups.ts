import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { databaseName } from "../domain/project/place.ts";
import { freshPath, removeAll } from "../host/git/trash.ts";
import { databaseIn, hasDatabase, packedIn } from "../host/project-place.ts";
import { copyDatabase, restoreDatabase, restoreWhole } from "../store/backup.ts";

/** So many copies of the database are kept. Commits and files that exist nowhere else stay in every backup. */
const mostCopies = 3;

/** What of a backup can be made again from nothing, or is worth nothing without its copy of the database. */
const spare = [`${databaseName}.gz`, databaseName, "agents", "specs", "spec-texts", "mail-blobs", "logs"];

/** Makes a directory for a backup with a packed copy of the database in it; a copy takes a fraction of its size. */
export function makeBackup(state: string, stamp: string): string {
  const dir = freshPath(join(state, "backups", stamp));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (!hasDatabase(state)) return dir;
  const plain = join(dir, `${databaseName}.copy`);
  copyDatabase(databaseIn(state), plain);
  writeFileSync(packedIn(dir), Bun.gzipSync(new Uint8Array(readFileSync(plain))), { mode: 0o600 });
  rmSync(plain);
  return dir;
}

/** Deletes the parts listed in `spare` from all backups but the newest ones, and backups that are empty after that. */
export function boundBackups(state: string): void {
  const all = join(state, "backups");
  const names = existsSync(all) ? readdirSync(all).toSorted() : [];
  for (const name of names.slice(0, -mostCopies)) {
    const dir = join(all, name);
    for (const part of spare) removeAll(join(dir, part));
    if (readdirSync(dir).length === 0) removeAll(dir);
  }
}

/** Brings rows of the copy back, or all of it where there is no database any more. Answers how many rows. */
export function restoreRows(state: string, dir: string): number {
  const bringBack = hasDatabase(state) ? restoreDatabase : restoreWhole;
  if (hasDatabase(dir)) return bringBack(databaseIn(state), databaseIn(dir));
  if (!existsSync(packedIn(dir))) return 0;
  const plain = join(dir, `${databaseName}.copy`);
  writeFileSync(plain, Bun.gunzipSync(new Uint8Array(readFileSync(packedIn(dir)))), { mode: 0o600 });
  try {
    return bringBack(databaseIn(state), plain);
  } finally {
    for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(plain + end, { force: true });
  }
}
