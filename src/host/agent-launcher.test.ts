import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aboutProcess } from "../../testkit/about-process.ts";
import { markOf } from "../domain/process/process.ts";
import type { GatedProcess } from "../ports/agent-process.ts";
import { agentLauncher, terminalLauncher } from "./agent-launcher.ts";
import { randomIds } from "./ids.ts";
import { lockLimitOf, takeMark } from "./linux/mark.ts";
import { allProcesses, killOne } from "./linux/process-table.ts";
import { linuxProcesses } from "./processes.ts";

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
const mark = markOf(randomIds.secret(), 1);
const output = (): string => join(dir, "output");

function start(...argv: string[]): GatedProcess {
  const child = agentLauncher.start({
    argv,
    mark,
    env,
    cwd: dir,
    outputFile: output(),
    errorFile: join(dir, "errors"),
    openInput: null,
  });
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
  const trace = join(dir, "ran");
  const child = start("touch", trace);
  child.abandon();
  expect(await soon(child.exited)).not.toBe("not yet");
  expect(existsSync(trace)).toBe(false);
});

test("an abandoned program at a terminal never runs, and its process is gone at once", async () => {
  const trace = join(dir, "ran");
  const child = terminalLauncher.start({ argv: ["touch", trace], mark, env, cwd: dir });
  started.push(child);
  child.abandon();
  expect(await soon(child.exited)).not.toBe("not yet");
  expect(existsSync(trace)).toBe(false);
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

const limitOfMany = `
  limit() { sed -n "s/^Max file locks *//p" /proc/self/limits; }
  limit; env -i sh -c 'sed -n "s/^Max file locks *//p" /proc/self/limits'; setsid --wait sed -n "s/^Max file locks *//p" /proc/self/limits`;

test("an agent carries its mark wherever it goes: in a session of its own, without its environment, as a shell's child", async () => {
  const child = start("sh", "-c", limitOfMany);
  await child.release("");
  expect((await child.exited).code).toBe(0);
  const seen = readFileSync(output(), "utf8").trim().split("\n");
  expect(seen).toHaveLength(3);
  for (const line of seen) expect(line.split(/\s+/).slice(0, 2)).toEqual([String(mark), String(mark)]);
});

test("a process left behind by two parents is still known by the mark, and no other process is", async () => {
  const child = start("sh", "-c", "(setsid env -i /bin/sleep 600 >/dev/null 2>&1 </dev/null &) & exit 0");
  await child.release("");
  await child.exited;
  const marked = () => allProcesses().filter(({ pid, defunct }) => !defunct && lockLimitOf(pid) === mark);
  // Who is on its way there is marked as well; in the end one sleeps.
  const sleeps = (pid: number): boolean => aboutProcess(pid, "cmdline").startsWith("/bin/sleep");
  while (!marked().every(({ pid }) => sleeps(pid)) || marked().length !== 1) await Bun.sleep(5);
  const [left] = marked();
  const report = await linuxProcesses.endTree(child.identity, 2_000, { mark });
  expect(report.ended.map(({ pid }) => pid)).toEqual([left?.pid ?? 0]);
  expect(report.survivors).toEqual([]);
});

const shells = ["dash", "bash", "zsh", "busybox"].filter((shell) => Bun.which(shell) !== null);

test.each(shells)("%s can put the mark on itself, where it is what /bin/sh is", async (shell) => {
  const name = shell === "busybox" ? ["busybox", "sh"] : [shell];
  const script = `${takeMark}exec sed -n 's/^Max file locks *//p' /proc/self/limits`;
  const child = Bun.spawn({ cmd: [...name, "-c", script, "sh", String(mark)], stdio: ["ignore", "pipe", "pipe"] });
  const said = await new Response(child.stdout).text();
  expect(said.split(/\s+/).slice(0, 2)).toEqual([String(mark), String(mark)]);
});
