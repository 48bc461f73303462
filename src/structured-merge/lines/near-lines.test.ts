import { expect, test } from "bun:test";
import fc from "fast-check";
import { mergeLines, mergeNearLines } from "./merge-lines.ts";

test("what stands far from any change does not alter the merge", () => {
  const few = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "\n"), { maxLength: 12 }).map((lines) => lines.join(""));
  const far = Array.from({ length: 450 }, (_, index) => `line ${index}\n`).join("");
  fc.assert(
    fc.property(few, few, few, fc.boolean(), (base, ours, theirs, below) => {
      const around = (text: string): string => (below ? `${far}${text}` : `${text}${far}`);
      const near = mergeNearLines(around(base), around(ours), around(theirs));
      const whole = mergeLines(around(base), around(ours), around(theirs));
      expect(near).toEqual(whole);
    }),
    { numRuns: 60 },
  );
}, 60_000);
