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
