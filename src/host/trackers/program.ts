import { no, ok, type Result } from "../../domain/result.ts";
import type { ExternalTracker, TrackerRefusal } from "../../domain/tracker/tracker.ts";
import { endTree } from "../linux/end-tree.ts";
import { identityOf } from "../linux/process-table.ts";

/** Where the program of a tracker runs, and for how long at most. */
export interface TrackerPlace {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limits?: TrackerLimits;
}

export interface TrackerLimits {
  readonly timeMs: number;
  readonly outputBytes: number;
}

export interface TrackerCommand {
  readonly tracker: ExternalTracker;
  readonly program: string;
  readonly args: readonly string[];
}

export interface ProgramAnswer {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The path of a program in this environment. */
export const findProgram = (program: string, env: TrackerPlace["env"]): string | undefined =>
  Bun.which(program, { PATH: env.PATH ?? "" }) ?? undefined;

/**
 * Runs the program of a tracker in the project's root until it ends or has used up its time or its room for words; then
 * it and all that it started is ended. A background process that outlives a program which ended by itself is the
 * tracker's own affair: it is neither ended nor waited for, though it may hold the output open.
 */
export async function runProgram(
  { tracker, program, args }: TrackerCommand,
  { root, env, limits = usualLimits }: TrackerPlace,
): Promise<Result<ProgramAnswer, TrackerRefusal>> {
  const path = findProgram(program, env);
  if (path === undefined) return no({ kind: "program-missing", tracker, program });
  const command = [program, ...args].join(" ");
  const failed = (problem: string) => no<TrackerRefusal>({ kind: "program-failed", command, problem });
  const child = start([path, ...args], root, env);
  if (!child.ok) return failed(`could not be started: ${child.refusal}`);
  const { stdout, stderr, exited, pid } = child.value;
  const identity = identityOf(pid);
  const out = firstBytes(stdout, limits.outputBytes);
  const err = firstBytes(stderr, limits.outputBytes);
  const time = after(limits.timeMs);
  const ending = await Promise.race([exited.then(() => "ended" as const), out.overflowed, err.overflowed, time.over]);
  time.cancel();
  if (ending !== "ended" && identity !== undefined) await endTree(identity, graceMs);
  const [said, complained] = await Promise.all([out.text(lingerMs), err.text(lingerMs)]);
  if (ending === "time over") return failed(`did not end within ${limits.timeMs / 1000} s`);
  if (said === undefined || complained === undefined) return failed(`said more than ${limits.outputBytes} bytes`);
  const code = child.value.signalCode === null ? child.value.exitCode : null;
  return ok({ code, out: said, err: complained });
}

/** A ready list of thousands of tasks fits, and nobody who typed a command waits for longer. */
const usualLimits: TrackerLimits = { timeMs: 10_000, outputBytes: 8 * 1024 * 1024 };

/** For a program that is asked to end. */
const graceMs = 500;

/** What a program wrote before it ended is in its pipe by then; only a process that it left behind keeps that open. */
const lingerMs = 200;

/** In a session of its own, so that ending it cannot reach us. */
function start(cmd: readonly string[], cwd: string, env: TrackerPlace["env"]) {
  try {
    const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
    return ok(Bun.spawn({ cmd: [...cmd], cwd, env: withoutOurs(env), stdio, detached: true }));
  } catch (error) {
    // No permission, or an interpreter that is not there: the system's word for it is all there is to tell.
    if (error instanceof Error && "code" in error) return no(String(error.code));
    throw error;
  }
}

/** The person's own settings of the tracker must reach it; a token of ours is nothing for a program of others. */
const withoutOurs = (env: TrackerPlace["env"]): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("OVERSTORY")));

function after(ms: number): { readonly over: Promise<"time over">; cancel(): void } {
  const { promise, resolve } = Promise.withResolvers<"time over">();
  const timer = setTimeout(() => resolve("time over"), ms);
  return { over: promise, cancel: () => clearTimeout(timer) };
}

/** The beginning of what a program says, kept as it comes. */
interface FirstBytes {
  /** Settles only when there was more than may be kept. */
  readonly overflowed: Promise<"overflow">;
  /** What was said until the stream ended, or until this much time has passed; undefined when it was too much. */
  text(waitMs: number): Promise<string | undefined>;
}

/** Reads a stream until it ends or holds more than `limit` bytes. */
function firstBytes(stream: ReadableStream<Uint8Array>, limit: number): FirstBytes {
  const { promise: overflowed, resolve: overflow } = Promise.withResolvers<"overflow">();
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let kept = 0;
  const read = async (): Promise<void> => {
    while (kept <= limit) {
      const { value, done } = await reader.read();
      if (done) return;
      chunks.push(value);
      kept += value.byteLength;
    }
    overflow("overflow");
  };
  const whole = read();
  return {
    overflowed,
    text: async (waitMs) => {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, waitMs);
      await Promise.race([whole, late]);
      clearTimeout(timer);
      await reader.cancel();
      return kept > limit ? undefined : Buffer.concat(chunks).toString("utf8");
    },
  };
}
