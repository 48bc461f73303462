import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type Hook, isTrustedHook } from "../../../domain/trust/filters.ts";
import type { HookRequest, HookVeto } from "../../../ports/merge-git.ts";
import { makeWithin, statIfThere } from "../../file-access.ts";
import { holdCommand } from "../../gates/held-command.ts";
import { endTree, gateRunVariable } from "../../linux/end-tree.ts";
import { readTrust } from "../../trust-file.ts";
import { settingsMatching } from "../filters.ts";
import { adminDirOf } from "../places.ts";
import type { Repository } from "../repository.ts";
import type { MergeRepository } from "./merge-repository.ts";

export interface LimitedHooks extends HookRequest {
  readonly limitMs: number;
}

/**
 * Runs the hooks that could veto a merge commit, as far as the user's own configuration names them or the operator
 * confirmed them. They are found where the project has them, not in the candidate: a relative `core.hooksPath` counts
 * from the project's own checkout. What `commit-msg` makes of the message is not used.
 */
export async function runHooks(mergeRepo: MergeRepository, request: LimitedHooks): Promise<HookVeto | undefined> {
  const { repository, scratch } = mergeRepo;
  const gitDir = adminDirOf(repository, request.checkout);
  if (gitDir === undefined) throw new Error(`${request.checkout} is no checkout of this repository`);
  makeWithin(scratch, 3);
  const dir = mkdtempSync(join(scratch, "hooks-"));
  try {
    const file = join(dir, "message");
    writeFileSync(file, request.message);
    for (const { name, path } of (await standingHooks(mergeRepo)).trusted) {
      const more = name === "commit-msg" ? [file] : [];
      const env = { GIT_DIR: gitDir, GIT_WORK_TREE: request.checkout };
      const words = await runLimited({ ...request, cmd: [path, ...more], env, log: join(dir, "log") });
      if (words !== undefined) return { hook: name, words };
    }
    return undefined;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const hookNames = ["pre-merge-commit", "commit-msg"] as const;

interface StandingHooks {
  readonly trusted: readonly Hook[];
  readonly unconfirmed: readonly Hook[];
}

/** The hooks that could veto a merge, by whether we may run them. */
export async function standingHooks({ repository }: Pick<MergeRepository, "repository">): Promise<StandingHooks> {
  const { path: dir, isUsers } = await hooksPath(repository);
  const pins = readTrust(repository.trust).hooks;
  const found = hookNames.flatMap((name): readonly Hook[] => {
    const path = join(dir, name);
    return isExecutable(path) ? [{ name, path, isUsers, digest: digestOf(path) }] : [];
  });
  return {
    trusted: found.filter((hook) => isTrustedHook(hook, pins)),
    unconfirmed: found.filter((hook) => !isTrustedHook(hook, pins)),
  };
}

/** Paths of the hooks that `git commit` would run and that we do not. */
export async function commitHooks(repository: Repository): Promise<readonly string[]> {
  const { path: dir } = await hooksPath(repository);
  return ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"]
    .map((name) => join(dir, name))
    .filter(isExecutable);
}

function isExecutable(path: string): boolean {
  const stat = statIfThere(path);
  return stat?.isFile() === true && (stat.mode & 0o111) !== 0;
}

const digestOf = (path: string): string => new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");

/**
 * Where the project has its hooks, asked for again when its configuration was written or a while has passed: a process
 * for each branch of a train would cost as much as a third of its merge.
 */
export async function hooksPath(repository: Repository): Promise<HooksPlace> {
  const { mtimeMs = 0, size = 0 } = statSync(join(repository.commonDir, "config"), { throwIfNoEntry: false }) ?? {};
  const now = performance.now();
  const before = found.get(repository);
  if (before !== undefined && before.mtimeMs === mtimeMs && before.size === size && now - before.at < freshMs) {
    return before.place;
  }
  const place = readHooksPath(repository);
  found.set(repository, { place, at: now, mtimeMs, size });
  // The callers that wait for it get the error; the next caller tries again.
  place.catch(() => found.delete(repository));
  return place;
}

interface HooksPlace {
  readonly path: string;
  /** The user's or the system's own configuration says so. */
  readonly isUsers: boolean;
}

interface SeenHooksPlace {
  readonly place: Promise<HooksPlace>;
  readonly at: number;
  /** Of the repository's own configuration; the user's is seldom written. */
  readonly mtimeMs: number;
  readonly size: number;
}

const found = new WeakMap<Repository, SeenHooksPlace>();
const freshMs = 5_000;

async function readHooksPath(repository: Repository): Promise<HooksPlace> {
  const setting = (await settingsMatching(repository, "^core\\.hookspath$", "--type=path")).at(-1);
  if (setting === undefined || setting.value === "") {
    return { path: join(repository.commonDir, "hooks"), isUsers: false };
  }
  const { value, isUsers } = setting;
  // A relative path leads into the project's checkout.
  return isAbsolute(value) ? { path: value, isUsers } : { path: join(repository.root, value), isUsers: false };
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
