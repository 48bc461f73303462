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
import { removeAll } from "../trash.ts";
import { below, nameOf, type TrackedFile } from "./tracked.ts";

/** Names the state of all lock files of a commit: dependencies installed for one state are not used for another. */
export function lockHash(files: readonly TrackedFile[]): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const { path, oid, mode } of files)
    if (isLockFile(nameOf(path))) hash.update(`${mode} ${oid}\t${path}\0`, "latin1");
  return hash.digest("hex").slice(0, 16);
}

const isLockFile = (name: string): boolean => lockFiles.includes(name) || /^requirements.*\.txt$/.test(name);

const lockFiles: readonly string[] = [
  "package-lock.json",
  "npm-shrinkwrap.json",
  "yarn.lock",
  "pnpm-lock.yaml",
  "bun.lock",
  "bun.lockb",
  "Cargo.lock",
  "poetry.lock",
  "uv.lock",
  "Pipfile.lock",
  "go.sum",
  "composer.lock",
  "Gemfile.lock",
];

/** Directories of one slot that wait for a commit with their lock files. Paths are bytes as latin1. */
export interface KeptStore {
  /** Moves directories out of the checkout. */
  putAway(root: string, paths: readonly string[], hash: string): void;
  /** Moves back what belongs to the hash and fits the checkout, and answers it. */
  bringBack(root: string, hash: string, fits: (path: string) => boolean): readonly string[];
}

/** A shelf per hash; on it a directory per path, named by digest because a path may be longer than a name. */
export function keptStore(dir: string, slot: number): KeptStore {
  const shelf = (hash: string): string => join(dir, `${slot}-${hash}`);
  return {
    putAway: (root, paths, hash) => {
      if (paths.length === 0) return;
      for (const path of paths) {
        const box = join(shelf(hash), digest(path));
        removeAll(box);
        mkdirSync(box, { recursive: true, mode: 0o700 });
        writeFileSync(join(box, "path"), path, "latin1");
        renameSync(below(root, path), join(box, "dir"));
      }
      touch(shelf(hash));
      prune(dir, slot);
    },
    bringBack: (root, hash, fits) => {
      const brought: string[] = [];
      for (const name of namesIn(shelf(hash))) {
        const box = join(shelf(hash), name);
        // A box without a directory was left by a move that was cut short.
        const path = isDirectory(join(box, "dir")) ? readFileSync(join(box, "path"), "latin1") : undefined;
        if (path === undefined || !fits(path) || exists(below(root, path))) continue;
        renameSync(join(box, "dir"), below(root, path));
        brought.push(path);
      }
      removeAll(shelf(hash));
      return brought;
    },
  };
}

function prune(dir: string, slot: number): void {
  const shelves = namesIn(dir).filter((name) => name.startsWith(`${slot}-`));
  const byAge = shelves
    .map((name) => ({ name, at: lstatSync(join(dir, name)).mtimeMs }))
    .toSorted((a, b) => b.at - a.at);
  for (const { name } of byAge.slice(mostHashes)) removeAll(join(dir, name));
}

const mostHashes = 3;

const digest = (path: string): string =>
  new Bun.CryptoHasher("sha256").update(path, "latin1").digest("hex").slice(0, 32);

function touch(path: string): void {
  const now = new Date();
  utimesSync(path, now, now);
}

const namesIn = (dir: string): readonly string[] => (existsSync(dir) ? readdirSync(dir) : []);
const exists = (path: Buffer): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
const isDirectory = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
