import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { no, ok, type Result } from "../../domain/result.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import type { BlamedLine, CommitFacts, FileHistory, NamedPlace } from "../../ports/file-history.ts";
import { readText, statIfThere } from "../file-access.ts";
import { commonDirAt } from "../project-place.ts";
import { type GitAnswer, runGit } from "./git.ts";
import { usersFiles } from "./merge/users-git.ts";

const patienceMs = 20_000;
const mostBytes = 64 * 1024 * 1024;
/** Merges of merges of merges: deeper than teams and their users nest them. */
const deepestMerge = 6;

/** `root` is the project's root, `cwd` the directory in which a path was typed. */
export const fileHistory = (root: string, cwd: string): FileHistory => ({
  locate: (typed, branch) => locate(root, cwd, typed, branch),
  blame: (place, range) => blame(root, place, range),
  commit: (id) => commitFacts(root, id),
  mergesThatBrought: (commit, tip) => mergesThatBrought(root, commit, tip),
  agentBranchesWith: async (commit) => {
    const below = ["--format=%(refname:lstrip=2)", `--count=${mostBranches}`, "refs/heads/overstory/"];
    const found = await oneLine(root, "for-each-ref", `--contains=${commit}`, ...below);
    return (found ?? "").split("\n").filter((name) => name !== "" && !name.startsWith("overstory/integration/"));
  },
  isMadeOn: async (commit, branch, base) => {
    const own = await oneLine(root, "rev-list", "--first-parent", `refs/heads/${branch}`, `^${base}`, "--");
    return own?.split("\n").includes(commit) === true;
  },
});

const mostBranches = 50;

const ask = (cwd: string, ...args: string[]): Promise<GitAnswer> =>
  runGit({ cwd, args, limitMs: patienceMs, mostBytes });

const oneLine = async (cwd: string, ...args: string[]): Promise<string | undefined> => {
  const { code, out } = await ask(cwd, ...args);
  return code === 0 ? out.replace(/\n$/, "") : undefined;
};

async function locate(
  root: string,
  cwd: string,
  typed: string,
  branch: string | undefined,
): Promise<Result<NamedPlace, string>> {
  const file = isAbsolute(typed) ? typed : join(cwd, typed);
  const directory = existingDirectory(dirname(file));
  const common = commonDirAt(root);
  const top = await oneLine(directory, "rev-parse", "--show-toplevel");
  const checkout = top !== undefined && commonDirAt(top) === common ? top : root;
  const path = relative(checkout, join(directory, relative(existingPart(dirname(file)), file)));
  if (path === "" || path.startsWith("../") || isAbsolute(path)) return no("is not in this repository");
  const ref = branch === undefined ? "HEAD" : `refs/heads/${branch}`;
  const tip = await oneLine(checkout, "rev-parse", "--verify", "--quiet", `${ref}^{commit}`);
  if (tip === undefined)
    return no(
      branch === undefined
        ? "has no history yet: nothing is committed"
        : `cannot be looked for: there is no branch ${branch}`,
    );
  const { code, out } = await ask(checkout, "cat-file", "-t", `${tip}:${path}`);
  // A submodule is there under its name, and its commit is in a repository of its own.
  if (code !== 0 && (await oneLine(checkout, "rev-parse", "--verify", "--quiet", `${tip}:${path}`)) !== undefined)
    return no(`is a submodule, with a history of its own; look there: git -C ${shellWord(typed)} log`);
  if (code !== 0) return no(branch === undefined ? "is in no commit of this checkout" : `is not on ${branch}`);
  if (out.trim() !== "blob") return no("is a directory; name a file");
  const head = await oneLine(checkout, "symbolic-ref", "--quiet", "--short", "HEAD");
  const stat = statIfThere(file);
  const text =
    branch === undefined && stat?.isFile() === true && stat.size < mostBytes ? (readText(file) ?? null) : null;
  const isCommitted = text !== null && (await isStoredAs(checkout, path, `${tip}:${path}`));
  return ok({ path, tip, branch: branch ?? head ?? null, text, isCommitted });
}

async function isStoredAs(checkout: string, path: string, object: string): Promise<boolean> {
  const [is, was] = await Promise.all([
    usersFiles({ checkout }, "hash-object", "--", path),
    oneLine(checkout, "rev-parse", "--verify", "--quiet", object),
  ]);
  return is.code === 0 && is.out.trim() === was;
}

/** The deepest directory of a path that is there: a file of a branch may be in one that the checkout lacks. */
const existingPart = (directory: string): string =>
  statIfThere(directory)?.isDirectory() === true || directory === dirname(directory)
    ? directory
    : existingPart(dirname(directory));

/** With links followed, as git names directories. */
const existingDirectory = (directory: string): string => realpathSync(existingPart(directory));

async function blame(
  root: string,
  { path, tip }: Pick<NamedPlace, "path" | "tip">,
  range: { readonly from: number; readonly to: number } | undefined,
): Promise<Result<readonly BlamedLine[], string>> {
  const only = range === undefined ? [] : ["-L", `${range.from},${range.to}`];
  const { code, out, err, isLate } = await ask(root, "blame", "--no-textconv", "--porcelain", ...only, tip, "--", path);
  if (isLate)
    return no(
      `has a history that takes longer than ${patienceMs / 1_000} s to read; name a line of it: ${basename(path)}:1`,
    );
  if (code === 0) return ok(blamedLines(out));
  const [lines] = /has only \d+ lines?/.exec(err) ?? [];
  return no(lines ?? `cannot be explained: ${err.trim().split("\n")[0] ?? ""}`);
}

/** Git names a line by its commit and number, then says facts about new commits, then the text behind a tab. */
function blamedLines(porcelain: string): readonly BlamedLine[] {
  const found: BlamedLine[] = [];
  let head: { readonly commit: string; readonly line: number } | undefined;
  for (const line of porcelain.split("\n")) {
    const [, commit, number] = /^([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?$/.exec(line) ?? [];
    if (head === undefined && commit !== undefined) head = { commit, line: Number(number) };
    if (head === undefined || !line.startsWith("\t")) continue;
    found.push({ ...head, text: line.slice(1) });
    head = undefined;
  }
  return found;
}

const fieldEnd = "\u0000";
const format = ["%H", "%P", "%an <%ae>", "%ct", "%s", "%(trailers:only,unfold)"].join("%x00");

async function commitFacts(root: string, id: string): Promise<CommitFacts | undefined> {
  const { code, out } = await ask(
    root,
    "show",
    "--no-patch",
    "--no-color",
    "--no-show-signature",
    "--no-textconv",
    `--format=${format}`,
    `${id}^{commit}`,
    "--",
  );
  if (code !== 0) return undefined;
  const [commit = "", parents = "", author = "", seconds = "", subject = "", ...rest] = out.split(fieldEnd);
  const trailers = [...rest.join("").matchAll(/^Overstory-([\w-]+): (.*)$/gm)].map(([, name = "", value = ""]) => [
    name,
    value,
  ]);
  return {
    id: commit.trim(),
    parents: parents.split(" ").filter((parent) => parent !== ""),
    author,
    committedAt: Number(seconds) * 1_000,
    subject,
    isCutOff: isBoundary(root, commit.trim()),
    trailers: Object.fromEntries(trailers),
  };
}

/** A shallow clone lists the commits where its history ends. */
function isBoundary(root: string, id: string): boolean {
  const common = commonDirAt(root);
  return common !== undefined && readText(join(common, "shallow"))?.split("\n").includes(id) === true;
}

async function mergesThatBrought(root: string, commit: string, tip: string): Promise<readonly CommitFacts[]> {
  const merges: CommitFacts[] = [];
  let from = tip;
  while (merges.length < deepestMerge) {
    const chain = await oneLine(root, "rev-list", "--first-parent", "--ancestry-path", `${commit}..${from}`, "--");
    // The oldest commit of the branch that holds the commit: it is the merge that brought it, or the next one made after it.
    const first = chain?.split("\n").at(-1);
    const merge = first === undefined || first === "" ? undefined : await commitFacts(root, first);
    if (merge === undefined) return merges;
    const [before, ...brought] = merge.parents;
    if (before === undefined || before === commit || (await holds(root, commit, before))) return merges;
    merges.push(merge);
    const next = await firstThat(brought, (parent) => holds(root, commit, parent));
    if (next === undefined || next === commit) return merges;
    from = next;
  }
  return merges;
}

const holds = async (root: string, commit: string, descendant: string): Promise<boolean> =>
  (await ask(root, "merge-base", "--is-ancestor", commit, descendant)).code === 0;

async function firstThat<T>(all: readonly T[], fits: (one: T) => Promise<boolean>): Promise<T | undefined> {
  for (const one of all) if (await fits(one)) return one;
  return undefined;
}
