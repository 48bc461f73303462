import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { KeptSnapshot } from "../../../ports/worktrees.ts";
import { makeWithin } from "../../file-access.ts";
import { type FileRules, rulesFor } from "../filters.ts";
import { expectGit, git, zeroEnded } from "../git.ts";
import { scratchName } from "../leftovers.ts";
import { commitAsUser } from "../merge/commit.ts";
import { type OwnDir, openOwnDir } from "../own-dir.ts";
import type { GitProject } from "../repository.ts";
import { asGitMark } from "./snapshot.ts";

/** A snapshot and the commit that its worktree was at. */
type Kept = Pick<KeptSnapshot, "commit" | "onTop">;

/** A path in which a snapshot differs from the commit that its worktree was at. */
export interface KeptFile {
  readonly path: Buffer;
  /** `D` when the snapshot does not have it. */
  readonly status: string;
  readonly mode: string;
  readonly object: string;
  /**
   * A snapshot holds changed files as the bytes that lay in the worktree. The exceptions are staged files that were too
   * large for that, or whose worktree was gone; its message names them.
   */
  readonly form: "bytes" | "git";
}

export async function keptFiles(project: GitProject, { commit, onTop }: Kept): Promise<readonly KeptFile[]> {
  if (onTop === commit) return [];
  using own = openOwnDir({ ...shared(project), files: "bytes" });
  const [changed, asGit] = [await rawDifferences(own, onTop, commit), await namedAsGit(project, commit)];
  return changed.map((one) => ({ ...one, form: asGit.has(one.path.toString("latin1")) ? "git" : "bytes" }));
}

/** Writes kept files below a directory as they were in the worktree. Files that are there already are overwritten. */
export async function writeKept(
  project: GitProject,
  files: readonly KeptFile[],
  { commit, dir, rules }: { readonly commit: string; readonly dir: string; readonly rules: FileRules },
): Promise<void> {
  for (const form of ["bytes", "git"] as const) {
    const wanted = files.filter((one) => one.form === form && one.status !== "D").map(({ path }) => path);
    await checkOut(project, wanted, { commit, dir, files: form === "bytes" ? "bytes" : rules });
  }
}

/**
 * Writes all files of a snapshot below a directory that is not there yet, each as a worktree has it: what the agent
 * changed as it lay there, the rest as git checks it out. Throws `filters-not-ready`, and writes nothing, where a filter
 * that the files need may not run. Answers how many files it wrote.
 */
export async function exportFiles(project: GitProject, kept: Kept, dir: string): Promise<number> {
  const { commit } = kept;
  const rules = await rulesFor(project.repository, commit);
  const changed = await keptFiles(project, kept);
  const own = new Set(changed.map(({ path }) => path.toString("latin1")));
  const all = await filesOf(project, commit);
  mkdirSync(dir, { recursive: true });
  try {
    // First, because the others are checked out by them.
    await checkOut(project, all.filter(isAttributes), { commit, dir, files: "bytes" });
    const unchanged = all.filter((path) => !own.has(path.toString("latin1")));
    await checkOut(project, unchanged, { commit, dir, files: rules });
    await writeKept(project, changed, { commit, dir, rules });
    return all.length;
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}

/**
 * The work of a snapshot as a commit that can be merged: the files as `git add -A` would have stored them in the
 * worktree, on top of the commit that it was at. Throws `filters-not-ready` where a filter that the files need may not
 * run. The commit is under no ref yet.
 */
export async function commitOfKept(project: GitProject, kept: Kept, message: string): Promise<string> {
  const { repository } = project;
  const { commit, onTop } = kept;
  if (onTop === commit) return commit;
  using own = openOwnDir({ ...shared(project), files: "bytes" });
  const tree = await treeOfKept(project, kept);
  const before = onTop === null ? undefined : await own.git(["rev-parse", `${onTop}^{tree}`]);
  if (onTop !== null && before !== undefined && expectGit(before, "reading a commit").out.trim() === tree) return onTop;
  return await commitAsUser(own, repository, { tree, parent: onTop, message });
}

/** The files of a snapshot as `commitOfKept` would store them. Throws as that. */
export async function treeOfKept(project: GitProject, kept: Kept): Promise<string> {
  const { commit, onTop } = kept;
  const changed = await keptFiles(project, kept);
  const { repository, scratch } = project;
  const rules = await rulesFor(repository, commit);
  makeWithin(scratch, 3);
  const dir = mkdtempSync(join(scratch, scratchName("files")));
  try {
    const bytes = changed.filter(({ form, status, mode }) => form === "bytes" && status !== "D" && mode !== gitlink);
    await writeKept(project, bytes, { commit, dir, rules });
    using own = openOwnDir({ ...shared(project), workTree: dir, files: rules });
    // Not that of the snapshot: git asks the index whether a text already has line ends of another system in it.
    expectGit(await own.git(onTop === null ? ["read-tree", "--empty"] : ["read-tree", onTop]), "reading a commit");
    const known = changed.filter((one) => !bytes.includes(one));
    const lines = known.flatMap(({ mode, object, path }) => [Buffer.from(`${mode} ${object}\t`), path, zero]);
    expectGit(await own.git(["update-index", "-z", "--index-info"], { stdin: Buffer.concat(lines) }), "storing files");
    const stdin = Buffer.concat(bytes.flatMap(({ path }) => [path, zero]));
    expectGit(await own.git(["update-index", "--add", "--replace", "-z", "--stdin"], { stdin }), "storing files");
    return expectGit(await own.git(["write-tree"]), "writing the files").out.trim();
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const gitlink = "160000";
const zero = Buffer.of(0);
const shared = ({ repository, scratch }: GitProject) => ({ repository, scratch, objects: "project" as const });

export const isAttributes = (path: Buffer): boolean => /(^|\/)\.gitattributes$/.test(path.toString("latin1"));

/** All files of a commit. Submodules are not among them. */
async function filesOf(project: GitProject, commit: string): Promise<readonly Buffer[]> {
  using own = openOwnDir({ ...shared(project), files: "bytes" });
  const listed = expectGit(await own.git(["ls-tree", "-r", "-z", "--full-tree", commit]), "listing files");
  return zeroEnded(listed.raw).flatMap((line) => {
    const end = line.indexOf(0x09);
    return line.subarray(0, gitlink.length).toString() === gitlink ? [] : [line.subarray(end + 1)];
  });
}

async function checkOut(
  project: GitProject,
  paths: readonly Buffer[],
  { commit, dir, files }: { readonly commit: string; readonly dir: string; readonly files: "bytes" | FileRules },
): Promise<void> {
  if (paths.length === 0) return;
  using own = openOwnDir({ ...shared(project), workTree: dir, files });
  expectGit(await own.git(["read-tree", commit]), `reading ${commit}`);
  const stdin = Buffer.concat(paths.flatMap((path) => [path, zero]));
  expectGit(await own.git(["checkout-index", "--force", "-z", "--stdin"], { stdin }), "writing the files");
}

async function rawDifferences(
  own: OwnDir,
  from: string | null,
  to: string,
): Promise<readonly Omit<KeptFile, "form">[]> {
  const start = from ?? expectGit(await own.git(["mktree"], { stdin: "" }), "writing the empty tree").out.trim();
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", start, to];
  const parts = zeroEnded(expectGit(await own.git(args), "comparing commits").raw);
  const found: Omit<KeptFile, "form">[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [, mode = "", , object = "", status = ""] = parts[at]?.toString().split(" ") ?? [];
    found.push({ path: parts[at + 1] as Buffer, status, mode, object });
  }
  return found;
}

/** The files that the message of a snapshot names as stored by git's own rules, as latin1. */
async function namedAsGit({ repository }: GitProject, commit: string): Promise<ReadonlySet<string>> {
  const shown = expectGit(await git(repository.root, "show", "-s", "--format=%b", commit), "reading a snapshot");
  const lines = shown.out.split("\n").filter((line) => line.startsWith(asGitMark));
  return new Set(lines.map((line) => Buffer.from(line.slice(asGitMark.length), "hex").toString("latin1")));
}
