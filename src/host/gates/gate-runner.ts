import { closeSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { gateEnvironment } from "../../domain/agent/environment.ts";
import type { GateStatus } from "../../domain/gate/gate.ts";
import { redactor, secretValues } from "../../domain/gate/redact.ts";
import type { GateRequest, GateRun, GateRunner } from "../../ports/gate-runner.ts";
import { endTree, gateRunVariable } from "../linux/end-tree.ts";
import { BoundedLog } from "./bounded-log.ts";
import { captured } from "./captured.ts";
import { follow } from "./follow.ts";
import { type Ended, type HeldCommand, holdCommand } from "./held-command.ts";
import { digestOf, type OpenLog, openLog, tailOf } from "./log.ts";
import { openPipe } from "./output-pipe.ts";

export interface GateRunnerOptions {
  /** What commands may get variables of, by the allow-list for gates. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long what is ended may take to leave by itself. */
  readonly graceMs?: number;
}

/**
 * Runs gates, setup and regenerate commands. An aborted run rejects with the reason of its signal, once everything the
 * command started is ended.
 */
export function gateRunner({ env, graceMs = 2_000 }: GateRunnerOptions): GateRunner {
  return {
    run: async (request) => {
      request.signal?.throwIfAborted();
      const log = await openLog(request.logPath);
      try {
        return await runInto(log, request, { env, graceMs });
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
  { env, graceMs }: Required<GateRunnerOptions>,
): Promise<GateRun> {
  const { gate, run, cwd, onOutput, signal } = request;
  const shell = captured(request.environments);
  const log = new BoundedLog({ file, redact: redactor([env, ...shell.all].flatMap(secretBytes)) });
  const pipe = await openPipe(`${request.logPath}.${run.id}`);
  const reading = pipe.read((bytes) => log.add(bytes));
  let held: HeldCommand;
  try {
    const told = gateEnvironment({ ...env, ...shell.passed }, request.env);
    // A checkout that lost its `.git` must not let a command work in what lies around it.
    const variables = { ...told, [gateRunVariable]: run.id, GIT_CEILING_DIRECTORIES: dirname(cwd) };
    held = holdCommand({
      argv: ["/bin/sh", "-c", gate.command],
      mark: run.mark,
      cwd,
      env: variables,
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

/** What a shell answers when it found no such command, or one that cannot be executed. */
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
