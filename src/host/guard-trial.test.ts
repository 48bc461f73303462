import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guardTrial } from "./guard-trial.ts";

let base = "";
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "ov-guard-trial-"));
});
afterAll(() => rmSync(base, { recursive: true }));

/** A guard that is a script: it counts its calls, and does what it is told to. */
function guardOf(name: string, script: string) {
  const state = join(base, name);
  mkdirSync(join(state, "run"), { recursive: true });
  const program = join(state, "guard");
  const calls = join(state, "calls");
  writeFileSync(program, `#!/bin/sh\necho x >> '${calls}'\n${script}\n`, { mode: 0o755 });
  const tried = {
    asks: { line: `'${program}' hook || exit 2`, told: (command: string) => command },
    program: [program],
    runtime: "claude",
    cwd: state,
    env: { PATH: process.env.PATH ?? "" },
  };
  return {
    program,
    try: (version = "1.0.0", runtime = "claude") => guardTrial(state, version).problem({ ...tried, runtime }),
    calls: () => readFileSync(calls, "utf8").split("\n").length - 1,
  };
}

const works = 'grep -q "git push" && { echo no >&2; exit 2; }; exit 0';

test("a guard that works is tried once for each version of our program, and for each runtime", async () => {
  const guard = guardOf("works", works);
  expect(await guard.try()).toBeUndefined();
  expect(guard.calls()).toBe(2);
  expect(await guard.try()).toBeUndefined();
  expect(guard.calls()).toBe(2);
  expect(await guard.try("1.0.1")).toBeUndefined();
  expect(await guard.try("1.0.1", "codex")).toBeUndefined();
  expect(guard.calls()).toBe(6);
  utimesSync(guard.program, 1, 1);
  expect(await guard.try()).toBeUndefined();
  expect(guard.calls()).toBe(8);
});

test("a guard that lets everything pass is found out, each time", async () => {
  const guard = guardOf("open", "exit 0");
  expect(await guard.try()).toBe('"git push" was not denied (it exited with 0)');
  expect(await guard.try()).toContain("was not denied");
  expect(guard.calls()).toBe(4);
});

test("a guard that cannot run is found out with what it said", async () => {
  const guard = guardOf("broken", "echo 'no such library' >&2; exit 127");
  expect(await guard.try()).toBe('"git status" was not allowed (it exited with 2: no such library)');
});
