import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { CheckoutTerms } from "../../../domain/gate/gate.ts";
import { nameOf, type TrackedFile } from "../merge/tracked.ts";
import { removeAll } from "../work/trash.ts";
import {
  type CopyRecord,
  childrenOf,
  copyOut,
  type Entry,
  isAsMade,
  type KeptRoot,
  type Manifest,
  Repair,
} from "./kept-copy.ts";

/**
 * What a setup command installed in one slot, as a private copy beside the checkouts. Gates are code of agents and may
 * write anything into the installed directories of their checkout; before the next gate those are put back to the copy.
 *
 *   make     after setup: copy every file, and record its stat in the checkout and in the copy
 *   restore  before each gate: replace files without the recorded stat, remove files that are not on record
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

/** The directory in the pool in which the sets are. */
export const keptName = "kept";

export function keptSets(poolDir: string, slot: number): KeptSets {
  const dir = join(poolDir, keptName);
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

type Stored = NotKept | CopyRecord;

interface PlaceRecord {
  readonly id: string;
  readonly entries: readonly [string, Entry][];
}

interface SetFiles {
  readonly id: string;
  /** Where the private copy is. */
  readonly copy: string;
  readonly placeFile: string;
  readonly stored: CopyRecord;
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

/**
 * Files carry the time of the kernel's last tick, so a write in the tick in which we took a stat would not show.
 * Nothing runs in the checkout before that tick is over.
 */
const pastThisTick = (): Promise<void> => Bun.sleep(tickMs);

const tickMs = 20;

/**
 * The digests of the records that this process has written or believed. Commands of the same user could write to the
 * records, so an engine believes a record of its own only with the same digest. It believes a record of an earlier
 * engine if the file has the same device, inode, size and times; no program can set the time of change. In a copy of the
 * project, or after the record was overwritten, they differ; then setup runs again.
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

/**
 * Names everything of a commit that decides what its setup command installs: lock files, manifests and settings of
 * package managers, at any depth, with the command itself and what is kept of its work. What was installed for one key
 * is not used for another.
 */
export function installKey(files: readonly TrackedFile[], { setup, keepIgnored, cache }: CheckoutTerms): string {
  const hash = new Bun.CryptoHasher("sha256");
  hash.update(JSON.stringify([setup, ...[keepIgnored, cache].map((list) => [...new Set(list)].sort())]));
  for (const { path, oid, mode } of files) if (decidesInstall(path)) hash.update(`\0${mode} ${oid}\t${path}`, "latin1");
  return hash.digest("hex").slice(0, 16);
}

export const decidesInstall = (path: string): boolean =>
  names.has(nameOf(path)) || patterns.some((pattern) => pattern.test(path));

const names: ReadonlySet<string> = new Set([
  // npm, yarn, pnpm, bun
  "package.json",
  "package-lock.json",
  "npm-shrinkwrap.json",
  ".npmrc",
  "yarn.lock",
  ".yarnrc",
  ".yarnrc.yml",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  ".pnpmfile.cjs",
  "bun.lock",
  "bun.lockb",
  "bunfig.toml",
  "lerna.json",
  ".nvmrc",
  ".node-version",
  // Python
  "pyproject.toml",
  "setup.py",
  "setup.cfg",
  "poetry.lock",
  "poetry.toml",
  "uv.lock",
  "uv.toml",
  "Pipfile",
  "Pipfile.lock",
  "pdm.lock",
  "pip.conf",
  ".python-version",
  "environment.yml",
  // Rust
  "Cargo.toml",
  "Cargo.lock",
  "rust-toolchain",
  "rust-toolchain.toml",
  // Go, PHP, Ruby, Java, Elixir, .NET
  "go.mod",
  "go.sum",
  "go.work",
  "go.work.sum",
  "composer.json",
  "composer.lock",
  "Gemfile",
  "Gemfile.lock",
  ".ruby-version",
  "pom.xml",
  "build.gradle",
  "build.gradle.kts",
  "settings.gradle",
  "settings.gradle.kts",
  "gradle.lockfile",
  "mix.exs",
  "mix.lock",
  "packages.lock.json",
  "Directory.Packages.props",
  "global.json",
  // several
  ".tool-versions",
  "mise.toml",
]);

/** Whole directories that package managers read, and names with a part that varies. */
const patterns: readonly RegExp[] = [
  /(^|\/)(requirements|constraints)[^/]*\.(txt|in)$/,
  /(^|\/)\.cargo\/config(\.toml)?$/,
  /(^|\/)\.bundle\/config$/,
  /(^|\/)\.yarn\/(releases|plugins|patches)\//,
  /(^|\/)patches\/[^/]+\.patch$/,
  /\.(gemspec|csproj|fsproj)$/,
];
