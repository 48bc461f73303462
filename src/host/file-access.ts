import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { Failure } from "../domain/failure.ts";
import { remountAdvice } from "../domain/store-trouble.ts";

/** What lies at a path, at the end of its links; undefined when nothing does. */
export const statIfThere = (path: string): Stats | undefined =>
  ifThere(() => statSync(path, { throwIfNoEntry: false }));

/** The same for the path itself: a link is not followed. */
export const lstatIfThere = (path: string | Buffer): Stats | undefined =>
  ifThere(() => lstatSync(path, { throwIfNoEntry: false }));

/** The result of `look` at a path; undefined when the path does not exist. */
export function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (leadsNowhere(error)) return undefined;
    throw error;
  }
}

/** Settings such as `core.hooksPath=/dev/null` lead through a plain file, and a link may lead to itself. */
const leadsNowhere = (error: unknown): boolean => ["ENOENT", "ENOTDIR", "ELOOP"].includes(errorCode(error) ?? "");

/** The text of a file; undefined when there is none. Anything but a regular file of a sensible size is a failure by name. */
export const readText = (path: string): string | undefined => readBytes(path)?.toString("utf8");

/** The same, for bytes. */
export function readBytes(path: string): Buffer | undefined {
  const file = openRegular(path);
  if (file === undefined) return undefined;
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Opens a file for reading; undefined when there is none. Agents can write most places that we read: to open a pipe would
 * wait for a writer without end, and a device or a huge file would fill the memory.
 */
export function openRegular(path: string, mostBytes = largestFile): number | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (leadsNowhere(error)) return undefined;
    // A socket cannot be opened at all.
    if (errorCode(error) === "ENXIO") throw unusable(path, "it is a socket");
    throw error;
  }
  const stat = fstatSync(file);
  if (stat.isFile() && stat.size <= mostBytes) return file;
  closeSync(file);
  throw unusable(path, stat.isFile() ? `it has ${stat.size} bytes` : `it is a ${sortOf(stat)}`);
}

/** No file that we read in one piece has this size. */
const largestFile = 256 * 1024 * 1024;

const sortOf = (stat: Stats): string => (stat.isDirectory() ? "directory" : stat.isFIFO() ? "pipe" : "device");

const unusable = (path: string, problem: string): Failure => new Failure({ kind: "unusable-file", path, problem });

/** Refuses a path where anything but a regular file, or nothing, would be written to. */
export function expectRegular(path: string): void {
  const stat = statIfThere(path);
  if (stat !== undefined && !stat.isFile()) throw unusable(path, `it is a ${sortOf(stat)}`);
}

/** Replaces a file so that a reader sees the old text or the new one, never a part, whenever we die. */
export function writeAtomically(path: string, text: string, mode = 0o644): void {
  // A directory that is made for a private file is as private as the file.
  mkdirSync(dirname(path), { recursive: true, mode: (mode & 0o077) === 0 ? 0o700 : 0o755 });
  const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2, 8)}.tmp`;
  try {
    writeFileSync(temporary, text, { mode });
    renameSync(temporary, path);
  } catch (error) {
    // On a full disk callers try again and again; each try would leave a file behind.
    rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * Runs an action that writes `path`. Where we may not write, or where something else has the name of a directory above,
 * the failure says so instead of naming a system call.
 */
export function writable<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const code = errorCode(error);
    if (code === "EROFS")
      throw new Failure({ kind: "store-read-only", path: nearestAbove(path), of: "disk" }, { cause: error });
    if (code === "EACCES" || code === "EPERM") {
      throw new Failure({ kind: "store-read-only", path: dirname(path) }, { cause: error });
    }
    const taken = ["EEXIST", "ENOTDIR", "ELOOP"].includes(code ?? "") ? noDirectoryAbove(path) : undefined;
    if (taken !== undefined) throw new Failure({ kind: "not-a-directory", path: taken }, { cause: error });
    throw error;
  }
}

/**
 * The nearest existing directory above a path: `findmnt`, named in the advice about a read-only disk, finds nothing for
 * a missing path.
 */
function nearestAbove(path: string): string {
  const above = dirname(path);
  return lstatIfThere(above) !== undefined || above === path ? above : nearestAbove(above);
}

/** The nearest that there is above a path, when it is no directory. */
function noDirectoryAbove(path: string): string | undefined {
  const above = dirname(path);
  if (isTakenPlace(above)) return above;
  return lstatIfThere(above) === undefined && above !== path ? noDirectoryAbove(above) : undefined;
}

/** Has something else the name of this directory? A link to a directory will do. */
export const isTakenPlace = (dir: string): boolean =>
  lstatIfThere(dir) !== undefined && statIfThere(dir)?.isDirectory() !== true;

/** The code of a system error. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;

/**
 * Makes a directory of the state with at most so many levels, itself included. It never makes the repository around the
 * state: a process that still serves a moved project must make nothing at the old place.
 */
export function makeWithin(dir: string, levels: number): void {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || levels <= 1) throw error;
    makeWithin(dirname(dir), levels - 1);
    makeWithin(dir, 1);
  }
}

/**
 * Is `path`, or a directory between it and `top`, a link? An agent can put a link in the place of a directory of ours;
 * files behind the link are not ours to write or delete.
 */
export function isBehindLink(top: string, path: string): boolean {
  for (let at = path; at.length > top.length; at = dirname(at))
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true) return true;
  return false;
}

/** A sentence for a person when the disk with this directory is full or read-only; undefined when it takes more. */
export function fullDiskWords(state: string): string | undefined {
  // A clone brings no state directory; the first command that writes makes it.
  if (!existsSync(state)) return undefined;
  if (isReadOnlyDisk(state)) {
    return `the disk that holds ${state} is mounted read-only, so nothing can go on; ${remountAdvice(state)}`;
  }
  if (!isDiskFull(state)) return undefined;
  return `the disk that holds ${state} is full, so nothing can go on; make room, and it goes on by itself`;
}

export function isDiskFull(dir: string): boolean {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize < leastFreeBytes;
}

/** Also root is told so. A directory that only this user may not write is another matter. */
function isReadOnlyDisk(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return false;
  } catch (error) {
    return errorCode(error) === "EROFS";
  }
}

/** A database that cannot grow by this much cannot take a transaction. */
const leastFreeBytes = 256 * 1024;
