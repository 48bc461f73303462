import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The git commands that landing this many branches starts, by a worker in a process of its own. `before` is run by the
 * shell before each of them.
 */
async function startedFor(branches: number, before = ":"): Promise<readonly string[]> {
  const dir = mkdtempSync(join(tmpdir(), "ov-processes-"));
  try {
    const log = join(dir, "log");
    const git = join(dir, "git");
    writeFileSync(log, "");
    const steps = [`printf '%s \\n' "$*" >> '${log}'`, before, `exec '${Bun.which("git")}' "$@"`];
    writeFileSync(git, `#!/bin/sh\n${steps.join("\n")}\n`);
    chmodSync(git, 0o755);
    const root = join(import.meta.dir, "..", "..", "..");
    const child = Bun.spawn({
      cmd: [join(root, "scripts/bun"), join(root, "testkit/land-branches.ts"), String(branches), log],
      env: { ...process.env, PATH: `${dir}:${process.env.PATH}` },
      stdio: ["ignore", "ignore", "inherit"],
    });
    expect(await child.exited).toBe(0);
    return readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const merges = (lines: readonly string[]): number => lines.filter((line) => line.includes(" merge-tree ")).length;

test("a train starts as many processes of git for nine branches as for three, and one for all merges", async () => {
  const [few, many] = [await startedFor(3), await startedFor(9)];
  expect([merges(few), merges(many)]).toEqual([1, 1]);
  expect(many.length).toBe(few.length);
}, 120_000);

test("where git holds its answers back until its input ends, each branch costs one process: its merge", async () => {
  const buffered = "unset LD_PRELOAD";
  const [few, many] = [await startedFor(3, buffered), await startedFor(9, buffered)];
  // One of them was asked in vain.
  expect([merges(few), merges(many)]).toEqual([1 + 3, 1 + 9]);
  expect(many.length - few.length).toBe(6);
}, 120_000);
