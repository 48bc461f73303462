import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failureOf } from "../domain/failure.ts";
import { expectRegular, lstatIfThere, readText, statIfThere, writable, writeAtomically } from "./file-access.ts";

const dir = mkdtempSync(join(tmpdir(), "ov-access-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** What reading the path fails with. */
function failing(path: string): unknown {
  try {
    return readText(path);
  } catch (error) {
    return failureOf(error);
  }
}

describe("a file is read", () => {
  test("whole, and a missing one is no failure", () => {
    const path = join(dir, "plain");
    writeFileSync(path, "text\n");
    expect(readText(path)).toBe("text\n");
    expect(readText(join(dir, "nothing"))).toBeUndefined();
    // Files of the kernel have no size.
    expect(readText("/proc/self/stat")).toContain(String(process.pid));
  });

  test("only where it is one: a pipe, a device, a directory and a huge file are named", () => {
    const pipe = join(dir, "pipe");
    Bun.spawnSync(["mkfifo", pipe]);
    const huge = join(dir, "huge");
    writeFileSync(huge, "");
    truncateSync(huge, 300 * 1024 * 1024);
    expect(failing(pipe)).toEqual({ kind: "unusable-file", path: pipe, problem: "it is a pipe" });
    expect(failing("/dev/zero")).toEqual({ kind: "unusable-file", path: "/dev/zero", problem: "it is a device" });
    expect(failing(dir)).toEqual({ kind: "unusable-file", path: dir, problem: "it is a directory" });
    expect(failing(huge)).toEqual({ kind: "unusable-file", path: huge, problem: "it has 314572800 bytes" });
    expect(() => expectRegular(pipe)).toThrow("it is a pipe");
    expect(() => expectRegular(join(dir, "nothing"))).not.toThrow();
  });
});

test("a path through a plain file, or through a link to itself, leads to nothing", () => {
  const plain = join(dir, "no-directory");
  writeFileSync(plain, "");
  const loop = join(dir, "loop");
  symlinkSync("loop", loop);
  for (const path of [join(plain, "a"), join(plain, "a", "b"), join(loop, "a"), "/dev/null/pre-commit"]) {
    expect([statIfThere(path), lstatIfThere(path), readText(path)]).toEqual([undefined, undefined, undefined]);
  }
  expect(statIfThere(loop)).toBeUndefined();
  expect(lstatIfThere(loop)?.isSymbolicLink()).toBe(true);
});

test("a file in the place of a directory above the file to write is named", () => {
  const plain = join(dir, "taken");
  writeFileSync(plain, "");
  for (const path of [join(plain, "a"), join(plain, "a", "b")]) {
    expect(() => writable(path, () => writeAtomically(path, "text"))).toThrow(`${plain} must be a directory`);
  }
});
