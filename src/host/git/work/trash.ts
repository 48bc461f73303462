import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { TrashEntry } from "../../../ports/worktrees.ts";
import { errorCode } from "../../file-access.ts";

/** A place for what a removed worktree held but no snapshot can; made when the first thing goes there. */
export interface Trash {
  /** Moves one path of the worktree, keeping its place below. `work` exists nowhere else, and is never let go of by itself. */
  take(root: string, path: Buffer | string, sort: "ignored" | "work"): void;
  /** Undefined while nothing went there. */
  readonly used: string | undefined;
}

export function openTrash(dir: string): Trash {
  let used: string | undefined;
  return {
    take: (root, path, sort) => {
      const name = Buffer.from(path.toString("latin1").replace(/\/+$/, ""), "latin1");
      const from = Buffer.concat([Buffer.from(`${root}/`), name]);
      if (lstatSync(from, { throwIfNoEntry: false }) === undefined) return;
      const to = Buffer.concat([Buffer.from(`${dir}/`), name]);
      const slash = to.lastIndexOf(0x2f);
      mkdirSync(to.subarray(0, slash), { recursive: true, mode: 0o700 });
      if (sort === "work") writeFileSync(`${dir}${workMark}`, "");
      move(from, to);
      used = dir;
    },
    get used() {
      return used;
    },
  };
}

function move(from: Buffer, to: Buffer): void {
  try {
    renameSync(from, to);
  } catch (error) {
    const code = errorCode(error);
    if (code === "EACCES" || code === "EPERM") throw new Error(notAllowed(from), { cause: error });
    if (code !== "EXDEV") throw error;
    // Another file system: names that are not text cannot be copied by this call, and then it throws.
    cpSync(from.toString(), to.toString(), { recursive: true, verbatimSymlinks: true });
    removeAll(from.toString());
  }
}

/** A directory of another user can be moved only by that user. */
const notAllowed = (path: Buffer): string =>
  `${path.toString()} cannot be kept: it belongs to another user, or we may not move it; take it over (chown) or move it away`;

/** Git directories of submodules, which are no files of the worktree and must not come back as such. */
export const keptModules = ".git-modules";

/** A file beside an entry that says: something in it is work that no commit or snapshot could hold. */
export const workMark = ".work";

/** Entries nothing was added to since, oldest first. */
export function oldTrash(dir: string, before: number): readonly TrashEntry[] {
  if (lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const names = readdirSync(dir);
  const marks = new Set(names.filter((name) => name.endsWith(workMark)));
  return names
    .filter((name) => !marks.has(name))
    .map((name) => ({ name, at: lstatSync(join(dir, name), { throwIfNoEntry: false })?.mtimeMs ?? before }))
    .filter(({ at }) => at < before)
    .toSorted((a, b) => a.at - b.at)
    .map(({ name }) => ({
      name,
      path: join(dir, name),
      agentName: name.replace(stampBehind, ""),
      holdsWork: marks.has(`${name}${workMark}`),
    }));
}

/** The name of an entry: its owner and its time. */
export const trashName = (of: string, now: number): string =>
  `${of}-${new Date(now).toISOString().replace(/[:.]/g, "-")}`;

/** The moment, and a number where two came in one moment. */
const stampBehind = /-\d{4}-\d\d-\d\dT[\d-]+Z(-\d+)?$/;

/** What the last removed worktree of this agent left. */
export function newestTrashOf(dir: string, agentName: string): string | undefined {
  const entries = oldTrash(dir, Number.POSITIVE_INFINITY).filter((entry) => entry.agentName === agentName);
  const last = entries.at(-1);
  return last === undefined ? undefined : join(dir, last.name);
}

/** Moves the files that a worktree lacks back into it. Returns the number of moved paths. */
export function takeBack(entry: string, root: string): number {
  const moved = moveMissing(Buffer.from(entry), Buffer.from(root));
  if (lstatSync(entry, { throwIfNoEntry: false }) === undefined) rmSync(`${entry}${workMark}`, { force: true });
  return moved;
}

/** Works on bytes: not every file name is valid text. */
function moveMissing(from: Buffer, to: Buffer): number {
  let moved = 0;
  for (const name of readdirSync(from, { encoding: "buffer" })) {
    if (name.toString() === keptModules) continue;
    const [source, target] = [from, to].map((dir) => Buffer.concat([dir, Buffer.from("/"), name])) as [Buffer, Buffer];
    const there = lstatSync(target, { throwIfNoEntry: false });
    if (there === undefined) {
      move(source, target);
      moved++;
    } else if (there.isDirectory() && lstatSync(source).isDirectory()) moved += moveMissing(source, target);
  }
  if (readdirSync(from, { encoding: "buffer" }).length === 0) rmdirSync(from);
  return moved;
}

export function emptyTrash(dir: string, names: readonly string[]): void {
  for (const name of names) {
    removeAll(join(dir, name));
    rmSync(join(dir, `${name}${workMark}`), { force: true });
  }
}

/**
 * Deletes a path with everything in it, also where its owner may not write (as in some package caches), and directories
 * so deep that no path reaches their end: those are moved up, part by part. The recursive removal of the runtime does
 * not come to an end with such directories.
 */
export function removeAll(path: string | Buffer): void {
  const left: Buffer[] = [Buffer.from(path)];
  for (let top = left.pop(); top !== undefined; top = left.pop()) {
    const beside = top.subarray(0, top.lastIndexOf(0x2f) + 1);
    const longest = top.length + deepest;
    const moveUp = (dir: Buffer): void => {
      const part = Buffer.concat([beside, Buffer.from(`.ov-deep-${crypto.randomUUID()}`)]);
      chmodSync(dir, 0o700);
      renameSync(dir, part);
      left.push(part);
    };
    const visit = (dir: Buffer): void => {
      if ((lstatSync(dir).mode & 0o700) !== 0o700) chmodSync(dir, 0o700);
      for (const name of readdirSync(dir, { encoding: "buffer" })) {
        const inside = Buffer.concat([dir, slash, name]);
        if (!lstatSync(inside).isDirectory()) rmSync(inside, { force: true });
        else if (inside.length > longest) moveUp(inside);
        else visit(inside);
      }
      rmdirSync(dir);
    };
    if (lstatSync(top, { throwIfNoEntry: false })?.isDirectory() === true) visit(top);
    else rmSync(top, { force: true });
  }
}

const slash = Buffer.from("/");

/** Bytes of a path below the top. Linux takes 4096 in all, and one name has up to 255. */
const deepest = 1_500;

/** The path, with a number behind it when that is there already. */
export function freshPath(wanted: string): string {
  for (let n = 1; ; n++) {
    const path = n === 1 ? wanted : `${wanted}-${n}`;
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return path;
  }
}
