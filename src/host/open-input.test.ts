import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { markOf } from "../domain/process/process.ts";
import type { GatedProcess } from "../ports/agent-process.ts";
import { agentLauncher } from "./agent-launcher.ts";
import { randomIds } from "./ids.ts";
import { lockLimitOf } from "./linux/mark.ts";
import { allProcesses } from "./linux/process-table.ts";
import { linuxProcesses } from "./processes.ts";
import { turnFiles } from "./turn-files.ts";

let dir: string;
let child: GatedProcess | undefined;
const mark = markOf(randomIds.secret(), 1);

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "ov-open-input-"));
});

afterEach(async () => {
  if (child !== undefined) await linuxProcesses.endTree(child.identity, 0, { mark });
  rmSync(dir, { recursive: true, force: true });
});

const files = () => turnFiles(dir);
const output = (): string => (existsSync(join(dir, "output")) ? readFileSync(join(dir, "output"), "utf8") : "");

async function start(first: string, ...argv: string[]): Promise<GatedProcess> {
  files().create(dir, { input: first, files: [] }, { home: dir, input: "open" });
  child = agentLauncher.start({
    argv,
    mark,
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
    cwd: dir,
    outputFile: join(dir, "output"),
    errorFile: join(dir, "errors"),
    openInput: dir,
  });
  await child.release(first);
  return child;
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await Bun.sleep(5);
}

test("the input starts with its first text, however long, takes replies in order and ends when it is closed", async () => {
  const long = `${"x".repeat(1_000_000)}\n`;
  const agent = await start(long, "cat");
  const input = files().openInput(dir);
  input.keep("1.0", "one\n");
  input.write("1.0");
  input.keep("2.0", `${"y".repeat(300_000)}\n`);
  input.write("2.0");
  input.closeInput();
  expect(await agent.exited).toEqual({ code: 0, signal: null });
  expect(output()).toBe(`${long}one\n${"y".repeat(300_000)}\n`);
});

test("a reply is given once, however often and by whomever it is asked for, and the first text counts", async () => {
  const agent = await start("first\n", "cat");
  const [one, successor] = [files().openInput(dir), files().openInput(dir)];
  one.keep("1.0", "yes\n");
  // A supervisor that died here had not said it; its successor decides anew and says it.
  successor.keep("1.0", "no\n");
  successor.write("1.0");
  one.write("1.0");
  successor.write("1.0");
  successor.closeInput();
  await agent.exited;
  expect(output()).toBe("first\nyes\n");
});

test("between replies the input neither ends nor says anything, and it outlives its writer", async () => {
  const agent = await start("first\n", "cat");
  await until(() => output() === "first\n");
  const writer = `
    import { turnFiles } from ${JSON.stringify(join(import.meta.dir, "turn-files.ts"))};
    const input = turnFiles(${JSON.stringify(dir)}).openInput(${JSON.stringify(dir)});
    input.keep("1.0", "from another process\\n");
    input.write("1.0");
    process.kill(process.pid, "SIGKILL");`;
  await Bun.spawn([process.execPath, "-e", writer]).exited;
  await until(() => output() === "first\nfrom another process\n");
  expect(linuxProcesses.check(agent.identity)).toBe("alive");
  files().openInput(dir).closeInput();
  expect(await agent.exited).toEqual({ code: 0, signal: null });
});

test("what feeds an agent that was killed is ended by its mark", async () => {
  const agent = await start("first\n", "cat");
  await until(() => output() === "first\n");
  process.kill(agent.identity.pid, "SIGKILL");
  await agent.exited;
  await linuxProcesses.endTree(agent.identity, 0, { mark });
  const left = allProcesses().filter(({ pid, defunct }) => !defunct && lockLimitOf(pid) === mark);
  expect(left).toEqual([]);
});
