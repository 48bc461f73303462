import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The git commands that landing this many branches starts, by a worker in a process of its own. */
async function startedFor(branches: number): Promise<readonly string[]> {
  const dir = mkdtempSync(join(tmpdir(), "ov-processes-"));
  try {
    const log = join(dir, "log");
    const git = join(dir, "git");
    writeFileSync(log, "");
    writeFileSync(git, `#!/bin/sh\nprintf '%s ' "$@" >> '${log}'\necho >> '${log}'\nexec '${Bun.which("git")}' "$@"\n`);
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

test("each branch of a train costs one process of git: its merge", async () => {
  const [few, many] = [await startedFor(3), await startedFor(9)];
  const merges = (lines: readonly string[]): number => lines.filter((line) => line.includes(" merge-tree ")).length;
  expect(merges(many) - merges(few)).toBe(6);
  expect(many.length - few.length).toBe(6);
}, 120_000);
