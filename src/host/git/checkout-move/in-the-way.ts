import { lstatSync } from "node:fs";
import type { CheckoutMove, MarkedPath } from "../../../ports/merge-git.ts";
import { lstatIfThere } from "../../file-access.ts";
import { expectGit, git, zeroEnded } from "../git.ts";
import { below, shown } from "../merge/tracked.ts";
import { usersFiles } from "../merge/users-git.ts";
import { parentsOf } from "./move-files.ts";

interface Way {
  readonly checkout: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Neither tracked changes nor staged ones. Submodules do not count: after a promotion they lag behind until the user
 * updates them, and nothing moves inside them.
 */
export async function isClean(checkout: string): Promise<boolean> {
  const args = ["status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all"];
  return expectGit(await usersFiles({ checkout }, ...args), `looking at ${checkout}`).raw.length === 0;
}

/**
 * Files that are not tracked where `to` has new ones. Git itself looks only at those that are not ignored, and a
 * secret is usually in an ignored one.
 */
export async function untrackedInTheWay({ checkout, from, to }: Way): Promise<readonly string[]> {
  const added = await changed({ checkout, from, to }, "--diff-filter=A");
  if (added.length === 0) return [];
  const met = added.map((path) => obstacleAt(checkout, path)).filter((obstacle) => obstacle !== undefined);
  if (met.length === 0) return [];
  const [tracked, untracked] = await Promise.all([
    list(checkout, "ls-tree", "-r", "-z", "--name-only", "--full-tree", from),
    untrackedFiles(checkout),
  ]);
  const known = new Set(tracked);
  // A directory gives way when all that is in it is tracked, and so is gone in `to`.
  const obstacles = met.flatMap(({ path, isDirectory }) =>
    isDirectory ? untracked.filter((file) => file.startsWith(`${path}/`)) : known.has(path) ? [] : [path],
  );
  return [...new Set(obstacles)].map(shown).toSorted();
}

/** Why git refused to move the checkout: the local changes in the way, or else git's own words. */
export async function whyRefused(way: Way, words: string): Promise<CheckoutMove> {
  const paths = await inTheWay(way);
  return paths.length === 0 ? { kind: "failed", problem: words.trim() } : { kind: "local-changes", paths };
}

/** Local changes, tracked or not, to what differs between the two commits; of an unfinished merge, all it left open. */
export async function inTheWay(way: Way): Promise<readonly string[]> {
  const { checkout } = way;
  const [different, work, staged, untracked, open] = await Promise.all([
    changed(way),
    list(checkout, "diff", ...namesOnly),
    list(checkout, "diff", ...namesOnly, "--cached", way.from),
    untrackedFiles(checkout),
    list(checkout, "diff", ...namesOnly, "--diff-filter=U"),
  ]);
  const paths = new Set(open);
  const hidden = await hiddenChanges(way, different);
  const local = new Set([...work, ...staged, ...untracked, ...hidden]);
  const wanted = new Set(different.flatMap((path) => [path, ...parentsOf(path)]));
  const exact = new Set(different);
  for (const path of local) {
    const isBelow = parentsOf(path).some((parent) => exact.has(parent));
    if (wanted.has(path) || isBelow) paths.add(path);
  }
  return [...paths].map(shown).toSorted();
}

/** Changed files that their user told git not to look at (`assume-unchanged`, `skip-worktree`). */
async function hiddenChanges({ checkout, from }: Way, among: readonly string[]): Promise<readonly string[]> {
  const wanted = new Set(among);
  const marked = (await list(checkout, "ls-files", "-v", "-z"))
    .filter((line) => /^[a-zS] /.test(line))
    .map((line) => line.slice(2))
    .filter((path) => wanted.has(path) && lstatIfThere(below(checkout, path))?.isFile());
  const changed: string[] = [];
  for (const path of marked) {
    const [is, was] = await Promise.all([
      usersFiles({ checkout }, "hash-object", "--", shown(path)),
      git(checkout, "rev-parse", "--verify", "--quiet", `${from}:${shown(path)}`),
    ]);
    if (is.out.trim() !== was.out.trim()) changed.push(path);
  }
  return changed;
}

/** The marks of those of these files that have one. */
export async function marksOf(checkout: string, paths: readonly string[]): Promise<readonly MarkedPath[]> {
  const [tagged, later] = await Promise.all([
    list(checkout, "ls-files", "-v", "-z"),
    list(checkout, "diff", ...namesOnly, "--diff-filter=A"),
  ]);
  const marks: readonly MarkedPath[] = [
    ...tagged.flatMap((line) => markedBy(line[0] ?? "").map((mark) => ({ path: shown(line.slice(2)), mark }))),
    ...later.map((path) => ({ path: shown(path), mark: "intent-to-add" }) as const),
  ];
  return marks.filter(({ path }) => paths.includes(path));
}

/** Git tags a file with `S` to skip it, and takes a small letter for one that it assumes to be unchanged. */
const markedBy = (tag: string): readonly MarkedPath["mark"][] => [
  ...(/[Ss]/.test(tag) ? (["skip-worktree"] as const) : []),
  ...(/[a-z]/.test(tag) ? (["assume-unchanged"] as const) : []),
];

const namesOnly = ["-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-relative", "--ignore-submodules=dirty"];

/** Ignored ones too. Git ends the name of a repository inside the checkout with a slash. */
async function untrackedFiles(checkout: string): Promise<readonly string[]> {
  const paths = await list(checkout, "ls-files", "-z", "--others");
  return paths.map((path) => path.replace(/\/$/, ""));
}

const changed = ({ checkout, from, to }: Way, ...more: string[]): Promise<readonly string[]> =>
  list(checkout, "diff-tree", "-r", "-z", "--name-only", "--no-renames", ...more, from, to);

/** Paths as bytes in latin1, so that equal means equal. */
async function list(checkout: string, ...args: string[]): Promise<readonly string[]> {
  const answer = expectGit(await usersFiles({ checkout }, ...args), `listing files in ${checkout}`);
  return zeroEnded(answer.raw).map((path) => path.toString("latin1"));
}

/** The path itself when it exists, or the file on the way to it that stands in the place of a directory. */
function obstacleAt(checkout: string, path: string): { path: string; isDirectory: boolean } | undefined {
  for (const parent of parentsOf(path)) {
    const stat = lstatSync(below(checkout, parent), { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    if (!stat.isDirectory()) return { path: parent, isDirectory: false };
  }
  const stat = lstatSync(below(checkout, path), { throwIfNoEntry: false });
  return stat === undefined ? undefined : { path, isDirectory: stat.isDirectory() };
}
