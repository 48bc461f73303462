import { expect, test } from "bun:test";
import fc from "fast-check";
import { alignThree, matches } from "./align.ts";

const letters = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 14 });

test("matches pairs equal elements in order and as many as possible", () => {
  fc.assert(
    fc.property(letters, letters, (from, to) => {
      const found = matches(from, to);
      let last = -1;
      let count = 0;
      for (const [index, place] of found.entries()) {
        if (place === undefined) continue;
        expect(to[place] === from[index]).toBe(true);
        expect(place).toBeGreaterThan(last);
        last = place;
        count++;
      }
      expect(count).toBe(longest(from, to));
    }),
  );
});

test("in a long file whose lines have nearly all changed, what is unique still finds its place", () => {
  const from = Array.from({ length: 6000 }, (_, at) => (at % 5 === 0 ? `kept ${at}` : `old ${at % 7}`));
  const to = ["new", ...from.map((line) => (line.startsWith("kept") ? line : "new"))];
  const expected = from.map((line, at) => (line.startsWith("kept") ? at + 1 : undefined));
  expect(matches(from, to)).toEqual(expected);
});

test("chunks put together are the three sequences, and changed chunks never touch", () => {
  fc.assert(
    fc.property(letters, letters, letters, (base, ours, theirs) => {
      const chunks = alignThree({ base, ours, theirs }, (item) => item);
      expect(chunks.flatMap((chunk) => chunk.base)).toEqual(base);
      expect(chunks.flatMap((chunk) => chunk.ours)).toEqual(ours);
      expect(chunks.flatMap((chunk) => chunk.theirs)).toEqual(theirs);
      chunks.forEach((chunk, index) => {
        if (chunk.stable) expect([chunk.ours, chunk.theirs]).toEqual([chunk.base, chunk.base]);
        else expect(chunks[index + 1]?.stable ?? true).toBe(true);
      });
    }),
  );
});

function longest(from: readonly string[], to: readonly string[]): number {
  let row = new Array<number>(to.length + 1).fill(0);
  for (const item of from) {
    const next = [0];
    to.forEach((other, index) => {
      next.push(item === other ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0));
    });
    row = next;
  }
  return row[to.length] ?? 0;
}
