import { closeSync, constants, openSync, rmSync, writeFileSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { gateEnvironment } from "../../domain/agent/environment.ts";
import type { GateStatus } from "../../domain/gate/gate.ts";
import { type Redact, redactor, secretValues } from "../../domain/text/redact.ts";
import type { GateRequest, GateRun, GateRunner } from "../../ports/gate-runner.ts";
import type { Confinement, GateProgram } from "../../ports/sandbox.ts";
import { makeWithin, readText } from "../file-access.ts";
import { endTree, gateRunVariable } from "../linux/end-tree.ts";
import { BoundedLog, digestOf, follow, type OpenLog, openLog, tailOf } from "./gate-log.ts";
import { type Ended, type HeldCommand, holdCommand } from "./held-command.ts";

export interface GateRunnerOptions {
  /** What commands may get variables of, by the allow-list for gates. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long a command may take to leave after SIGTERM. */
  readonly graceMs?: number;
  /** Whether secrets are taken out of the output. */
  readonly redactSecrets?: boolean;
  /** How the system confines a command; null where it does not. */
  readonly confine?: (program: GateProgram) => Confinement | null;
}

const unconfined = (): null => null;

/**
 * Runs gates, setup and regenerate commands. An aborted run rejects with the reason of its signal, once everything the
 * command started is ended.
 */
export function gateRunner({
  env,
  graceMs = 2_000,
  redactSecrets = true,
  confine = unconfined,
}: GateRunnerOptions): GateRunner {
  return {
    run: async (request) => {
      request.signal?.throwIfAborted();
      const log = await openLog(request.logPath);
      try {
        return await runInto(log, request, { env, graceMs, redactSecrets, confine });
      } finally {
        closeSync(log.file);
        await log.reader.close();
      }
    },
  };
}

async function runInto(
  { file, reader }: OpenLog,
  request: GateRequest,
  { env, graceMs, redactSecrets, confine }: Required<GateRunnerOptions>,
): Promise<GateRun> {
  const { gate, run, cwd, onOutput, signal } = request;
  const shell = captured(request.environments);
  const redact: Redact = redactSecrets ? redactor([env, ...shell.all].flatMap(secretBytes)) : (text) => text;
  const log = new BoundedLog({ file, redact });
  const pipe = await openPipe(`${request.logPath}.${run.id}`);
  const reading = pipe.read((bytes) => log.add(bytes));
  let held: HeldCommand;
  try {
    const told = gateEnvironment({ ...env, ...shell.passed }, request.env);
    // A checkout that lost its `.git` must not let a command work in what lies around it.
    const variables = { ...told, [gateRunVariable]: run.id, GIT_CEILING_DIRECTORIES: dirname(cwd) };
    const reads = Object.values(request.env).filter(isAbsolute);
    const confined = confine({ place: cwd, reads, env: variables, shells: shell.all });
    held = holdCommand({
      argv: [...(confined?.before ?? []), "/bin/sh", "-c", gate.command],
      mark: run.mark,
      cwd,
      env: confined?.env ?? variables,
      output: pipe.write,
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log.add(Buffer.from(`the command could not be started: ${why}\n`));
    log.flush();
    return await report(reader, { status: "could_not_run", exitCode: null, durationMs: 0 });
  } finally {
    closeSync(pipe.write);
  }
  await recorded(held, request);
  const following = onOutput === undefined ? undefined : follow(reader, (text) => onOutput.call(request, text));
  const began = performance.now();
  let outcome: Outcome;
  let durationMs: number;
  let survivors: readonly number[] = [];
  try {
    await held.release();
    outcome = await firstOf(held.exited, gate.timeoutMs, signal);
    durationMs = Math.round(performance.now() - began);
  } finally {
    ({ survivors } = await endTree(held.identity, graceMs, { gateRun: run.id, mark: run.mark }));
    try {
      await reading.end();
      log.flush();
    } finally {
      await following?.stop();
    }
  }
  if (outcome === "aborted") throw signal?.reason;
  if (survivors.length > 0) {
    // They could go on writing while the next gate runs: nothing can be said about this tree or the next one.
    log.add(Buffer.from(`these processes of the command could not be ended: ${survivors.join(", ")}\n`));
    log.finish();
    return await report(reader, { status: "could_not_run", exitCode: null, durationMs });
  }
  log.finish();
  return await report(reader, { ...statusOf(outcome), durationMs });
}

/** As they are in the output, whose bytes are read one by one. */
const secretBytes = (env: GateRunnerOptions["env"]): readonly string[] =>
  secretValues(env).map((value) => Buffer.from(value).toString("latin1"));

/** The command does not run unless the fact that it will is on record. */
async function recorded(held: HeldCommand, { onStart, signal }: GateRequest): Promise<void> {
  try {
    await onStart(held.identity);
    signal?.throwIfAborted();
  } catch (error) {
    held.abandon();
    await held.exited;
    throw error;
  }
}

type Outcome = Ended | "timed_out" | "aborted";

function firstOf(exited: Promise<Ended>, timeoutMs: number, signal: AbortSignal | undefined): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const abort = (): void => resolve("aborted");
  const timer = setTimeout(() => resolve("timed_out"), timeoutMs);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  exited.then(resolve, reject);
  return promise.finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  });
}

/** The exit codes of a shell that found no such command, or a command that cannot be executed. */
const notStarted: readonly (number | null)[] = [126, 127];

function statusOf(outcome: Exclude<Outcome, "aborted">): { status: GateStatus; exitCode: number | null } {
  if (outcome === "timed_out") return { status: outcome, exitCode: null };
  const { code } = outcome;
  if (code === 0) return { status: "passed", exitCode: 0 };
  return { status: notStarted.includes(code) ? "could_not_run" : "failed", exitCode: code };
}

async function report(reader: FileHandle, run: Pick<GateRun, "status" | "exitCode" | "durationMs">): Promise<GateRun> {
  return { ...run, logDigest: await digestOf(reader), tail: await tailOf(reader) };
}

/**
 * `passed` has the variables of the first of these files that still exists. `all` has those of every file: the others
 * are not passed on, but their secrets must not be shown either.
 */
function captured(files: readonly string[]): {
  readonly passed: Readonly<Record<string, string>>;
  readonly all: readonly Readonly<Record<string, string>>[];
} {
  const all = files.flatMap((path) => {
    const text = readText(path);
    return text === undefined ? [] : [JSON.parse(text) as Record<string, string>];
  });
  return { passed: all[0] ?? {}, all };
}

/** How long it may take to read the output that was written before the command ended. */
const drainMs = 1_000;

/**
 * A pipe for the output of a command: `write` is for the command and is closed here once it has it. A real pipe and not
 * the socket that a spawned process would get: scripts open `/dev/stdout` again, which no socket lets them.
 */
interface OutputPipe {
  readonly write: number;
  /** Hands on what comes, in order. */
  read(take: (bytes: Uint8Array) => void): Reading;
}

interface Reading {
  /** Waits until every writer has closed the pipe, for a moment at most; later output is not read. */
  end(): Promise<void>;
}

/** The pipe is made at the path `name`, and its name is removed before the command writes. */
async function openPipe(name: string): Promise<OutputPipe> {
  await makeFifo(name);
  try {
    const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
    const source = openSync(name, O_RDONLY | O_NONBLOCK);
    return { write: openSync(name, O_WRONLY), read: (take) => reading(source, take) };
  } finally {
    rmSync(name, { force: true });
  }
}

async function makeFifo(name: string): Promise<void> {
  const child = Bun.spawn({
    cmd: ["/bin/sh", "-c", 'mkfifo -m 600 "$1"', "sh", name],
    // Every system has `mkfifo` in one of these directories, even if the PATH leaves them out.
    env: { PATH: `${process.env.PATH ?? ""}:/usr/bin:/bin` },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`no pipe could be made: ${said.trim()}`);
}

function reading(source: number, take: (bytes: Uint8Array) => void): Reading {
  const reader = Bun.file(source).stream().getReader();
  const pump = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      take(value);
    }
  };
  // When `take` fails, the pipe is closed at once: the command must not wait for a reader for ever.
  const ended = pump()
    .then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    .finally(() => closeSync(source));
  return {
    end: async () => {
      const late = Symbol();
      const outcome = await Promise.race([ended, Bun.sleep(drainMs).then(() => late)]);
      if (outcome === late) await reader.cancel();
      const failure = await ended;
      if (failure !== undefined) throw failure.error;
    },
  };
}

/** Writes the list that gates find by `OVERSTORY_CHANGED_FILES`: each path ends with a NUL, as names may hold newlines. */
export async function saveChangedFiles(path: string, files: readonly string[]): Promise<void> {
  makeWithin(dirname(path), 5);
  writeFileSync(path, files.map((file) => `${file}\0`).join(""), { mode: 0o600 });
}
