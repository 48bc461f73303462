import type { Subprocess } from "bun";
import { Failure } from "../../domain/failure.ts";
import { markedAsGate } from "../linux/mark.ts";
import { linuxProcesses } from "../processes.ts";
import { expectRoom } from "./full-disk.ts";
import { lookAtOthers, watchForPipes } from "./planted-pipes.ts";

export interface GitAnswer {
  readonly code: number;
  /** What it printed, as text. Made when it is asked for. */
  readonly out: string;
  /** The same as it came: file names need not be text. Empty where `each` took it. */
  readonly raw: Buffer;
  readonly err: string;
  /** It was ended because it took too long. */
  readonly isLate: boolean;
}

export interface GitCall {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A promise: git is started at once, and reads this when it is there. If the promise is rejected, git is ended. */
  readonly stdin?: Uint8Array | string | Promise<string>;
  /** Filters may run: they get what a program of the user's needs to fetch a large file or find a key. */
  readonly withFilters?: boolean;
  /**
   * Git may start another program, such as the one that signs. With filters it always may. Agents can write the user's
   * git configuration as well, so such a program may be an agent's.
   */
  readonly startsPrograms?: boolean;
  /** After this time it is ended, with everything it started. */
  readonly limitMs?: number;
  /** Words before the command line, by which the system lets git see no more than an agent does. */
  readonly within?: readonly string[] | undefined;
  /** Takes each part that ends with a zero byte as it comes, for lists as long as the project has files. */
  readonly each?: (part: Buffer) => void;
  /** If it prints more than this, it is ended, and the answer says so. */
  readonly mostBytes?: number;
  /** Gets the output as it comes, where it may be too large to keep; `out` and `raw` are empty then. */
  readonly onOutput?: (part: Uint8Array) => void;
}

/**
 * Runs git in a repository that agents may have touched: no hooks, no fsmonitor, no pager, no prompt, no signature
 * program, and none of the variables by which a caller's git could redirect ours. Commands that read or write files of
 * a work tree belong in `own-dir.ts`, which does not even read such a repository's configuration.
 */
export function git(cwd: string, ...args: string[]): Promise<GitAnswer> {
  return runGit({ cwd, args });
}

export async function runGit(call: GitCall): Promise<GitAnswer> {
  const { stdin, withFilters = false, onOutput } = call;
  const { limitMs = withFilters ? filterPatienceMs : patienceMs } = call;
  const { each, mostBytes = mostOutputBytes } = call;
  const command = commandFor(call);
  const child = Bun.spawn({
    ...command,
    stdio: [stdin === undefined ? "ignore" : stdin instanceof Promise ? "pipe" : bytesOf(stdin), "pipe", "pipe"],
  });
  const given = stdin instanceof Promise ? giveLater(child, stdin) : undefined;
  // It is waited for when git has ended.
  given?.catch(() => undefined);
  let isTooMuch = false;
  const tooMuch = (): void => {
    isTooMuch = true;
    void endChild(child);
  };
  const outputs = [
    openOutput(child.stdout, { each, onOutput, mostBytes, tooMuch }),
    openOutput(child.stderr, { mostBytes, tooMuch }),
  ] as const;
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    // With everything it started: a program that waits for a word would hold our end of its output open for ever.
    void endChild(child).finally(() => outputs.forEach(giveUp));
  }, limitMs);
  let planted: Failure | undefined;
  const endWatch = watchForPipes({ ...command, pid: child.pid }, (failure) => {
    planted = failure;
    void endChild(child).finally(() => outputs.forEach(giveUp));
  });
  const [raw = Buffer.alloc(0), err] = await Promise.all(outputs.map(({ whole }) => whole));
  const code = await child.exited;
  clearTimeout(limit);
  endWatch();
  // Git was ended because of a pipe in its way: neither its output nor its exit code is an answer.
  if (planted !== undefined) {
    await lookAtOthers();
    throw planted;
  }
  await given;
  const late = isLate ? `git did not end within ${Math.round(limitMs / 1000)} s` : "";
  const size = `${Math.ceil(mostBytes / megabyte)} MB`;
  const much = isTooMuch ? `git printed more than ${size}, which is more than ov reads at once` : "";
  const words = [err?.toString() ?? "", late, much].filter((part) => part !== "").join("\n");
  let text: string | undefined;
  return {
    code: isTooMuch ? tooMuchCode : code,
    raw,
    get out() {
      text ??= raw.toString("utf8");
      return text;
    },
    err: words,
    isLate,
  };
}

async function giveLater(child: Subprocess<"pipe" | Uint8Array | "ignore">, stdin: Promise<string>): Promise<void> {
  try {
    const text = await stdin;
    if (typeof child.stdin !== "object") return;
    child.stdin.write(text);
    await child.stdin.end();
  } catch (error) {
    // A git that ended without reading all of it says why by its exit code.
    if (error instanceof Error && "code" in error && error.code === "EPIPE") return;
    child.kill("SIGKILL");
    throw error;
  }
}

const megabyte = 1024 * 1024;
/** A list of a million files has about a hundred megabytes, with its object ids. */
const mostOutputBytes = 256 * megabyte;
/** As git says that something broke. */
const tooMuchCode = 128;

/** The command line, directory and environment of a call. */
export function commandFor({
  cwd,
  args,
  env = {},
  withFilters = false,
  startsPrograms = withFilters,
  within,
}: GitCall) {
  // What confines a program starts it in a directory of its own.
  const first = within === undefined ? [gitProgram()] : [...within, gitProgram(), "-C", cwd];
  const cmd = [...first, "--no-pager", ...harmless, ...(withFilters ? [] : unreachable), ...args];
  return { cmd: startsPrograms ? markedAsGate(cmd) : cmd, cwd, env: { ...gitEnvironment(withFilters), ...env } };
}

let program: string | undefined;

/**
 * The full path of git, looked up once. The engine has the PATH of the shell that started it, which may lack git. Then
 * the usual directories are tried.
 */
function gitProgram(): string {
  program ??= Bun.which("git") ?? Bun.which("git", { PATH: usualPlaces }) ?? undefined;
  if (program === undefined) throw new Failure({ kind: "program-missing", program: "git" });
  return program;
}

/** Where systems keep their programs. */
export const usualPlaces = [
  "/usr/bin",
  "/usr/local/bin",
  "/bin",
  "/opt/homebrew/bin",
  "/opt/local/bin",
  "/run/current-system/sw/bin",
].join(":");

async function endChild(child: Subprocess): Promise<void> {
  const identity = linuxProcesses.identify(child.pid);
  if (identity !== undefined) await linuxProcesses.endTree(identity, 0);
  child.kill("SIGKILL");
}

interface Output {
  readonly whole: Promise<Buffer>;
  readonly reader: Reader;
}

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

interface Taking {
  readonly each?: ((part: Buffer) => void) | undefined;
  readonly onOutput?: ((part: Uint8Array) => void) | undefined;
  readonly mostBytes: number;
  /** Called once, when there is more than may be held; the rest is not read. */
  tooMuch(): void;
}

function openOutput(stream: ReadableStream<Uint8Array>, taking: Taking): Output {
  const reader = stream.getReader();
  const { each, onOutput } = taking;
  if (onOutput !== undefined) return { reader, whole: pass(reader, onOutput) };
  return { reader, whole: each === undefined ? readAll(reader, taking) : readEach(reader, each) };
}

async function pass(reader: Reader, onOutput: (part: Uint8Array) => void): Promise<Buffer> {
  for (;;) {
    const { done, value } = await reader.read();
    if (value !== undefined) onOutput(value);
    if (done) return Buffer.alloc(0);
  }
}

async function readAll(reader: Reader, { mostBytes, tooMuch }: Taking): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (value !== undefined) parts.push(value);
    size += value?.length ?? 0;
    if (size > mostBytes) {
      tooMuch();
      await reader.cancel();
      return Buffer.alloc(0);
    }
    if (done) return Buffer.concat(parts);
  }
}

async function readEach(reader: Reader, each: (part: Buffer) => void): Promise<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for (;;) {
    const { done, value } = await reader.read();
    if (value !== undefined) {
      const bytes = rest.length === 0 ? Buffer.from(value) : Buffer.concat([rest, value]);
      const end = bytes.lastIndexOf(0) + 1;
      for (const part of zeroEnded(bytes.subarray(0, end))) each(part);
      rest = bytes.subarray(end);
    }
    if (!done) continue;
    if (rest.length > 0) each(rest);
    return Buffer.alloc(0);
  }
}

/** Stops reading, so that a process that still holds the other end of the pipe does not keep us waiting. */
const giveUp = ({ reader }: Output): void => void reader.cancel().catch(() => undefined);

/** A command of git failed that never fails in a sound repository. */
export class GitFailed extends Error {
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

/** The answer of a command that must not fail here. A full disk is thrown as an error of its own. */
export function expectGit(answer: GitAnswer, what: string): GitAnswer {
  expectRoom(answer, null);
  const { code, err } = answer;
  if (code !== 0) throw new GitFailed(`${what}: git exited ${code}: ${withoutContent(err.trim())}`, code);
  return answer;
}

/** Git quotes lines of files that it cannot read as its own. Such a file may be another one, which its reader may not see. */
const withoutContent = (err: string): string => err.replaceAll(quotingLine, "$1");
const quotingLine =
  /^(.*?\b(?:(?:unexpected|unterminated|malformed|invalid|bad) (?:line|data)\b[^:\n]*|bad graft data|invalid shallow line|bad shallow line|unable to normalize alternate object path)):.*$/gm;

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
export const patienceMs = 300_000;
/** Filters may fetch large files. */
const filterPatienceMs = 15 * 60_000;

const asSettings = (settings: readonly string[]): readonly string[] => settings.flatMap((setting) => ["-c", setting]);

const harmless = asSettings([
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.attributesFile=/dev/null",
  // The commit graph names the parents of commits, and agents can write it.
  "core.commitGraph=false",
  "diff.external=",
  "gc.auto=0",
  "maintenance.auto=false",
  "log.showSignature=false",
  "commit.gpgSign=false",
  "submodule.recurse=false",
  "advice.detachedHead=false",
]);

/** No git of ours talks to another machine. */
const unreachable = asSettings(["core.sshCommand=false", "credential.helper="]);

/** The last three say where the user's and the system's own configuration is. */
const passedOn = [
  ...["HOME", "PATH", "USER", "TMPDIR", "XDG_CONFIG_HOME"],
  ...["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"],
];
const passedToFilters = [
  ...["LOGNAME", "SHELL", "GNUPGHOME", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CACHE_HOME"],
  ...["http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR"],
];

function gitEnvironment(withFilters: boolean): Record<string, string> {
  const env: Record<string, string> = {
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    // A file that is there, even an empty one, makes some commands of git print advice that no setting silences.
    GIT_GRAFT_FILE: "/dev/null/none",
    GIT_NO_LAZY_FETCH: "1",
    ...(withFilters ? {} : { GIT_ALLOW_PROTOCOL: "none" }),
    LC_ALL: "C",
  };
  for (const name of withFilters ? [...passedOn, ...passedToFilters] : passedOn) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}

const bytesOf = (stdin: Uint8Array | string): Uint8Array => (typeof stdin === "string" ? Buffer.from(stdin) : stdin);

/** A path below a directory; file names are bytes and need not be text. */
export const absolute = (root: string, path: Buffer): Buffer => Buffer.concat([Buffer.from(`${root}/`), path]);
