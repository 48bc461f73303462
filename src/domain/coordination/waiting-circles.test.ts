import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Waiter, waitingCircles } from "./waiting-circles.ts";

const waits = (name: string, ...waitsFor: readonly string[]): Waiter => ({ name, isWoken: false, waitsFor });
const awake = (name: string): Waiter => ({ name, isWoken: true, waitsFor: [] });

test.each([
  ["two that wait for each other", [waits("a", "b"), waits("b", "a")], [["a", "b"]]],
  ["three in a row", [waits("c", "a"), waits("a", "b"), waits("b", "c")], [["a", "b", "c"]]],
  [
    "two circles, each once",
    [waits("a", "b"), waits("b", "a"), waits("x", "y"), waits("y", "x")],
    [
      ["a", "b"],
      ["x", "y"],
    ],
  ],
  ["who waits for a circle is not of it", [waits("a", "b"), waits("b", "a"), waits("c", "a")], [["a", "b"]]],
  ["a way out of it: the operator", [waits("a", "b"), waits("b", "a", "operator")], []],
  ["a way out of it: an agent at work", [waits("a", "b"), waits("b", "a", "c"), awake("c")], []],
  ["a way out further off", [waits("a", "b"), waits("b", "a", "c"), waits("c", "operator")], []],
  ["one of them has a turn ahead", [waits("a", "b"), { ...waits("b", "a"), isWoken: true }], []],
  ["a chain that ends at somebody who waits for nothing", [waits("a", "b"), waits("b")], []],
  ["nobody waits", [], []],
])("%s", (_, waiters, circles) => {
  expect(waitingCircles(waiters)).toEqual(circles);
});

const names = ["a", "b", "c", "d", "e", "operator"] as const;
const anyWaiters = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom(...names.slice(0, 5)),
    isWoken: fc.boolean(),
    waitsFor: fc.uniqueArray(fc.constantFrom(...names)),
  }),
  { selector: ({ name }) => name },
);

test("nobody in a circle reaches anybody awake, and each of them reaches every other", () => {
  fc.assert(
    fc.property(anyWaiters, (waiters) => {
      const known = new Map(waiters.map((one) => [one.name as string, one]));
      const from = (name: string, seen = new Set<string>()): ReadonlySet<string> => {
        for (const other of known.get(name)?.waitsFor ?? []) {
          if (!seen.has(other)) from(other, seen.add(other));
        }
        return seen;
      };
      const isAwake = (name: string): boolean => known.get(name)?.isWoken !== false;
      const placed = waitingCircles(waiters).flatMap((circle) => {
        for (const name of circle) {
          expect([name, ...from(name)].filter(isAwake)).toEqual([]);
          expect(circle.filter((other) => !from(name).has(other))).toEqual([]);
        }
        return circle;
      });
      expect(new Set(placed).size).toBe(placed.length);
      // And every agent that waits its way back to itself, with nobody awake on the way, is in one.
      const closed = waiters.filter(({ name }) => from(name).has(name) && ![name, ...from(name)].some(isAwake));
      expect(placed.toSorted()).toEqual(closed.map(({ name }) => name as string).toSorted());
    }),
  );
});
