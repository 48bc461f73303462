import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { HookRequest } from "../../../ports/merge-git.ts";
import { holdCommand } from "../../gates/held-command.ts";
import { endTree, gateRunVariable } from "../../linux/end-tree.ts";
import { expectGit, git } from "../git.ts";
import { adminDirOf } from "../places.ts";
import type { Ground } from "./ground.ts";

export interface LimitedHooks extends HookRequest {
  readonly limitMs: number;
}

/**
 * Runs the hooks that could veto a merge commit. They are found where the project has them, not in the candidate: a
 * relative `core.hooksPath` counts from the project's own checkout. What `commit-msg` makes of the message is not used.
 */
export async function runHooks(ground: Ground, request: LimitedHooks): Promise<string | undefined> {
  const { repository, scratch } = ground;
  const gitDir = adminDirOf(repository, request.checkout);
  if (gitDir === undefined) throw new Error(`${request.checkout} is no checkout of this repository`);
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const dir = mkdtempSync(join(scratch, "hooks-"));
  try {
    const file = join(dir, "message");
    writeFileSync(file, request.message);
    const path = await hooksPath(ground);
    for (const hook of hooks) {
      const more = hook === "commit-msg" ? ["--", file] : [];
      const cmd = ["git", "-c", `core.hooksPath=${path}`, "hook", "run", "--ignore-missing", hook, ...more];
      const env = { GIT_DIR: gitDir, GIT_WORK_TREE: request.checkout };
      const veto = await runLimited({ ...request, cmd, env, log: join(dir, "log") });
      if (veto !== undefined) return `${hook}: ${veto}`;
    }
    return undefined;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const hooks = ["pre-merge-commit", "commit-msg"] as const;

/** Is there anything that `runHooks` would run? */
export async function hasHooks(ground: Ground): Promise<boolean> {
  const path = await hooksPath(ground);
  return hooks.some((hook) => isExecutable(join(path, hook)));
}

function isExecutable(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && (stat.mode & 0o111) !== 0;
}

/**
 * Where the project has its hooks, asked for again when its configuration was written or a while has passed: a process
 * for each branch of a train would cost as much as a third of its merge.
 */
async function hooksPath(ground: Ground): Promise<string> {
  const { commonDir } = ground.repository;
  const { mtimeMs = 0, size = 0 } = statSync(join(commonDir, "config"), { throwIfNoEntry: false }) ?? {};
  const now = performance.now();
  const before = found.get(ground);
  if (before !== undefined && before.mtimeMs === mtimeMs && before.size === size && now - before.at < freshMs) {
    return before.path;
  }
  const path = await readHooksPath(ground);
  found.set(ground, { path, at: now, mtimeMs, size });
  return path;
}

interface HooksPath {
  readonly path: string;
  readonly at: number;
  /** Of the repository's own configuration; the user's is seldom written. */
  readonly mtimeMs: number;
  readonly size: number;
}

const found = new WeakMap<Ground, HooksPath>();
const freshMs = 5_000;

async function readHooksPath({ repository }: Ground): Promise<string> {
  const answer = await git(
    repository.root,
    "config",
    "-z",
    "--show-scope",
    "--type=path",
    "--get-all",
    "core.hooksPath",
  );
  const parts = expectGit(answer, "reading where the hooks are").out.split("\0");
  // Values come after their scopes; `command` is the one that we set ourselves for every call.
  const values = parts.filter((_, at) => at % 2 === 1 && parts[at - 1] !== "command");
  const path = values.at(-1);
  if (path === undefined || path === "") return join(repository.commonDir, "hooks");
  return isAbsolute(path) ? path : join(repository.root, path);
}

interface Limited extends LimitedHooks {
  readonly cmd: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly log: string;
}

/** Undefined when it passed, else what it said. The output goes to a file: a child that lives on cannot hold it open. */
async function runLimited({ cmd, checkout, env, log, limitMs, newRun, record }: Limited): Promise<string | undefined> {
  const output = openSync(log, "w", 0o600);
  const run = newRun();
  const variables = { ...hookEnvironment(), ...env, [gateRunVariable]: run.id };
  const held = holdCommand({ argv: cmd, mark: run.mark, cwd: checkout, env: variables, output });
  closeSync(output);
  const noteEnd = await record(held.identity, run).catch(async (error: unknown) => {
    held.abandon();
    await held.exited;
    throw error;
  });
  const late = Promise.withResolvers<"late">();
  const limit = setTimeout(() => late.resolve("late"), limitMs);
  try {
    await held.release();
    const outcome = await Promise.race([held.exited, late.promise]);
    if (outcome !== "late" && outcome.code === 0) return undefined;
    const said = readFileSync(log, "utf8").slice(-mostWords).trim();
    const end = outcome === "late" ? `took longer than ${limitMs} ms` : `exited ${outcome.code}`;
    return said === "" ? end : `${end}: ${said}`;
  } finally {
    clearTimeout(limit);
    await endTree(held.identity, graceMs, { gateRun: run.id, mark: run.mark });
    await noteEnd();
  }
}

const mostWords = 16_384;
const graceMs = 500;

/** What a program of the project needs; no token of ours among it. */
function hookEnvironment(): Record<string, string> {
  const env: Record<string, string> = { GIT_TERMINAL_PROMPT: "0", GIT_EDITOR: ":" };
  for (const name of [
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
  ]) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
