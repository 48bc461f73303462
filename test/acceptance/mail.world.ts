import { closeSync, constants, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ovBinary } from "../../testkit/ov.ts";
import type { TestProject } from "../../testkit/project.ts";

/** A message as `ov mail check --json` prints it, as far as these tests look at it. */
export interface Shown {
  readonly id: string;
  readonly body: string;
  readonly redelivered: boolean;
}

/** One JSON document per line, as a driver collected them. */
export const documentsIn = (out: string): Record<string, unknown>[] =>
  out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

export const messagesIn = (out: string): Shown[] =>
  documentsIn(out).flatMap(({ messages }) => (Array.isArray(messages) ? (messages as Shown[]) : []));

/** Runs a shell script that finds the program as `$OV`; rejects when the script fails. */
export const drive = (project: TestProject, script: string, ...args: string[]): Promise<string> =>
  driveWith(project, {}, script, ...args);

async function driveWith(
  project: TestProject,
  env: Readonly<Record<string, string>>,
  script: string,
  ...args: string[]
): Promise<string> {
  const child = Bun.spawn({
    cmd: ["/bin/sh", "-c", script, "driver", ...args],
    cwd: project.root,
    env: { ...project.env, ...env, OV: ovBinary() },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`driver exited ${child.exitCode}: ${out.slice(-2000)}${err}`);
  return out;
}

/** Reads an inbox through the program again and again until it is empty; answers every document. */
export const readUntilEmpty = (
  project: TestProject,
  inbox: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> => driveWith(project, env, readLoop, inbox);

const readLoop = `
while :; do
  out=$("$OV" mail check --agent "$1" --json) || exit 1
  case $out in *'"messages":[]'*) exit 0 ;; esac
  printf '%s\\n' "$out"
done`;

/** A reader whose standard output is a full pipe: it takes its mail and is stuck before it has printed a byte of it. */
export interface StuckReader extends Disposable {
  /** Ends it by SIGKILL; answers the signal it died of. */
  kill(): Promise<Bun.Subprocess["signalCode"]>;
}

export async function stuckReader(project: TestProject, inbox: string): Promise<StuckReader> {
  const pipe = join(project.state, "stuck");
  await drive(project, 'mkfifo "$1"', pipe);
  const held = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  fillPipe(held);
  const itsOutput = openSync(pipe, constants.O_WRONLY);
  const child = Bun.spawn({
    cmd: [ovBinary(), "mail", "check", "--agent", inbox, "--json"],
    cwd: project.root,
    env: { ...project.env },
    stdio: ["ignore", itsOutput, "ignore"],
  });
  closeSync(itsOutput);
  return {
    kill: async () => {
      child.kill("SIGKILL");
      await child.exited;
      return child.signalCode;
    },
    [Symbol.dispose]: () => closeSync(held),
  };
}

function fillPipe(fd: number): void {
  const block = new Uint8Array(4096);
  for (;;) {
    try {
      writeSync(fd, block);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EAGAIN") return;
      throw error;
    }
  }
}
