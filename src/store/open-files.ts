import { Database } from "bun:sqlite";
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Failure } from "../domain/failure.ts";

/**
 * SQLite keeps two files beside an open database: its log, which holds the newest commits, and the index of the log. A
 * process that has them open goes on using them after they were deleted. A process that opens the database then makes
 * new ones, and neither sees what the other writes: commits are lost, and the database may be damaged. So no process of
 * ours makes new ones while another process has the database open without them.
 */
const ends = ["-wal", "-shm"] as const;

/** How long a process waits until those have let go that use deleted files. Supervisors look every few seconds. */
const patienceMs = 8_000;
const pauseMs = 10;

interface OpenOptions {
  /** False: the caller itself waits until other processes have let go of deleted files. */
  readonly waits?: boolean;
  /** The first use, which reads and writes nothing: SQLite opens or makes the two files with it, and not before. */
  readonly use?: (db: Database) => void;
}

/**
 * Opens the database, as soon as no other process uses deleted files of it. The files may be deleted between that look
 * and the first use, which then makes new ones. So it looks again after the first use, and takes them back.
 */
export function openDatabase(
  path: string,
  access: "read" | "write" | "create",
  { waits = true, use = () => {} }: OpenOptions = {},
): Database {
  const deadline = performance.now() + (waits ? patienceMs : 0);
  for (let isKnown = false; ; ) {
    const before = filesOf(path);
    let holders = isKnown ? usersOfOldOnes(path) : usersOfDeleted(path);
    if (holders.length === 0) {
      const mode = access === "read" ? { readonly: true } : { readwrite: true, create: access === "create" };
      const db = new Database(path, mode);
      try {
        use(db);
        holders = before.standing() === "replaced" ? usersOfOldOnes(path) : [];
        if (holders.length === 0) return db;
        isKnown = true;
      } catch (error) {
        db.close();
        throw error;
      }
      takeBack(path, db, deadline);
    }
    if (performance.now() > deadline) throw lost(path, holders);
    Bun.sleepSync(pauseMs);
  }
}

/**
 * Removes the files that this connection has just made, unless another process has written into them meanwhile. A
 * process that only has them open would write into deleted files, so it may end first.
 */
function takeBack(path: string, db: Database, deadline: number): void {
  db.close();
  const database = realpathSync(path);
  const aside = `${database}.taken-back-${process.pid}`;
  for (;;) {
    if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
    const isUsed = (at: string): boolean =>
      lockHoldersOf(
        path,
        ends.map((end) => at + end),
      ).length > 0;
    if (!isUsed(database)) {
      // A process that opens them after that look still has them when they are put back.
      const moved = ends.filter((end) => unlessMissing(() => renameSync(database + end, aside + end)));
      const isLate = isUsed(aside);
      for (const end of moved) {
        if (isLate) unlessThere(() => linkSync(aside + end, database + end));
        rmSync(aside + end, { force: true });
      }
      if (!isLate) return;
    }
    if (performance.now() > deadline) return;
    Bun.sleepSync(pauseMs);
  }
}

/** False when there was no such file. */
const unlessMissing = (act: () => void): boolean => unless("ENOENT", act);

/** False when another process was faster. */
const unlessThere = (act: () => void): boolean => unless("EEXIST", act);

function unless(expected: string, act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === expected) return false;
    throw error;
  }
}

/**
 * ours      the files beside the database are those that this process has open
 * deleted   no other program has made new ones
 * replaced  another program has made new ones, and may have written
 */
export type FilesStanding = "ours" | "deleted" | "replaced";

/** The files that a connection has open which has just been used for the first time. */
export interface OpenFiles {
  standing(): FilesStanding;
  /** The newest commits are in a file that ends with the processes which have it open. */
  logIsDeleted(): boolean;
}

export function filesOf(path: string): OpenFiles {
  const before = ends.map((end) => identityOf(path + end));
  return {
    standing: () => {
      let standing: FilesStanding = "ours";
      for (const [at, end] of ends.entries()) {
        if (before[at] === undefined) continue;
        const now = identityOf(path + end);
        if (now === undefined) standing = "deleted";
        else if (now !== before[at]) return "replaced";
      }
      return standing;
    },
    logIsDeleted: () => identityOf(`${path}-wal`) === undefined,
  };
}

/** The failure of a process whose files were replaced. It must not close its connection either. */
export function replaced(path: string): Failure {
  leaveOpen();
  return lost(path, []);
}

/**
 * A connection whose files were replaced is never closed: as the last one to do so, it would copy what its own index
 * says into the database, and delete the log that others wrote. Bun closes every connection when a process exits, so
 * this process will be killed instead.
 */
export function leaveOpen(): void {
  if (!isDoomed) process.on("exit", () => process.kill(process.pid, "SIGKILL"));
  isDoomed = true;
}

let isDoomed = false;

const lost = (path: string, holders: readonly number[]): Failure =>
  new Failure({
    kind: "store-index-lost",
    path,
    files: ends.map((end) => path + end).filter((file) => holders.length === 0 || identityOf(file) === undefined),
    holders,
  });

/**
 * Other processes that have the database open although its log or index is not there. The kernel stops all processors
 * for its list of locks, which takes longer than a whole command. So it is asked only where one of the two files is
 * missing, which only a person brings about, or where an engine or a turn is on record as alive: the last process that
 * closes a database deletes both.
 */
function usersOfDeleted(path: string): readonly number[] {
  if (process.platform !== "linux") return [];
  const missing = ends.filter((end) => identityOf(path + end) === undefined);
  if (missing.length === 0 || (missing.length === ends.length && !isInUse(dirname(path)))) return [];
  return existsSync(path) ? lockHoldersOf(path, [realpathSync(path)]) : [];
}

/** Other processes that have a deleted log or index open. The names are those that the kernel gives deleted files. */
const usersOfOldOnes = (path: string): readonly number[] =>
  lockHoldersOf(
    path,
    ends.map((end) => `${realpathSync(path)}${end} (deleted)`),
  );

/** The other processes that hold a lock on the database and have one of these files open. */
function lockHoldersOf(path: string, files: readonly string[]): readonly number[] {
  const database = process.platform === "linux" ? statSync(path, { throwIfNoEntry: false }) : undefined;
  if (database === undefined) return [];
  const pids = lockHolders(String(database.ino));
  pids.delete(process.pid);
  return [...pids].filter((pid) => hasOpen(pid, files));
}

/** Does an engine live that wrote its number down here, or the agent of a turn? Turns go on when their engine dies. */
function isInUse(state: string): boolean {
  return isAlive(join(state, "run", "engine.json")) || turnFilesIn(join(state, "agents")).some(isAlive);
}

function turnFilesIn(agents: string): readonly string[] {
  try {
    return readdirSync(agents).map((name) => join(agents, name, "turn.pid"));
  } catch {
    // No agent has ever had a turn.
    return [];
  }
}

/** Is the process there whose number is in the file? */
function isAlive(file: string): boolean {
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
    const { pid } = JSON.parse(readFileSync(file, "utf8")) as { pid?: unknown };
    return typeof pid === "number" && existsSync(`/proc/${pid}`);
  } catch {
    return false;
  }
}

/** What the kernel gives in one piece of its list of locks. */
const pieceBytes = 4_096;
const longListReads = 6;

/**
 * The processes that hold a lock on the file. The kernel gives a long list in pieces, and a lock that others take or
 * drop between two pieces can hide one that was there all the time, so a long list is read several times.
 */
function lockHolders(inode: string): Set<number> {
  const pids = new Set<number>();
  for (let reads = 1; reads <= longListReads; reads++) {
    const list = readFileSync("/proc/locks", "utf8");
    for (const [, pid, file] of list.matchAll(/POSIX +\S+ +\S+ +(\d+) \S+:(\d+) /g)) {
      if (file === inode) pids.add(Number(pid));
    }
    if (list.length < pieceBytes - lineBytes) break;
  }
  return pids;
}

/** No line of the list is longer: a piece with less than this to spare may be followed by another. */
const lineBytes = 128;

/** Another file system may have a file with the same number. What another user's process has open is not shown. */
function hasOpen(pid: number, files: readonly string[]): boolean {
  const unlessGone = <T>(look: () => T): T | undefined => {
    try {
      return look();
    } catch (error) {
      if (error instanceof Error && "code" in error) return undefined;
      throw error;
    }
  };
  const open = unlessGone(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return open.some((fd) => files.includes(unlessGone(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? ""));
}

function identityOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}
