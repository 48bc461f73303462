import { expectRoom } from "./full-disk.ts";

export interface GitAnswer {
  readonly code: number;
  readonly out: string;
  /** The same as it came: file names need not be text. */
  readonly raw: Buffer;
  readonly err: string;
}

export interface GitCall {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array | string;
}

/**
 * Runs git in a repository that agents may have touched: no hooks, no fsmonitor, no pager, no prompt, no signature
 * program, and none of the variables by which a caller's git could redirect ours. Commands that read or write files of
 * a work tree belong in `own-dir.ts`, which does not even read such a repository's configuration.
 */
export function git(cwd: string, ...args: string[]): Promise<GitAnswer> {
  return runGit({ cwd, args });
}

export async function runGit({ cwd, args, env = {}, stdin }: GitCall): Promise<GitAnswer> {
  const child = Bun.spawn({
    cmd: ["git", "--no-pager", ...harmless, ...args],
    cwd,
    env: { ...gitEnvironment(), ...env },
    stdio: [stdin === undefined ? "ignore" : bytesOf(stdin), "pipe", "pipe"],
    timeout: patienceMs,
    killSignal: "SIGKILL",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).arrayBuffer(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const raw = Buffer.from(out);
  return { code, raw, out: raw.toString("utf8"), err };
}

/** The output of a git that must not fail here. Where there was no room for what it does, that is thrown as itself. */
export function expectGit(answer: GitAnswer, what: string): GitAnswer {
  expectRoom(answer, null);
  if (answer.code !== 0) throw new Error(`${what}: git exited ${answer.code}: ${answer.err.trim()}`);
  return answer;
}

/** The parts of a list that git ended with a zero byte each. */
export function zeroEnded(raw: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let start = 0; start < raw.length; ) {
    const end = raw.indexOf(0, start);
    const stop = end < 0 ? raw.length : end;
    parts.push(raw.subarray(start, stop));
    start = stop + 1;
  }
  return parts;
}

/** Nothing here takes longer on a repository of ordinary size; a git that waits on a planted pipe must not hold us. */
const patienceMs = 300_000;

const harmless = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.attributesFile=/dev/null",
  "core.sshCommand=false",
  "credential.helper=",
  "diff.external=",
  "gc.auto=0",
  "maintenance.auto=false",
  "log.showSignature=false",
  "commit.gpgSign=false",
  "submodule.recurse=false",
  "advice.detachedHead=false",
].flatMap((setting) => ["-c", setting]);

function gitEnvironment(): Record<string, string> {
  const env: Record<string, string> = {
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
    LC_ALL: "C",
  };
  for (const name of ["HOME", "PATH", "USER", "TMPDIR", "XDG_CONFIG_HOME"]) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}

const bytesOf = (stdin: Uint8Array | string): Uint8Array => (typeof stdin === "string" ? Buffer.from(stdin) : stdin);
