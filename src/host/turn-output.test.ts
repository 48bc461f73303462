import { expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compressOutput, turnOutput } from "./turn-output.ts";

function outputFile(text: string): { readonly dir: string; readonly path: string; [Symbol.dispose](): void } {
  const dir = mkdtempSync(join(tmpdir(), "ov-output-"));
  const path = join(dir, "stdout.ndjson");
  writeFileSync(path, text);
  return { dir, path, [Symbol.dispose]: () => rmSync(dir, { recursive: true }) };
}

const textOf = (path: string): string => {
  const output = turnOutput(path);
  return Buffer.from(output.read(0, output.size())).toString("utf8");
};

test("what a turn wrote reads the same before and after it was compressed", async () => {
  const text = `${'{"type":"assistant","text":"grüße 🦉"}\n'.repeat(200_000)}half a line`;
  using output = outputFile(text);
  expect(textOf(output.path)).toBe(text);
  await compressOutput(output.path);
  await compressOutput(output.path);
  expect(readdirSync(output.dir)).toEqual(["stdout.ndjson.zst"]);
  expect(statSync(`${output.path}.zst`).size).toBeLessThan(Buffer.byteLength(text) / 100);
  expect(textOf(output.path)).toBe(text);
  const there = turnOutput(output.path);
  expect(Buffer.from(there.read(2, 6)).toString()).toBe('type":');
  expect(Bun.spawnSync(["zstd", "-dc", `${output.path}.zst`]).stdout.toString()).toBe(text);
});

test("an empty output is compressed too, and none at all is no failure", async () => {
  using output = outputFile("");
  await compressOutput(output.path);
  expect(textOf(output.path)).toBe("");
  rmSync(`${output.path}.zst`);
  await compressOutput(output.path);
  expect([existsSync(output.path), textOf(output.path)]).toEqual([false, ""]);
});

test("a process that died between two steps leaves nothing that is read wrongly", async () => {
  using output = outputFile("one\n");
  writeFileSync(`${output.path}.zst.part`, "half");
  expect(textOf(output.path)).toBe("one\n");
  await compressOutput(output.path);
  expect(readdirSync(output.dir)).toEqual(["stdout.ndjson.zst"]);
  writeFileSync(output.path, "one\n");
  expect(textOf(output.path)).toBe("one\n");
  await compressOutput(output.path);
  expect([readdirSync(output.dir), textOf(output.path)]).toEqual([["stdout.ndjson.zst"], "one\n"]);
});

test("a reader that has the output open reads it to its end while it is compressed", async () => {
  using output = outputFile("one\ntwo\n");
  const reader = turnOutput(output.path);
  expect(Buffer.from(reader.read(0, 4)).toString()).toBe("one\n");
  await compressOutput(output.path);
  expect(Buffer.from(reader.read(4, reader.size() - 4)).toString()).toBe("two\n");
});

test("something else in the place of a compressed output is named instead of read", () => {
  using output = outputFile("");
  rmSync(output.path);
  mkdirSync(`${output.path}.zst`);
  expect(() => textOf(output.path)).toThrow("directory");
});
