import { expect, test } from "bun:test";
import fc from "fast-check";
import { criticalPath, type Work } from "./critical-path.ts";

const work = (agent: string, parent: string, from: number, to: number): Work => ({ agent, parent, from, to });

test("the path leads from the parent through the child that took longest, back to the parent", () => {
  const works = [
    work("lead", "operator", 0, 12),
    work("b1", "lead", 10, 50),
    work("b2", "lead", 12, 60),
    work("lead", "operator", 61, 65),
  ];
  expect(criticalPath(works, 66)).toEqual([
    { agent: "lead", from: 0, to: 12 },
    { agent: "b2", from: 12, to: 60 },
    { agent: "lead", from: 61, to: 65 },
  ]);
});

test("agents of another branch of the tree are no reason while there is one in the own", () => {
  const works = [
    work("a", "operator", 0, 10),
    work("child", "a", 10, 30),
    work("a", "operator", 31, 40),
    work("stranger", "other", 5, 39),
  ];
  expect(criticalPath(works, 40).map(({ agent }) => agent)).toEqual(["a", "child", "a"]);
});

test("a parent whose turn goes on is the reason of its child only until the child begins", () => {
  const works = [work("lead", "operator", 0, 100), work("b1", "lead", 20, 120)];
  expect(criticalPath(works, 120)).toEqual([
    { agent: "lead", from: 0, to: 20 },
    { agent: "b1", from: 20, to: 120 },
  ]);
});

test("no work has no path, and the steps of any path follow each other without overlap", () => {
  expect(criticalPath([], 10)).toEqual([]);
  const name = fc.constantFrom("a", "b", "c", "d");
  const any = fc
    .tuple(name, name, fc.nat(100), fc.integer({ min: 1, max: 50 }))
    .map(([agent, parent, from, length]) => work(agent, parent, from, from + length));
  fc.assert(
    fc.property(fc.array(any, { maxLength: 20 }), (works) => {
      const steps = criticalPath(works, 200);
      for (const [at, step] of steps.entries()) {
        expect(step.from).toBeLessThan(step.to);
        expect(step.to).toBeLessThanOrEqual(steps[at + 1]?.from ?? 200);
      }
    }),
  );
});
