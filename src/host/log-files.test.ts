import { expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cutLog } from "./log-files.ts";

test("a log that has grown is cut to its end, whole lines only, and a process that has it open goes on writing", () => {
  const dir = mkdtempSync(join(tmpdir(), "ov-log-"));
  const file = join(dir, "engine.log");
  try {
    cutLog(file);
    expect(existsSync(file)).toBe(false);
    const log = openSync(file, "a", 0o600);
    appendFileSync(file, "short\n");
    cutLog(file);
    expect(readFileSync(file, "utf8")).toBe("short\n");
    for (let n = 0; n < 40_000; n++) writeSync(log, `line ${n} ${"x".repeat(80)}\n`);
    cutLog(file);
    expect(statSync(file).size).toBe(0);
    const kept = readFileSync(`${file}.1`, "utf8");
    expect(kept.length).toBeLessThanOrEqual(1024 * 1024);
    expect(kept).toStartWith("line ");
    expect(kept).toContain("line 39999 ");
    expect(statSync(`${file}.1`).mode & 0o777).toBe(0o600);
    writeSync(log, "after\n");
    closeSync(log);
    expect(readFileSync(file, "utf8")).toBe("after\n");
  } finally {
    rmSync(dir, { recursive: true });
  }
});
