import { expect, test } from "bun:test";
import fc from "fast-check";
import { gateMark, isOrchestratorMark, leastMark, markOf, orchestratorMark } from "./process.ts";

const digests = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bytes.toHex());

test("a mark is a number that shells, the system and we read alike, and far from what anybody would choose", () => {
  fc.assert(
    fc.property(digests, fc.integer({ min: -1, max: 100 }), (digest, depth) => {
      for (const mark of [markOf(digest, depth), orchestratorMark(digest), gateMark(digest)]) {
        expect(Number.isSafeInteger(mark)).toBe(true);
        expect(mark).toBeGreaterThan(2 ** 52 - 1);
        expect(mark).toBeGreaterThanOrEqual(leastMark);
      }
    }),
  );
});

test("no agent can reach the mark of an agent above it by lowering its own", () => {
  fc.assert(
    fc.property(digests, digests, fc.integer({ min: 0, max: 14 }), (above, below, depth) => {
      expect(markOf(above, depth)).toBeGreaterThan(markOf(below, depth + 1));
    }),
  );
});

test("only an orchestrator has the mark of one, and a gate has nobody else's", () => {
  fc.assert(
    fc.property(digests, digests, fc.integer({ min: -1, max: 15 }), (one, other, depth) => {
      expect(orchestratorMark(one)).toBeGreaterThan(markOf(other, depth));
      expect(gateMark(one)).toBeLessThan(markOf(other, depth));
      expect([orchestratorMark(one), markOf(one, depth), undefined].map(isOrchestratorMark)).toEqual([
        true,
        false,
        false,
      ]);
    }),
  );
});

test("two ids have two marks", () => {
  expect(markOf("a".repeat(64), 1)).not.toBe(markOf(`b${"a".repeat(63)}`, 1));
});
