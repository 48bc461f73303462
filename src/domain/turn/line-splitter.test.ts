import { expect, test } from "bun:test";
import fc from "fast-check";
import { LineSplitter } from "./line-splitter.ts";

test("a stream cut anywhere, also inside a character, gives the same lines", () => {
  const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat({ max: 9 }), { minLength: 1 }), (lines, cuts) => {
      const bytes = new TextEncoder().encode(lines.map((text) => `${text}\n`).join(""));
      const splitter = new LineSplitter();
      const found: string[] = [];
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const size = 1 + (cuts[i % cuts.length] ?? 0);
        found.push(...splitter.push(bytes.subarray(at, at + size)));
        at += size;
      }
      expect(found).toEqual(lines);
      expect(splitter.pending).toBe(0);
    }),
  );
});

test("the rest without a newline stays inside until asked for", () => {
  const splitter = new LineSplitter();
  expect(splitter.push(new TextEncoder().encode("a\nbc"))).toEqual(["a"]);
  expect(splitter.pending).toBe(2);
  expect(splitter.flush()).toBe("bc");
  expect(splitter.flush()).toBeUndefined();
});

test("of a line above the limit the beginning is kept, and the lines after it are whole", () => {
  const splitter = new LineSplitter(10);
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  expect(splitter.push(bytes("abcdefgh"))).toEqual([]);
  expect(splitter.push(bytes("ijklmnop"))).toEqual([]);
  expect(splitter.push(bytes("q".repeat(1_000)))).toEqual([]);
  expect(splitter.pending).toBe(1_016);
  expect(splitter.push(bytes("end\nnext\n"))).toEqual(["abcdefghij", "next"]);
  expect(splitter.pending).toBe(0);
});
