import { expect, test } from "bun:test";
import { findOverlap } from "./scope-overlap.ts";

const meets = (a: string, b: string): boolean =>
  findOverlap([a], [{ owner: "x", patterns: [b] }]) !== undefined &&
  findOverlap([b], [{ owner: "x", patterns: [a] }]) !== undefined;

test("areas that can share a file overlap, whichever asks", () => {
  const pairs = [
    ["src/a.ts", "src/a.ts"],
    ["src/a.ts", "./src/a.ts"],
    ["src", "src/deep/a.ts"],
    ["src/", "src/a.ts"],
    ["src/*.ts", "src/a.ts"],
    ["src/**", "src/deep/er/a.ts"],
    ["**/*.ts", "src/a.ts"],
    ["src/*.ts", "src/a*"],
    ["src/**/x.ts", "src/deep/*.ts"],
    ["**", "anything"],
    ["**/x.ts", "src"],
  ] as const;
  for (const [a, b] of pairs) expect([a, b, meets(a, b)]).toEqual([a, b, true]);
});

test("areas that cannot share a file do not", () => {
  const pairs = [
    ["src/a.ts", "src/b.ts"],
    ["src/a", "src/ab"],
    ["src/*.ts", "src/a.md"],
    ["src/*.ts", "test/a.ts"],
    ["src/*.ts", "src/deep/a.ts"],
    ["a/**", "b/**"],
    ["src/**/x.ts", "src/y.ts"],
    ["**/*.ts", "docs/readme.md"],
  ] as const;
  for (const [a, b] of pairs) expect([a, b, meets(a, b)]).toEqual([a, b, false]);
});

test("the answer names the owner and both patterns", () => {
  const areas = [
    { owner: "b1", patterns: ["docs/**"] },
    { owner: "b2", patterns: ["src/**"] },
  ];
  expect(findOverlap(["src/a.ts"], areas)).toEqual({ owner: "b2", wanted: "src/a.ts", owned: "src/**" });
  expect(findOverlap(["lib/a.ts"], areas)).toBeUndefined();
});
