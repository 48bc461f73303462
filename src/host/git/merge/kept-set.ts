import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  type Stats,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { removeAll } from "../work/trash.ts";
import { remove } from "./sweep.ts";
import { below } from "./tracked.ts";

/**
 * What a setup command installed in one slot, as a private copy beside the checkouts. Gates are code of agents and may
 * write anything into the installed directories of their checkout; before the next gate those are put back to the copy.
 *
 *   make     after setup: copy every file, and record its stat in the checkout and in the copy
 *   restore  before each gate: replace what does not have the recorded stat, remove what is not on record
 *
 * A file whose inode, size, mode, mtime and ctime are as recorded was not written since: a program can set mtime, but
 * not ctime. A record therefore only ever says "this file, with this stat, is as setup made it", so a process that dies
 * in the middle leaves nothing to be mended. Paths are bytes as latin1, below the checkout.
 */
export interface KeptSet {
  /** The directories and files it is made of. */
  readonly roots: readonly KeptRoot[];
  /** Puts these roots back in the checkout at `root`. Throws `Tampered` when the copy is not what was made. */
  restore(root: string, roots: readonly KeptRoot[]): Promise<void>;
}

export interface KeptRoot {
  readonly path: string;
  readonly kind: Kind;
}

type Kind = "file" | "dir" | "link";

/** Somebody wrote to the private copy: nothing of it can be used. */
export class Tampered extends Error {}

/** Why there is no set although setup ran: it left these paths, which are not kept, so it has to run each time. */
export interface NotKept {
  readonly left: readonly string[];
}

export interface KeptSets {
  find(id: string): KeptSet | NotKept | undefined;
  /** Copies what setup made; links to other places of the disk are cut first. */
  make(id: string, root: string, paths: readonly string[]): Promise<void>;
  /** Remembers that setup has to run each time. */
  giveUp(id: string, left: readonly string[]): void;
  /** Nothing that was installed here is used again. */
  dropAll(): void;
  /** Nothing in the checkout is on record any more. */
  forgetPlace(): void;
}

/** The sets of one slot: of so many states of dependencies at most, the latest used ones. */
const mostSets = 3;

export function keptSets(poolDir: string, slot: number): KeptSets {
  const dir = join(poolDir, "kept");
  const home = (id: string): string => join(dir, `${slot}-${id}`);
  const placeFile = join(poolDir, "state", `${slot}.kept`);
  return {
    find: (id) => {
      const record = join(home(id), "record");
      const isFirstLook = !written.has(record);
      const stored = readOwn<Stored>(record);
      if (stored === undefined) return undefined;
      const copy = join(home(id), "files");
      // Of an earlier engine: what it made may have been changed since.
      if (isFirstLook && "entries" in stored && !isAsMade(copy, stored)) {
        written.delete(record);
        return undefined;
      }
      touch(home(id));
      return "left" in stored ? stored : openSet({ id, copy, placeFile, stored });
    },
    make: async (id, root, paths) => {
      const making = join(dir, `${slot}-new`);
      removeAll(making);
      mkdirSync(join(making, "files"), { recursive: true, mode: 0o700 });
      const { copy, place } = copyOut(root, join(making, "files"), paths);
      const roots = paths.map((path) => ({ path, kind: copy.get(path)?.kind ?? "dir" }));
      removeAll(home(id));
      renameSync(making, home(id));
      writeOwn<PlaceRecord>(placeFile, { id, entries: [...place] });
      writeOwn<Stored>(join(home(id), "record"), { roots, entries: [...copy] });
      prune(dir, slot);
      await pastThisTick();
    },
    giveUp: (id, left) => {
      removeAll(home(id));
      mkdirSync(home(id), { recursive: true, mode: 0o700 });
      writeOwn<Stored>(join(home(id), "record"), { left });
      prune(dir, slot);
    },
    dropAll: () => {
      for (const name of setsOf(dir, slot)) removeAll(join(dir, name));
    },
    forgetPlace: () => removeAll(placeFile),
  };
}

type Stored = NotKept | { readonly roots: readonly KeptRoot[]; readonly entries: readonly [string, Entry][] };

interface PlaceRecord {
  readonly id: string;
  readonly entries: readonly [string, Entry][];
}

interface Entry {
  readonly kind: Kind;
  readonly mode: number;
  readonly size: number;
  readonly mtime: number;
  readonly ctime: number;
  readonly inode: number;
}

type Manifest = Map<string, Entry>;

interface SetFiles {
  readonly id: string;
  /** Where the private copy is. */
  readonly copy: string;
  readonly placeFile: string;
  readonly stored: Exclude<Stored, NotKept>;
}

function openSet({ id, copy, placeFile, stored }: SetFiles): KeptSet {
  return {
    roots: stored.roots,
    restore: async (root, roots) => {
      const wanted: Manifest = new Map(stored.entries);
      const before = readPlace(placeFile, id);
      const repair = new Repair({ root, copy, wanted, children: childrenOf(wanted), before });
      for (const { path } of roots) repair.put(path);
      if (!repair.changed && repair.now.size === before.size) return;
      writeOwn<PlaceRecord>(placeFile, { id, entries: [...repair.now] });
      await pastThisTick();
    },
  };
}

function readPlace(placeFile: string, id: string): Manifest {
  const record = readOwn<PlaceRecord>(placeFile);
  return new Map(record?.id === id ? record.entries : []);
}

interface RepairTerms {
  readonly root: string;
  readonly copy: string;
  /** The private copy as it was made. */
  readonly wanted: Manifest;
  readonly children: ReadonlyMap<string, ReadonlySet<string>>;
  /** The checkout as we last left it. */
  readonly before: Manifest;
}

/** One walk over installed directories that replaces what is not as it was. */
class Repair {
  readonly #terms: RepairTerms;
  /** The checkout as it is after the walk. */
  readonly now: Manifest = new Map();
  changed = false;

  constructor(terms: RepairTerms) {
    this.#terms = terms;
  }

  /** Puts a path right; the directory it is in must be writable. */
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
    // Still the same after the copy was made: what was copied is what is on record.
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
function copyOut(root: string, copy: string, paths: readonly string[]): { copy: Manifest; place: Manifest } {
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
      // Only its kind and mode count: its times change with what is put into it.
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
  // Shares the blocks where the file system can; what is written to one of them does not show in the other.
  copyFileSync(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  chmodSync(to, mode);
  // Python compares it with what it has compiled; make and others compare two of them.
  utimesSync(to, mtime / 1000, mtime / 1000);
}

function childrenOf(manifest: Manifest): ReadonlyMap<string, ReadonlySet<string>> {
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

/**
 * Files carry the time of the kernel's last tick, so a write in the tick in which we took a stat would not show.
 * Nothing runs in the checkout before that tick is over.
 */
const pastThisTick = (): Promise<void> => Bun.sleep(tickMs);
const tickMs = 20;

/** Is every file of the private copy there with its stat, and no other? One look at each, no content is read. */
function isAsMade(copy: string, { roots, entries }: Exclude<Stored, NotKept>): boolean {
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

/**
 * What this process has recorded or believed, by digest. The records lie where commands of the same user could write,
 * and an engine does not believe one that it left otherwise. One of an earlier engine is believed if the file is still
 * the one that was written: the same device, inode, size and times, of which no program can set the time of change. A
 * copy of the project, and a record that was written over, do not have them; setup runs again then.
 */
const written = new Map<string, string>();

function writeOwn<T>(path: string, value: T): void {
  const text = JSON.stringify(value);
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  writeFileSync(`${path}.stat`, stampOf(path), { mode: 0o600 });
  written.set(path, digestOf(text));
}

function stampOf(path: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

function readOwn<T>(path: string): T | undefined {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const text = readFileSync(path, "utf8");
  const known = written.get(path);
  if (known === undefined && !isAsStamped(path)) return undefined;
  if (known !== undefined && known !== digestOf(text)) return undefined;
  try {
    const value = JSON.parse(text) as T;
    written.set(path, digestOf(text));
    return value;
  } catch {
    // A power cut can leave an empty file: then there is no record, and setup runs again.
    return undefined;
  }
}

function isAsStamped(path: string): boolean {
  const stamp = `${path}.stat`;
  return (
    lstatSync(stamp, { throwIfNoEntry: false })?.isFile() === true && readFileSync(stamp, "utf8") === stampOf(path)
  );
}

const digestOf = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");

function touch(path: string): void {
  const now = new Date();
  utimesSync(path, now, now);
}

function prune(dir: string, slot: number): void {
  const byAge = setsOf(dir, slot)
    .map((name) => ({ name, at: lstatSync(join(dir, name)).mtimeMs }))
    .toSorted((a, b) => b.at - a.at);
  for (const { name } of byAge.slice(mostSets)) removeAll(join(dir, name));
}

const setsOf = (dir: string, slot: number): readonly string[] =>
  existsSync(dir) ? readdirSync(dir).filter((name) => name.startsWith(`${slot}-`)) : [];
