import { git } from "../git/git.ts";

export interface CommitRequest {
  readonly root: string;
  /** Relative to the root. */
  readonly paths: readonly string[];
  readonly message: string;
  /** Of the person who asked: their identity, their signing key, their hooks. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type CommitAnswer =
  | { readonly kind: "committed" }
  | { readonly kind: "nothing-to-commit" }
  | { readonly kind: "failed"; readonly why: string };

/**
 * Commits exactly these paths the way their author would, hooks included. Whatever else is staged stays staged and
 * uncommitted. When it fails, the index is as it was.
 */
export async function commitPaths({ root, paths, message, env }: CommitRequest): Promise<CommitAnswer> {
  if (paths.length === 0) return { kind: "nothing-to-commit" };
  const exactly = ["--", ...paths.map(literal)];
  const added = await asUser(root, env, ["add", ...exactly]);
  if (added.code === 0 && (await uncommitted(root, paths)).length === 0) return { kind: "nothing-to-commit" };
  const answer = added.code === 0 ? await asUser(root, env, ["commit", "--quiet", "-m", message, ...exactly]) : added;
  if (answer.code === 0) return { kind: "committed" };
  await git(root, "reset", "--quiet", ...exactly);
  return { kind: "failed", why: reason(answer.err, answer.out) };
}

/** A file that is not as its last commit has it. */
export interface Uncommitted {
  readonly path: string;
  readonly tracked: boolean;
}

/** Which of these paths hold something that is not committed yet. Ignored files are not among them. */
export async function uncommitted(root: string, paths: readonly string[]): Promise<readonly Uncommitted[]> {
  const exactly = ["--", ...paths.map(literal)];
  const { out } = await git(root, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", ...exactly);
  const lines = out.split("\0").filter((line) => line !== "");
  return lines.map((line) => ({ path: line.slice(3), tracked: !line.startsWith("??") }));
}

/** Which of these files git is told to ignore. */
export async function ignored(root: string, paths: readonly string[]): Promise<readonly string[]> {
  const untracked = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"];
  const { out } = await git(root, ...untracked, "--", ...paths.map(literal));
  return out.split("\0").filter((path) => path !== "");
}

/** The path itself, even where it could be read as a pattern. Not a global option: hooks would inherit that. */
const literal = (path: string): string => `:(top,literal)${path}`;

/** Where the repository is has been decided already; a caller's variables must not lead git to another one. */
const redirecting = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE"];

async function asUser(root: string, env: CommitRequest["env"], args: readonly string[]) {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !redirecting.includes(name)));
  const child = Bun.spawn({
    cmd: ["git", ...args],
    cwd: root,
    env: { ...own, GIT_TERMINAL_PROMPT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}

/** The last words before git gave up; what hooks print is mostly progress. */
function reason(...outputs: readonly string[]): string {
  const lines = outputs.flatMap((output) => output.split("\n").map((line) => line.trim())).filter(Boolean);
  return (
    lines.find((line) => line.startsWith("fatal:") || line.startsWith("error:")) ?? lines[0] ?? "git gave no reason"
  );
}
