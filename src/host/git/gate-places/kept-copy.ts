import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  type Stats,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { below } from "../merge/tracked.ts";
import { removeAll } from "../work/trash.ts";
import { remove } from "./sweep.ts";

export interface KeptRoot {
  readonly path: string;
  readonly kind: Kind;
}

/** The private copy of a set: the installed directories and files, and the stat of everything in them. */
export interface CopyRecord {
  readonly roots: readonly KeptRoot[];
  readonly entries: readonly [string, Entry][];
}

type Kind = "file" | "dir" | "link";

/** A command wrote to the private copy: nothing of it can be used. */
export class Tampered extends Error {}

export interface Entry {
  readonly kind: Kind;
  readonly mode: number;
  readonly size: number;
  readonly mtime: number;
  readonly ctime: number;
  readonly inode: number;
}

export type Manifest = Map<string, Entry>;

interface RepairTerms {
  readonly root: string;
  readonly copy: string;
  /** The private copy as it was made. */
  readonly wanted: Manifest;
  readonly children: ReadonlyMap<string, ReadonlySet<string>>;
  /** The checkout as we last left it. */
  readonly before: Manifest;
}

/** One walk over installed directories. It replaces every file that is not as it was installed. */
export class Repair {
  readonly #terms: RepairTerms;
  /** The checkout as it is after the walk. */
  readonly now: Manifest = new Map();
  changed = false;

  constructor(terms: RepairTerms) {
    this.#terms = terms;
  }

  /** Puts a path back as it was installed; the directory it is in must be writable. */
  put(path: string, makeWritable: () => void = () => {}): void {
    const { root, wanted, before } = this.#terms;
    const want = wanted.get(path);
    if (want === undefined) throw new Tampered(`${path} is not on record`);
    const have = entryAt(at(root, path));
    if (want.kind === "dir") {
      this.#putDirectory(path, want, have, makeWritable);
      return;
    }
    const known = before.get(path);
    if (have !== undefined && known !== undefined && isSame(have, known)) {
      this.now.set(path, have);
      return;
    }
    makeWritable();
    this.#replace(path, want);
  }

  #putDirectory(path: string, want: Entry, have: Entry | undefined, makeWritable: () => void): void {
    const { root, children } = this.#terms;
    const place = at(root, path);
    let mode = have?.mode ?? 0;
    if (have?.kind !== "dir") {
      makeWritable();
      remove(root, path);
      mode = 0o700;
      mkdirSync(place, { mode });
    }
    const allow = (needed: number): void => {
      if ((mode & needed) === needed) return;
      mode |= 0o700;
      chmodSync(place, mode);
    };
    allow(0o500);
    const names = children.get(path) ?? new Set<string>();
    for (const name of namesIn(place)) {
      const inside = `${path}/${name}`;
      if (names.has(inside)) continue;
      allow(0o700);
      remove(root, inside);
    }
    for (const inside of names) this.put(inside, () => allow(0o700));
    if (mode !== want.mode) chmodSync(place, want.mode);
  }

  #replace(path: string, want: Entry): void {
    const { root, copy } = this.#terms;
    const [from, to] = [at(copy, path), at(root, path)];
    mustBe(want, from, path);
    remove(root, path);
    copyEntry(from, to, want);
    // Checked again after the copy, so that the copied file is the one on record.
    mustBe(want, from, path);
    const made = entryAt(to);
    if (made !== undefined) this.now.set(path, made);
    this.changed = true;
  }
}

function mustBe(want: Entry, path: Place, name: string): void {
  const have = entryAt(path);
  if (have === undefined || !isSame(have, want)) throw new Tampered(`the private copy of ${name} was changed`);
}

/** Copies installed files out of a checkout. Answers the stat of each, in the copy and in the checkout. */
export function copyOut(root: string, copy: string, paths: readonly string[]): { copy: Manifest; place: Manifest } {
  const made: Manifest = new Map();
  const place: Manifest = new Map();
  const visit = (path: string): void => {
    const [from, to] = [at(root, path), at(copy, path)];
    const stat = lstatSync(from);
    const kind = kindOf(stat);
    // A pipe or socket is of a process that has ended.
    if (kind === undefined) {
      remove(root, path);
      return;
    }
    if (kind === "dir") {
      const mode = stat.mode & 0o7777;
      const isShut = (mode & 0o700) !== 0o700;
      mkdirSync(to);
      // Of a directory only the kind and mode count: its times change with its files.
      made.set(path, { kind, mode, size: 0, mtime: 0, ctime: 0, inode: 0 });
      if (isShut) chmodSync(from, mode | 0o700);
      for (const name of namesIn(from)) visit(`${path}/${name}`);
      if (isShut) chmodSync(from, mode);
      return;
    }
    if (kind === "file" && stat.nlink > 1) cutLinks(root, path, entryOf(stat, kind));
    const have = entryAt(from);
    if (have === undefined) return;
    copyEntry(from, to, have);
    place.set(path, have);
    const copied = entryAt(to);
    if (copied !== undefined) made.set(path, copied);
  };
  for (const path of paths) {
    const parent = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
    if (parent !== "") mkdirSync(at(copy, parent), { recursive: true });
    visit(path);
  }
  return { copy: made, place };
}

/** Is every file of the private copy there with its stat, and no other? One look at each, no content is read. */
export function isAsMade(copy: string, { roots, entries }: CopyRecord): boolean {
  const wanted: Manifest = new Map(entries);
  for (const [path, want] of wanted) {
    const have = entryAt(at(copy, path));
    if (have === undefined || (want.kind === "dir" ? have.kind !== "dir" : !isSame(have, want))) return false;
  }
  const hasOnlyThese = (path: string): boolean =>
    wanted.has(path) &&
    (wanted.get(path)?.kind !== "dir" || namesIn(at(copy, path)).every((name) => hasOnlyThese(`${path}/${name}`)));
  return roots.every(({ path }) => hasOnlyThese(path));
}

/** A package manager may link files into a store that other projects use; a gate would write through such a link. */
function cutLinks(root: string, path: string, entry: Entry): void {
  const place = at(root, path);
  const aside = at(root, `${path}.ov-new`);
  removeAll(aside.toString());
  copyEntry(place, aside, entry);
  renameSync(aside, place);
}

function copyEntry(from: Place, to: Place, { kind, mode, mtime }: Entry): void {
  if (kind === "link") {
    symlinkSync(readlinkSync(from, { encoding: "buffer" }), to);
    return;
  }
  // Shares the blocks where the file system can. A write to one of the two files does not show in the other.
  copyFileSync(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  chmodSync(to, mode);
  // Python compares the time with that of its compiled file; make compares the times of two files.
  utimesSync(to, mtime / 1000, mtime / 1000);
}

export function childrenOf(manifest: Manifest): ReadonlyMap<string, ReadonlySet<string>> {
  const children = new Map<string, Set<string>>();
  for (const path of manifest.keys()) {
    const parent = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
    const known = children.get(parent);
    if (known === undefined) children.set(parent, new Set([path]));
    else known.add(path);
  }
  return children;
}

function entryAt(path: Place): Entry | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  const kind = stat === undefined ? undefined : kindOf(stat);
  return stat === undefined || kind === undefined ? undefined : entryOf(stat, kind);
}

const kindOf = (stat: Stats): Kind | undefined =>
  stat.isFile() ? "file" : stat.isDirectory() ? "dir" : stat.isSymbolicLink() ? "link" : undefined;

const entryOf = (stat: Stats, kind: Kind): Entry => ({
  kind,
  mode: stat.mode & 0o7777,
  size: stat.size,
  mtime: stat.mtimeMs,
  ctime: stat.ctimeMs,
  inode: stat.ino,
});

const isSame = (a: Entry, b: Entry): boolean =>
  a.inode === b.inode &&
  a.ctime === b.ctime &&
  a.mtime === b.mtime &&
  a.size === b.size &&
  a.mode === b.mode &&
  a.kind === b.kind;

type Place = string | Buffer;

/** Most names are plain, and then a string is cheaper than its bytes. */
const at = (root: string, path: string): Place => (isPlain.test(path) ? `${root}/${path}` : below(root, path));

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is about bytes.
const isPlain = /^[\x00-\x7f]*$/;

const namesIn = (path: Place): readonly string[] =>
  readdirSync(path, { encoding: "buffer" }).map((name) => name.toString("latin1"));
