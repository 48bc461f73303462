import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { databaseName, type ProjectPlace } from "../../domain/project/place.ts";
import { targetDirs } from "../../domain/worktree/classify.ts";
import type { BroughtBack, CleanFiles } from "../../ports/clean-files.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DatabaseCopies } from "../../ports/database-files.ts";
import type { WorktreeKeeping } from "../../ports/worktrees.ts";
import { freshPath, removeAll, workMark } from "../git/work/trash.ts";
import { databaseIn, hasCopy, hasDatabase, newestBackup, packedIn, sharedDir } from "../project-place.ts";
import { putDatabaseAside } from "./damaged-database.ts";

const bundle = "branches.bundle";

export interface CleanTerms {
  readonly place: ProjectPlace;
  readonly worktrees: Pick<WorktreeKeeping, "bundle" | "unbundle">;
  readonly database: DatabaseCopies;
  readonly clock: Clock;
}

/** The files and backups of a project that cleaning works on. */
export function cleanFiles(terms: CleanTerms): CleanFiles {
  const { place, worktrees, database, clock } = terms;
  const { root, state } = place;
  return {
    count: async (dir) => homesOf(place, dir).flatMap(({ path }) => entriesOf(path)).length,
    backups: () => entriesOf(join(state, "backups")),
    newestBackup: () => newestBackup(state),
    hasCopy: (name) => hasCopy(join(state, "backups", name)),
    isDatabaseRuined: () => hasDatabase(state) && database.isRuined(databaseIn(state)),
    bringBack: (name) => bringBack(terms, name),
    shrinkDatabase: () => {
      if (hasDatabase(state)) database.shrinkDatabase(databaseIn(state));
    },
    backUp: async (refs) => {
      const stamp = new Date(clock.now()).toISOString().replace(/[:.]/g, "-");
      const dir = makeBackup(state, stamp, database);
      boundBackups(state);
      await worktrees.bundle(join(dir, bundle), refs);
      return { name: relative(join(state, "backups"), dir), path: relative(root, dir) };
    },
    moveTrash: async (path, backup) => {
      const to = freshPath(join(root, backup.path, "trash", basename(path)));
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
      renameSync(path, to);
      return to;
    },
    emptyDir: async ({ dir, backUp }, backup) => {
      for (const { path: from, kept } of homesOf(place, dir)) {
        // Removes the link only: its destination is not ours.
        if (isLink(from)) rmSync(from);
        const to = join(root, backup.path, kept);
        const entries = entriesOf(from);
        for (const name of entries) {
          // Work that no snapshot could hold is nowhere else.
          const holdsWork = dir === "trash" && (name.endsWith(workMark) || entries.includes(`${name}${workMark}`));
          if (!backUp && !holdsWork) removeAll(join(from, name));
          else {
            mkdirSync(to, { recursive: true, mode: 0o700 });
            renameSync(join(from, name), join(to, name));
          }
        }
      }
    },
  };
}

/** Where the entries of a target are, and under which name a backup keeps them. People read specifications in the checkout. */
function homesOf({ root, state }: ProjectPlace, dir: string) {
  const statePath = { path: join(state, dir), kept: dir };
  if (dir !== "specs") return [statePath];
  return [
    { path: join(sharedDir(root), "specs"), kept: "specs" },
    { path: join(state, "specs"), kept: "spec-texts" },
  ];
}

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

const entriesOf = (dir: string): readonly string[] => (existsSync(dir) ? readdirSync(dir) : []);

async function bringBack({ place, worktrees, database, clock }: CleanTerms, name: string): Promise<BroughtBack> {
  const dir = join(place.state, "backups", name);
  const has = (file: string): boolean => existsSync(join(dir, file));
  const refs = has(bundle) ? await worktrees.unbundle(join(dir, bundle)) : [];
  const isRuined = hasDatabase(place.state) && database.isRuined(databaseIn(place.state));
  const putAside = isRuined ? putDatabaseAside(place, clock.now()) : null;
  const rows = restoreRows(place.state, dir, database);
  const files: string[] = [];
  for (const { path: home, kept } of Object.values(targetDirs).flatMap((target) => homesOf(place, target.dir))) {
    for (const entry of entriesOf(join(dir, kept))) {
      if (isLink(home)) rmSync(home);
      if (existsSync(join(home, entry))) continue;
      mkdirSync(home, { recursive: true });
      renameSync(join(dir, kept, entry), join(home, entry));
      files.push(join(kept, entry));
    }
  }
  return { refs, rows, files, putAside };
}

/** So many copies of the database are kept. Commits and files that exist nowhere else stay in every backup. */
const mostCopies = 3;

/** What of a backup can be made again from nothing, or is worth nothing without its copy of the database. */
const spare = [`${databaseName}.gz`, databaseName, "agents", "specs", "spec-texts", "mail-blobs", "logs"];

/** Makes a directory for a backup with a packed copy of the database in it; a copy takes a fraction of its size. */
function makeBackup(state: string, stamp: string, database: DatabaseCopies): string {
  const dir = freshPath(join(state, "backups", stamp));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (!hasDatabase(state)) return dir;
  const plain = join(dir, `${databaseName}.copy`);
  database.copyDatabase(databaseIn(state), plain);
  writeFileSync(packedIn(dir), Bun.gzipSync(new Uint8Array(readFileSync(plain))), { mode: 0o600 });
  rmSync(plain);
  return dir;
}

/** Deletes the parts listed in `spare` from all backups but the newest ones, and backups that are empty after that. */
function boundBackups(state: string): void {
  const all = join(state, "backups");
  const names = existsSync(all) ? readdirSync(all).toSorted() : [];
  for (const name of names.slice(0, -mostCopies)) {
    const dir = join(all, name);
    for (const part of spare) removeAll(join(dir, part));
    if (readdirSync(dir).length === 0) removeAll(dir);
  }
}

/** Brings rows of the copy back, or all of it where there is no database any more. Answers how many rows. */
function restoreRows(state: string, dir: string, database: DatabaseCopies): number {
  const bringBack = hasDatabase(state) ? database.restoreDatabase : database.restoreWhole;
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
