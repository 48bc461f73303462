import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import type { StopRequest } from "./stop.ts";

export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const notFound = 127;
// Something left in the background may hold the pipes open for ever; what it wrote by then is enough.
const drainMs = 100;

/** Loaded with the first command: its streams cost as much as everything else that an agent does before its first word. */
const childProcesses = () => import("node:child_process");

export const shell = (line: string): Command["argv"] => ["/bin/sh", "-c", line];

/** Runs a command to its end in a session of its own, as the imitated program does; a stop kills all of it. */
export async function runCommand(command: Command, stop: StopRequest): Promise<Finished> {
  const [file, ...args] = command.argv;
  const { spawn } = await childProcesses();
  const child = spawn(file, args, {
    cwd: command.cwd,
    env: command.env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  const code = await stop.during(exitCode(child), () => killGroup(child));
  return { code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
}

/** Starts a command that outlives this process; answers its pid. */
export async function startInBackground(
  command: Command,
  { newSession, keepStdout }: { readonly newSession: boolean; readonly keepStdout: boolean },
): Promise<number | undefined> {
  const [file, ...args] = command.argv;
  const { spawn } = await childProcesses();
  const child = spawn(file, args, {
    cwd: command.cwd,
    env: command.env,
    detached: newSession,
    stdio: ["ignore", keepStdout ? "inherit" : "ignore", "ignore"],
  });
  child.unref();
  return child.pid;
}

function exitCode(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.on("error", () => resolve(notFound));
    child.on("exit", (code, signal) => {
      const answer = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
      child.on("close", () => resolve(answer));
      void pause(drainMs).then(() => resolve(answer));
    });
  });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // The group is gone already, which is what was wanted.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
