import {
  type BigIntStats,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { ifThere } from "../../file-access.ts";
import { below } from "../merge/tracked.ts";

/**
 * The change at one path of a checkout. Paths are bytes as latin1.
 *
 * write   the staged file takes the place of the old file
 * remove  the old file goes
 * dir     a submodule comes: git makes an empty directory for it
 * no-dir  a submodule goes: its directory goes with it when it is empty
 */
export interface FileStep {
  readonly path: string;
  readonly kind: "write" | "remove" | "dir" | "no-dir";
  /** What was there when everything was verified; null when nothing was. */
  readonly before: string | null;
  /** The staged file. */
  readonly staged: string | null;
}

export interface FilePlaces {
  readonly checkout: string;
  /** Holds `files`, the new files by their paths, and `aside`, the old ones by the number of their step. */
  readonly dir: string;
}

/** Tells a file from any other, and from itself after it was written to. Moving it does not change the answer. */
export function stampOf(path: string | Buffer): string | null {
  const stat = lookAt(path);
  return stat === undefined ? null : [stat.ino, stat.size, stat.mtimeNs, stat.mode].join(":");
}

/** A path that is not as it was verified: another program wrote there. */
export class TakenPath extends Error {
  readonly path: string;
  constructor(path: string) {
    super(`${path} was changed meanwhile`);
    this.path = path;
  }
}

const stagedAt = ({ dir }: Pick<FilePlaces, "dir">, path: string): Buffer => below(`${dir}/files`, path);
const asideAt = ({ dir }: Pick<FilePlaces, "dir">, number: number): string => `${dir}/aside/${number}`;

/** The directories on the way to a path must be directories, or not be there; a link would lead out of the checkout. */
export function notADirectoryAbove(checkout: string, path: string): string | undefined {
  return parentsOf(path).find((parent) => {
    const stat = lookAt(below(checkout, parent));
    return stat !== undefined && !stat.isDirectory();
  });
}

/**
 * Does one step, or the rest of one. The old file is put aside and compared before the new one takes its place, and the
 * new one never takes the place of anything: so no file that a person wrote since the verification is overwritten.
 */
export function doStep(places: FilePlaces, step: FileStep, number: number, onGap: () => void): void {
  const here = below(places.checkout, step.path);
  switch (step.kind) {
    case "dir":
      makeParents(places.checkout, step.path);
      if (!existsAt(here)) mkdirSync(here);
      return;
    case "no-dir":
      emptyDirectoryGone(here);
      removeEmptyAbove(places.checkout, step.path);
      return;
    case "remove":
      putAside(places, step, number);
      removeEmptyAbove(places.checkout, step.path);
      return;
    case "write": {
      const staged = stagedAt(places, step.path);
      if (!existsAt(staged)) return;
      makeParents(places.checkout, step.path);
      if (isSameFile(here, staged) || (stampOf(here) !== step.before && isEqual(here, staged))) {
        unlinkSync(staged);
        return;
      }
      putAside(places, step, number);
      onGap();
      place(staged, here, step.path);
    }
  }
}

function putAside(places: FilePlaces, step: FileStep, number: number): void {
  const here = below(places.checkout, step.path);
  const aside = asideAt(places, number);
  if (!existsAt(aside)) {
    const found = stampOf(here);
    if (found === null || emptyDirectoryGone(here)) return;
    if (found !== step.before || notADirectoryAbove(places.checkout, step.path) !== undefined) {
      throw new TakenPath(step.path);
    }
    renameSync(here, aside);
  }
  if (stampOf(aside) === step.before) return;
  // It was written to in the instant before it was moved.
  putBack(aside, here);
  throw new TakenPath(step.path);
}

/** Afterwards the staged file is only in its place. It never takes the place of another file. */
function place(staged: Buffer, here: Buffer, path: string): void {
  try {
    linkSync(staged, here);
    unlinkSync(staged);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw new TakenPath(path);
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP"].includes(codeOf(error))) throw error;
    // A file system without hard links.
    if (existsAt(here)) throw new TakenPath(path);
    renameSync(staged, here);
  }
}

/** Undoes one step, or what was done of it. Answers false when another program has written to the new file: it stays. */
export function undoStep(places: FilePlaces, step: FileStep, number: number): boolean {
  const here = below(places.checkout, step.path);
  const aside = asideAt(places, number);
  switch (step.kind) {
    case "dir":
      if (step.before === null) emptyDirectoryGone(here);
      return true;
    case "no-dir":
      makeParents(places.checkout, step.path);
      if (!existsAt(here)) mkdirSync(here);
      return true;
    case "remove":
      if (!existsAt(aside)) return true;
      makeParents(places.checkout, step.path);
      putBack(aside, here);
      return true;
    case "write": {
      const staged = stagedAt(places, step.path);
      const isOurs = existsAt(staged) ? isSameFile(here, staged) : stampOf(here) === step.staged;
      if (existsAt(here) && !isOurs) return !existsAt(aside) && stampOf(here) === step.before;
      if (isOurs) unlinkSync(here);
      if (existsAt(aside)) putBack(aside, here);
      else removeEmptyAbove(places.checkout, step.path);
      return true;
    }
  }
}

/** If another file has taken the path meanwhile, the file that was moved away is put beside it, and over nothing. */
function putBack(aside: string, here: Buffer): void {
  let free = here;
  for (let nth = 0; existsAt(free); nth++) {
    free = Buffer.concat([here, Buffer.from(nth === 0 ? ".before-promote" : `.before-promote.${nth}`)]);
  }
  renameSync(aside, free);
}

function makeParents(checkout: string, path: string): void {
  const taken = notADirectoryAbove(checkout, path);
  if (taken !== undefined) throw new TakenPath(taken);
  const parent = parentsOf(path).at(-1);
  if (parent !== undefined) mkdirSync(below(checkout, parent), { recursive: true });
}

function removeEmptyAbove(checkout: string, path: string): void {
  for (const parent of parentsOf(path).toReversed()) {
    const dir = below(checkout, parent);
    if (lookAt(dir)?.isDirectory() !== true || !removeIfEmpty(dir)) return;
  }
}

function removeIfEmpty(dir: Buffer): boolean {
  if (readdirSync(dir, { encoding: "buffer" }).length > 0) return false;
  rmdirSync(dir);
  return true;
}

/** An empty directory is nothing to git, and gives way. */
const emptyDirectoryGone = (path: Buffer): boolean => lookAt(path)?.isDirectory() === true && removeIfEmpty(path);

function isSameFile(one: Buffer, other: Buffer): boolean {
  const [a, b] = [one, other].map(lookAt);
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

function isEqual(one: Buffer, other: Buffer): boolean {
  const [a, b] = [one, other].map(lookAt);
  if (a === undefined || b === undefined || a.size !== b.size) return false;
  if (a.isSymbolicLink() && b.isSymbolicLink()) return readlinkSync(one, "latin1") === readlinkSync(other, "latin1");
  if (!a.isFile() || !b.isFile() || (a.mode & 0o100n) !== (b.mode & 0o100n)) return false;
  return readFileSync(one).equals(readFileSync(other));
}

/** Outermost first. */
export function parentsOf(path: string): readonly string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}

const existsAt = (path: string | Buffer): boolean => lookAt(path) !== undefined;

const lookAt = (path: string | Buffer): BigIntStats | undefined =>
  ifThere(() => lstatSync(path, { throwIfNoEntry: false, bigint: true }));

const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "");
