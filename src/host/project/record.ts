import { Database } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { Failure } from "../../domain/failure.ts";
import { type ProjectPlace, type ProjectRecord, recordName, sharedDirName } from "../../domain/project/place.ts";
import { errorCode, readText, writable, writeAtomically } from "../file-access.ts";
import { commonDirAt, identityOf } from "../project-place.ts";

/** Makes the state directory, for its owner alone, or takes from others what an earlier one gave them. */
export function makeStateDir(state: string): void {
  writable(state, () => {
    if (mkdirSync(state, { recursive: true, mode: 0o700 }) === undefined && isOpen(state)) chmodSync(state, 0o700);
  });
}

const isOpen = (path: string): boolean => (lstatSync(path).mode & 0o077) !== 0;

/** Writes down that the state directory belongs here, and to this root. */
export function writeRecord(
  { root, state }: ProjectPlace,
  { id, formerRoots = [] }: { readonly id: string; readonly formerRoots?: readonly string[] },
): void {
  const identity = identityOf(state);
  if (identity === undefined) throw new Failure({ kind: "unexpected", problem: `${state} is not there` });
  const kept = [...new Set(formerRoots)].filter((former) => former !== root).slice(-mostFormerRoots);
  const record: ProjectRecord = { id, root, state, ...identity, formerRoots: kept };
  const text = `${JSON.stringify(record, null, 2)}\n`;
  if (readText(join(state, recordName)) !== text) writeAtomically(join(state, recordName), text, 0o600);
}

/** Turns last hours. A user does not move a project more often than this in that time. */
const mostFormerRoots = 5;

/** How long another process may take to bind the project before this one gives up. */
const lockPatienceMs = 30_000;

/**
 * Runs `work` while no other process does the same for this state directory. The lock is the system's own on an open
 * file: it ends with its holder, however that ends.
 */
export async function withStateLock<T>(
  state: string,
  work: () => Promise<T>,
  name: "bind.lock" | "init.lock" = "bind.lock",
): Promise<T> {
  const path = join(state, name);
  const lock = writable(path, () => {
    closeSync(openSync(path, "a", 0o600));
    return new Database(path, { readwrite: true });
  });
  try {
    await take(lock, path);
    return await work();
  } finally {
    lock.close();
  }
}

/** Waits without blocking this process: the holder of the lock may be another task of it. */
async function take(lock: Database, path: string): Promise<void> {
  const deadline = performance.now() + lockPatienceMs;
  lock.run("PRAGMA busy_timeout = 0");
  for (;;) {
    try {
      lock.run("BEGIN EXCLUSIVE");
      return;
    } catch (error) {
      // The lock is a database: on a full disk it says so in its own code.
      if (errorCode(error) === "SQLITE_FULL") throw new Failure({ kind: "disk-full", path }, { cause: error });
      if (errorCode(error) !== "SQLITE_BUSY") throw error;
      if (performance.now() > deadline) {
        throw new Failure({ kind: "store-busy", path, waitedMs: lockPatienceMs }, { cause: error });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Lines in `info/exclude` of the repository, which no branch takes away. */
const hidden = [
  `/${sharedDirName}/specs/`,
  `/${sharedDirName}/worktrees/`,
  `/${sharedDirName}/merge-worktrees/`,
  `/${sharedDirName}/config.local.yaml`,
];

/** Was `hideFromGit` done in this repository? */
export function hidesFromGit({ root }: Pick<ProjectPlace, "root">): boolean {
  const common = commonDirAt(root);
  const text = common === undefined ? undefined : readText(join(common, "info", "exclude"));
  const known = new Set(text?.split("\n"));
  return hidden.every((line) => known.has(line));
}

/**
 * Hides files of this machine in a checkout from git, because a tracked ignore file leaves with its branch. Returns the
 * file that hides them, and whether it was changed.
 */
export function hideFromGit({
  root,
}: Pick<ProjectPlace, "root">): { readonly path: string; readonly changed: boolean } | undefined {
  const common = commonDirAt(root);
  if (common === undefined) return undefined;
  const path = join(common, "info", "exclude");
  const text = readText(path) ?? "";
  const known = new Set(text.split("\n"));
  const missing = hidden.filter((line) => !known.has(line));
  if (missing.length === 0) return { path, changed: false };
  const before = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  writable(path, () => writeAtomically(path, `${before}${missing.join("\n")}\n`));
  return { path, changed: true };
}

/**
 * Connects worktrees again that moved with their repository. Git writes both directions as absolute paths: from the
 * worktree to its directory in `worktrees/` of the repository, and back.
 */
export function repairWorktrees(common: string, moved: { readonly from: string; readonly to: string }): void {
  const all = join(common, "worktrees");
  for (const name of namesIn(all)) {
    const admin = join(all, name);
    const back = readText(join(admin, "gitdir"))?.trimEnd();
    if (back === undefined || !back.startsWith("/")) continue;
    const link = back.startsWith(`${moved.from}/`) ? moved.to + back.slice(moved.from.length) : back;
    // Only what really lies there, and is a link to a directory of this very name.
    const points = /^gitdir: (.*?)\n*$/.exec(
      lstatSync(link, { throwIfNoEntry: false })?.isFile() ? (readText(link) ?? "") : "",
    );
    if (points?.[1] === undefined || basename(points[1]) !== name || basename(dirname(points[1])) !== "worktrees")
      continue;
    // A worktree elsewhere did not move; of a copied repository it even belongs to the original.
    if (!link.startsWith(`${moved.to}/`)) continue;
    if (link !== back) writeAtomically(join(admin, "gitdir"), `${link}\n`);
    if (points[1] !== admin) writeAtomically(link, `gitdir: ${admin}\n`);
  }
}

/** Moves a file or directory, entry by entry where the new place has some already. Repeating it finishes it. */
export function moveInto(from: string, to: string): void {
  const stat = lstatSync(from, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (stat.isDirectory() && lstatSync(to, { throwIfNoEntry: false })?.isDirectory() === true) {
    for (const name of readdirSync(from)) moveInto(join(from, name), join(to, name));
    rmSync(from, { recursive: true, force: true });
    return;
  }
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== "EXDEV") throw error;
    const draft = `${to}.moving`;
    rmSync(draft, { recursive: true, force: true });
    cpSync(from, draft, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    renameSync(draft, to);
    rmSync(from, { recursive: true, force: true });
  }
}

const namesIn = (dir: string): readonly string[] => (existsSync(dir) ? readdirSync(dir) : []);
