import { chmodSync, lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { below, nameOf, type TrackedFile } from "../merge/tracked.ts";
import { removeAll } from "../work/trash.ts";

/** What belongs into a checkout: the files of a commit by path (bytes as latin1), and the directories they are in. */
export interface Layout {
  readonly modes: ReadonlyMap<string, string>;
  readonly dirs: ReadonlySet<string>;
}

export const layoutOf = (files: readonly TrackedFile[]): Layout => ({
  modes: new Map(files.map(({ path, mode }) => [path, mode])),
  dirs: new Set(["", ...files.flatMap(({ path }) => parentsOf(path))]),
});

/** Which paths may be kept: by their name wherever they are, or by a path with a slash. */
export function keepRule(keepIgnored: readonly string[]): (path: string) => boolean {
  const rules = new Set(keepIgnored.map((rule) => Buffer.from(rule.replace(/^\/+|\/+$/g, "")).toString("latin1")));
  return (path) => rules.has(nameOf(path)) || rules.has(path);
}

/** Could a kept directory be here: beside tracked files, with none of them inside? */
export const hasRoomFor = ({ modes, dirs }: Layout, path: string): boolean =>
  dirs.has(path.slice(0, Math.max(path.lastIndexOf("/"), 0))) && !modes.has(path) && !dirs.has(path);

export interface SweepTerms {
  /** May this stay, though the commit does not have it? */
  mayStay(path: string, stat: Stats): boolean;
  /** Is this file of the commit as we wrote it? Otherwise it goes, and git writes it again. */
  isAsLeft(path: string, stat: Stats): boolean;
  /** Submodules, by path. */
  readonly filledElsewhere: ReadonlySet<string>;
}

/**
 * Removes from a checkout every path that does not belong there, and every file that was written since we left it. Ignore
 * rules do not count, and no link is followed. Returns the extra paths that may stay. Submodules in `filledElsewhere`
 * are left as they are; all others are emptied.
 */
export function sweep(
  root: string,
  layout: Layout,
  { mayStay, isAsLeft, filledElsewhere }: SweepTerms,
): readonly string[] {
  const { modes, dirs } = layout;
  const kept: string[] = [];
  const visit = (dir: string): void => {
    for (const path of open(root, dir)) {
      if (path === ".git") continue;
      const stat = lstatSync(below(root, path));
      const mode = modes.get(path);
      if (dirs.has(path) && stat.isDirectory()) visit(path);
      else if (mode !== undefined && isOfKind(stat, mode)) {
        if (!stat.isDirectory() && !isAsLeft(path, stat)) remove(root, path);
        else if (!filledElsewhere.has(path)) emptySubmodule(root, path, stat);
      } else if (hasRoomFor(layout, path) && mayStay(path, stat)) kept.push(path);
      else remove(root, path);
    }
  };
  visit("");
  return kept;
}

/** The paths in a checkout that are not files of its commit, topmost paths only. Changes nothing. */
export function extrasIn(root: string, { modes, dirs }: Layout): readonly string[] {
  const found: string[] = [];
  const visit = (dir: string): void => {
    for (const path of open(root, dir)) {
      if (path === ".git" || modes.has(path)) continue;
      if (dirs.has(path) && lstatSync(below(root, path)).isDirectory()) visit(path);
      else found.push(path);
    }
  };
  visit("");
  return found;
}

/** Names below a directory, which is made usable first if a command made it unreadable. */
function open(root: string, dir: string): readonly string[] {
  const path = dir === "" ? Buffer.from(root) : below(root, dir);
  if ((lstatSync(path).mode & 0o700) !== 0o700) chmodSync(path, 0o755);
  const names = readdirSync(path, { encoding: "buffer" }).map((name) => name.toString("latin1"));
  return names.map((name) => (dir === "" ? name : `${dir}/${name}`));
}

function isOfKind(stat: Stats, mode: string): boolean {
  if (mode === "120000") return stat.isSymbolicLink();
  return mode === "160000" ? stat.isDirectory() : stat.isFile();
}

/** Git checks nothing out inside by itself. */
function emptySubmodule(root: string, path: string, stat: Stats): void {
  if (stat.isDirectory()) for (const inner of open(root, path)) remove(root, inner);
}

export function remove(root: string, path: string): void {
  removeAll(below(root, path));
}

const parentsOf = (path: string): readonly string[] => {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
};

/**
 * What this process last left in a checkout of the pool. It is kept in memory only: gates are code of agents, and could
 * write to every file that says which files are unchanged. After a restart nothing is known, and each file is written
 * again.
 *
 * A file whose inode, size, mode, mtime and ctime are as noted was not written since: a program can set mtime, but not
 * ctime. The index is believed only while its content is as noted.
 */
interface LeftFiles {
  /** What decided how the files look, as its caller named it. */
  readonly form: string;
  isAsLeft(path: string, stat: Stats): boolean;
  /** The object that was written there. */
  idOf(path: string): string | undefined;
}

interface Noted {
  readonly form: string;
  readonly index: string;
  readonly stamps: ReadonlyMap<string, Stamp>;
}

interface Stamp {
  readonly id: string;
  readonly stat: string;
}

const noted = new Map<string, Noted>();

/** What was left with this index, once: until the next note nothing is known. An index that was changed is removed. */
export function takeLeftFiles(index: string): LeftFiles | undefined {
  const known = noted.get(index);
  noted.delete(index);
  if (known === undefined || known.index !== digestOf(index)) {
    removeAll(index);
    return undefined;
  }
  return {
    form: known.form,
    isAsLeft: (path, stat) => known.stamps.get(path)?.stat === stampOf(stat),
    idOf: (path) => known.stamps.get(path)?.id,
  };
}

/** Notes the files as they are now. Answers when a later write must show in their stat. */
export async function noteLeftFiles(
  index: string,
  { form, root, files }: { readonly form: string; readonly root: string; readonly files: readonly TrackedFile[] },
): Promise<void> {
  const stamps = new Map<string, Stamp>();
  let newest = 0;
  for (const { path, mode, oid } of files) {
    if (mode === submodule) continue;
    const stat = lstatSync(below(root, path), { throwIfNoEntry: false });
    // The system cannot have this file: it is tried again next time.
    if (stat === undefined) continue;
    newest = Math.max(newest, stat.ctimeMs);
    stamps.set(path, { id: oid, stat: stampOf(stat) });
  }
  const digest = digestOf(index);
  if (digest === undefined) return;
  // Files carry the time of the kernel's last tick. Nothing may run in the checkout before the tick of ours is over.
  if (Math.abs(Date.now() - newest) <= tickMs) await Bun.sleep(tickMs);
  noted.set(index, { form, index: digest, stamps });
}

const submodule = "160000";
const tickMs = 20;

const stampOf = ({ ino, size, mode, mtimeMs, ctimeMs, nlink }: Stats): string =>
  `${ino} ${size} ${mode} ${mtimeMs} ${ctimeMs} ${nlink}`;

function digestOf(path: string): string | undefined {
  // A pipe in its place would hold us for ever.
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");
}
