import { chmodSync, lstatSync, readdirSync, type Stats } from "node:fs";
import { removeAll } from "../work/trash.ts";
import { below, nameOf, type TrackedFile } from "./tracked.ts";

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
 * Takes everything out of a checkout that does not belong there, and what was written since we left it. Ignore
 * rules have no say, and no link is followed. What may stay is left, and answered. Submodules that somebody else fills
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

/** What is in a checkout besides the files of its commit, topmost paths only; nothing is changed. */
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
