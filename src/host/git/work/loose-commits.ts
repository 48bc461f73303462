import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lstatIfThere } from "../../file-access.ts";
import { expectGit } from "../git.ts";
import type { OwnDir } from "../own-dir.ts";
import type { Place } from "../repository.ts";

/**
 * Commits that go with the git state of a worktree, because no branch holds them: what a rebase put aside (`autostash`),
 * what was committed on a detached HEAD and left, and refs that only this worktree has. Commits that the agent itself
 * replaced on its branch, by an amend or a finished rebase, are not among them: they are in the branch's own log.
 */
export async function looseCommits(
  own: OwnDir,
  place: Place,
  known: { readonly branch: string; readonly held: readonly (string | null | undefined)[] },
): Promise<readonly string[]> {
  const branchLog = new Set(entriesOf(join(place.refs, "logs", "refs", "heads", known.branch)).map(({ to }) => to));
  const held = new Set(known.held);
  const candidates = candidatesIn(place).filter((commit) => !branchLog.has(commit) && !held.has(commit));
  if (candidates.length === 0) return [];
  const wanted = [...new Set(candidates)].slice(-mostTips);
  const holders = [...held].filter((name) => name != null);
  const others = ["--not", ...holders, "--branches", "--tags", "--remotes"];
  // Ignored: what an earlier collection of garbage took. A commit that is there is listed when nothing else holds it.
  const listed = await own.git(["rev-list", "--ignore-missing", ...wanted, ...others]);
  const unheld = new Set(expectGit(listed, "looking for commits that no branch holds").out.split("\n"));
  const loose = wanted.filter((commit) => unheld.has(commit));
  if (loose.length < 2) return loose;
  const tips = expectGit(await own.git(["merge-base", "--independent", ...loose]), "comparing commits");
  return tips.out.trim().split("\n").toSorted();
}

/** Git takes so many on a command line easily, and no agent has left as many. */
const mostTips = 500;

function candidatesIn({ gitDir, refs }: Place): readonly string[] {
  const isClone = refs === gitDir;
  return [
    ...stateFiles.flatMap((name) => commitsIn(join(gitDir, name))),
    ...filesBelow(join(gitDir, "refs", "worktree")).flatMap(commitsIn),
    ...entriesOf(join(gitDir, "logs", "HEAD")).flatMap(({ to, why }) => (made.test(why) ? [to] : [])),
    // Of a linked worktree the stash is in the project.
    ...(isClone ? entriesOf(join(gitDir, "logs", "refs", "stash")).map(({ to }) => to) : []),
  ];
}

/** Of a rebase, a merge or a pick left half-way. */
const stateFiles = [
  "rebase-merge/autostash",
  "rebase-apply/autostash",
  "MERGE_AUTOSTASH",
  "rebase-merge/orig-head",
  "rebase-apply/orig-head",
  "rebase-merge/stopped-sha",
  "REBASE_HEAD",
];

/** What made a new commit, as git's log of HEAD says it; the rest only moved HEAD. */
const made = /^(commit|cherry-pick|revert|merge|am|pull)\b/;

/** The commit that the worktree was last at, as the log of its HEAD says. A deleted branch is in it as zeros. */
export const lastCommitOf = ({ gitDir }: Place): string | undefined =>
  entriesOf(join(gitDir, "logs", "HEAD")).findLast(({ to }) => !/^0+$/.test(to))?.to;

/**
 * The commits that were made, pulled, merged or reset to in a checkout, the oldest first, as the log of its HEAD says. To
 * check out a branch that was moved elsewhere is none of these.
 */
export const headLog = (gitDir: string): readonly string[] =>
  entriesOf(join(gitDir, "logs", "HEAD")).flatMap(({ to, why }) => (why.startsWith("checkout:") ? [] : [to]));

const isCommit = /^[0-9a-f]{40,64}$/;

const commitsIn = (path: string): readonly string[] => linesOf(path).filter((line) => isCommit.test(line));

function entriesOf(log: string): readonly { readonly to: string; readonly why: string }[] {
  return linesOf(log).flatMap((line) => {
    const [ids = "", why = ""] = line.split("\t");
    const to = ids.split(" ")[1] ?? "";
    return isCommit.test(to) ? [{ to, why }] : [];
  });
}

/** Real files of a sensible size only: a pipe in their place would hold us for ever. */
function linesOf(path: string): readonly string[] {
  const stat = lstatIfThere(path);
  if (stat?.isFile() !== true || stat.size > longestLog) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .map((line) => line.trimEnd());
}

const longestLog = 16 * 1024 * 1024;

function filesBelow(dir: string): readonly string[] {
  if (lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const entries = readdirSync(dir, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
