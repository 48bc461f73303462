import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GatedProcess } from "../ports/agent-process.ts";
import { agentLauncher } from "./agent-launcher.ts";
import { killOne } from "./kill-one.ts";
import { terminalLauncher } from "./terminal-launcher.ts";

let dir: string;
const started: Pick<GatedProcess, "identity">[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "ov-launcher-"));
});

afterEach(() => {
  for (const { identity } of started.splice(0)) killOne(identity);
  rmSync(dir, { recursive: true, force: true });
});

const env = { PATH: process.env.PATH ?? "/usr/bin:/bin" };
const output = (): string => join(dir, "output");

function start(...argv: string[]): GatedProcess {
  const child = agentLauncher.start({ argv, env, cwd: dir, outputFile: output(), errorFile: join(dir, "errors") });
  started.push(child);
  return child;
}

/** More than any pipe takes without a reader. */
const long = "x".repeat(3_000_000);

const soon = <T>(promise: Promise<T>): Promise<T | "not yet"> =>
  Promise.race([promise, Bun.sleep(30_000).then(() => "not yet" as const)]);

test("a released agent gets its whole input, however long, and the end of it", async () => {
  const child = start("wc", "-c");
  await child.release(long);
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(readFileSync(output(), "utf8").trim()).toBe(String(long.length));
});

test("an abandoned agent never runs, and its process is gone at once", async () => {
  const mark = join(dir, "ran");
  const child = start("touch", mark);
  child.abandon();
  expect(await soon(child.exited)).not.toBe("not yet");
  expect(existsSync(mark)).toBe(false);
});

test("an abandoned program at a terminal never runs, and its process is gone at once", async () => {
  const mark = join(dir, "ran");
  const child = terminalLauncher.start({ argv: ["touch", mark], env, cwd: dir });
  started.push(child);
  child.abandon();
  expect(await soon(child.exited)).not.toBe("not yet");
  expect(existsSync(mark)).toBe(false);
});

test("an agent that ends without reading its input is known by its exit code", async () => {
  const child = start("sh", "-c", "exit 3");
  await child.release(long);
  expect(await child.exited).toEqual({ code: 3, signal: null });
});

test("an agent that does not read its input keeps nobody waiting", async () => {
  const child = start("sleep", "600");
  expect(await soon(child.release(long))).toBeUndefined();
});
