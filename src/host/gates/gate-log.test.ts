import { afterAll, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { BoundedLog, type LogLimits } from "./gate-log.ts";

const dir = mkdtempSync(join(tmpdir(), "ov-bounded-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let files = 0;

/** What the file holds before and after the end, when this came in these pieces. */
function written(pieces: readonly Uint8Array[], limits: LogLimits, redact = (text: string) => text) {
  const path = join(dir, String(files++));
  const file = openSync(path, "a");
  const log = new BoundedLog({ file, redact, limits });
  for (const piece of pieces) log.add(piece);
  log.flush();
  const live = readFileSync(path);
  log.finish();
  closeSync(file);
  return { live, log: readFileSync(path) };
}

const lines = (count: number): Buffer => Buffer.from(Array.from({ length: count }, (_, at) => `line ${at}\n`).join(""));

test("what fits is kept byte for byte, however it comes", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (pieces) => {
      const whole = Buffer.concat(pieces);
      const { live, log } = written(pieces, { head: 400, tail: 2_000 });
      if (whole.length <= 2_400) expect([live, log]).toEqual([whole, whole]);
    }),
  );
});

test("of what does not fit the beginning and the end stay, and the bytes between are counted", () => {
  fc.assert(
    fc.property(fc.integer({ min: 300, max: 60_000 }), fc.integer({ min: 1, max: 70_000 }), (count, size) => {
      const whole = lines(count);
      const pieces = [];
      for (let at = 0; at < whole.length; at += size) pieces.push(whole.subarray(at, at + size));
      const { log } = written(pieces, { head: 1_000, tail: 1_000 });
      const [, head = "", left = "", tail = ""] =
        /^([^[]*)\[(\d+) bytes of output were left out here\]\n([\s\S]*)$/.exec(log.toString()) ?? [];
      expect(head.length + Number(left) + tail.length).toBe(whole.length);
      expect(whole.toString().startsWith(head)).toBe(true);
      expect(whole.toString().endsWith(`\n${tail}`)).toBe(true);
      expect([head.length <= 1_000, tail.length > 900 && tail.length <= 1_000]).toEqual([true, true]);
    }),
    { numRuns: 40 },
  );
});

test("a reader before the end sees whole lines up to the limit, without secrets", () => {
  const redact = (text: string): string => text.replaceAll("line 7", "[REDACTED]");
  const { live } = written(
    [lines(10), Buffer.from("unfinished"), lines(100_000)],
    { head: 1_000, tail: 1_000 },
    redact,
  );
  expect(live.toString()).toBe(lines(10).toString().replace("line 7", "[REDACTED]"));
});

test("a line without end is bounded too, and does not begin with half of something", () => {
  const limits = { head: 100_000, tail: 200_000 };
  const { log } = written([Buffer.alloc(1_000_000, "x")], limits);
  expect(log.toString()).toMatch(/^\[\d+ bytes of output were left out here\]\nx+$/);
  expect(log.length).toBeLessThanOrEqual(limits.tail);
});
