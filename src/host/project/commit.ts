import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { failureOf } from "../../domain/failure.ts";
import { fileRules } from "../git/filters.ts";
import { expectGit, type GitAnswer, git, runGit } from "../git/git.ts";
import { committer } from "../git/merge/commit.ts";
import { commitHooks } from "../git/merge/hooks.ts";
import { openMergeRepository } from "../git/merge/merge-repository.ts";
import { type OwnDir, type OwnDirOptions, openOwnDir } from "../git/own-dir.ts";
import { placeOf } from "../git/places.ts";
import { commitAt } from "../git/refs.ts";
import { openRepository, type Repository } from "../git/repository.ts";

export interface CommitRequest {
  readonly root: string;
  /** Relative to the root. */
  readonly paths: readonly string[];
  readonly message: string;
  /** Of the person who asked: their identity, their signing key. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type CommitAnswer =
  /** With the names of hooks that `git commit` would have run. */
  | { readonly kind: "committed"; readonly hooksNotRun: readonly string[] }
  | { readonly kind: "nothing-to-commit" }
  | { readonly kind: "failed"; readonly why: string };

/**
 * Commits exactly these paths in the name of the person who asked. Whatever else is staged stays staged and uncommitted.
 * When it fails, the index is as it was. No hook runs: those of a repository can be written by agents.
 */
export async function commitPaths({ root, paths, message, env }: CommitRequest): Promise<CommitAnswer> {
  if (paths.length === 0) return { kind: "nothing-to-commit" };
  const repository = await openRepository(root)();
  const half = halfDone.find((name) => existsSync(join(repository.gitDir, name)));
  if (half !== undefined) return { kind: "failed", why: `the checkout is in the middle of something (${half})` };
  using scratch = temporary();
  const view = await opener(repository, scratch.path);
  const head = await commitAt({ repository }, "HEAD");
  using aside = view();
  if (head !== undefined) expectGit(await aside.git(["read-tree", head]), "reading the last commit");
  const stored = await add(aside, paths);
  if (stored.code !== 0) return failed(stored);
  const tree = expectGit(await aside.git(["write-tree"]), "writing a tree").out.trim();
  const before = head === undefined ? undefined : await aside.git(["rev-parse", `${head}^{tree}`]);
  if (before?.out.trim() === tree) return { kind: "nothing-to-commit" };
  const author = await runGit({ cwd: root, args: ["var", "GIT_AUTHOR_IDENT"], env: identityOf(env) });
  const [, name, email] = /^(.*) <(.*)> \d+ [+-]\d+$/.exec(author.out.trim()) ?? [];
  if (author.code !== 0 || name === undefined || email === undefined) return failed(author);
  const commit = committer(openMergeRepository({ repository, scratch: scratch.path, idleMs: 0 }));
  const parents = head === undefined ? [] : [head];
  try {
    const made = await commit({ tree, parents, message: `${message}\n`, user: { name, email } });
    return await place(repository, { made, head, paths, message }, view({ index: join(repository.gitDir, "index") }));
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind !== "signing-failed") throw error;
    return { kind: "failed", why: `it could not be signed: ${failure.problem}` };
  }
}

const halfDone = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

/** Puts the files into the user's own index and moves the branch, or neither. */
async function place(
  repository: Repository,
  step: { made: string; head: string | undefined; paths: readonly string[]; message: string },
  index: OwnDir,
): Promise<CommitAnswer> {
  using own = index;
  const { root } = repository;
  const { made, head, paths, message } = step;
  const listed = expectGit(await own.git(["ls-files", "-z", "--stage", "--", ...paths]), "reading the index");
  const staged = await add(own, paths);
  if (staged.code !== 0) return failed(staged);
  const nothing = "0".repeat(made.length);
  const moved = await git(root, "update-ref", "-m", `commit: ${message}`, "HEAD", made, head ?? nothing);
  if (moved.code === 0) {
    return { kind: "committed", hooksNotRun: (await commitHooks(repository)).map((path) => basename(path)) };
  }
  const removed = paths.map((path) => `0 ${nothing}\t${path}\0`).join("");
  const stdin = Buffer.concat([Buffer.from(removed), listed.raw]);
  expectGit(await own.git(["update-index", "-z", "--index-info"], { stdin }), "putting the index back");
  return failed(moved);
}

const add = (own: OwnDir, paths: readonly string[]): Promise<GitAnswer> =>
  own.git(["update-index", "--add", "-z", "--stdin"], { stdin: paths.map((path) => `${path}\0`).join("") });

/** A file that is not as its last commit has it. */
export interface Uncommitted {
  readonly path: string;
  readonly tracked: boolean;
}

/** Which of these paths hold something that is not committed yet. Ignored files are not among them. */
export async function uncommitted(root: string, paths: readonly string[]): Promise<readonly Uncommitted[]> {
  const repository = await openRepository(root)();
  using scratch = temporary();
  using own = (await opener(repository, scratch.path))({ indexFrom: repository.gitDir });
  const args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--", ...paths];
  const lines = expectGit(await own.git(args), "looking for changes")
    .out.split("\0")
    .filter((line) => line !== "");
  return lines.map((line) => ({ path: line.slice(3), tracked: !line.startsWith("??") }));
}

/** Which of these files git is told to ignore. */
export async function ignored(root: string, paths: readonly string[]): Promise<readonly string[]> {
  const untracked = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"];
  const { out } = await git(root, ...untracked, "--", ...paths.map((path) => `:(top,literal)${path}`));
  return out.split("\0").filter((path) => path !== "");
}

type View = (more?: Pick<OwnDirOptions, "index" | "indexFrom">) => OwnDir;

/** The user's checkout through git directories of our own. */
async function opener(repository: Repository, scratch: string): Promise<View> {
  const files = await fileRules(repository);
  const { root } = repository;
  const head = placeOf(repository, { path: root, kind: "root" })?.head;
  const common = { repository, scratch, head, workTree: root, objects: "project", files } as const;
  return (more = {}) => openOwnDir({ ...common, ...more });
}

/** Nothing of it may lie in a repository that is not set up yet. */
function temporary(): { readonly path: string } & Disposable {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "ov-commit-")));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Who the person is may be said by variables as well. */
function identityOf(env: CommitRequest["env"]): Readonly<Record<string, string>> {
  const wanted =
    /^(GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL)|EMAIL|GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|HOME|XDG_CONFIG_HOME)$/;
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value !== undefined && wanted.test(name) ? [[name, value]] : [])),
  );
}

/** The last words before git gave up. */
const locked =
  "another git command is at work in this checkout, or was killed and left its lock; then commit them: git commit";

function failed({ err, out }: GitAnswer): CommitAnswer {
  const lines = [err, out].flatMap((output) => output.split("\n").map((line) => line.trim())).filter(Boolean);
  const last = lines.find((line) => line.startsWith("fatal:") || line.startsWith("error:"));
  if (last !== undefined && /\.lock': File exists/.test(last)) return { kind: "failed", why: locked };
  return { kind: "failed", why: last ?? lines[0] ?? "git gave no reason" };
}
