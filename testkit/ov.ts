import { existsSync } from "node:fs";
import { constants } from "node:os";
import { join, resolve } from "node:path";
import type { Mark } from "../src/domain/process/process.ts";
import { markedCommand } from "./marked.ts";

const repository = resolve(import.meta.dir, "..");

/** The program under test: the compiled test build, or what OV_BIN names. */
export function ovBinary(): string {
  const given = process.env.OV_BIN;
  if (given !== undefined && given !== "") return given;
  const built = join(repository, "dist", "ov-test");
  if (existsSync(built)) return built;
  throw new Error("dist/ov-test is missing; run: scripts/build --test");
}

export interface OvAnswer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface OvCall {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** The mark of the agent in whose turn this runs. */
  readonly mark?: Mark | undefined;
}

/** Runs the real program to its end, as a person or an agent would. */
export async function runOv(args: readonly string[], { cwd, env, stdin, mark }: OvCall): Promise<OvAnswer> {
  const cmd = [ovBinary(), ...args];
  const child = Bun.spawn({
    cmd: mark === undefined ? cmd : markedCommand(mark, cmd),
    cwd,
    env: { ...env },
    stdio: [stdin === undefined ? "ignore" : new Blob([stdin]), "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  // A signal has no exit code; shells show it as 128 and its number.
  const code = child.exitCode ?? 128 + constants.signals[(child.signalCode ?? "SIGKILL") as NodeJS.Signals];
  return { code, out, err };
}

/** The one JSON document a command printed; throws when stdout holds anything else. */
export function jsonOf(answer: OvAnswer): Record<string, unknown> {
  const lines = answer.out.split("\n").filter((line) => line !== "");
  if (lines.length !== 1)
    throw new Error(
      `expected one JSON document, got ${lines.length} lines and exit ${answer.code}: ${answer.out}${answer.err}`,
    );
  return JSON.parse(lines[0] ?? "") as Record<string, unknown>;
}
