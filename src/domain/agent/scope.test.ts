import { expect, test } from "bun:test";
import { findOverlap, isScopeExplained, outsideScope, scopeWarning } from "./scope.ts";

test("no declared scope means no restriction", () => {
  expect(outsideScope(["anything.ts"], [])).toEqual([]);
  expect(outsideScope(["src/a.ts", "README.md"], ["src/**"])).toEqual(["README.md"]);
});

test("going beyond the scope is explained in a commit or by mail", () => {
  const said = (...commitBodies: string[]) => isScopeExplained({ commitBodies, mailSubjects: [] });
  expect(said("fix it\n\nexpansion_reason: the type moved")).toBe(true);
  expect(said("Expansion_Reason:because")).toBe(true);
  expect(said("one", "expansion_reason: x")).toBe(true);
  expect(said("expansion_reason:")).toBe(false);
  expect(said("expansion_reason:   \nmore text")).toBe(false);
  expect(said("expansion-reason: no")).toBe(false);
  const mailed = (subject: string) => isScopeExplained({ commitBodies: [], mailSubjects: ["hello", subject] });
  expect(mailed("scope_expansion: src/b.ts too")).toBe(true);
  expect(mailed("about scope_expansion")).toBe(false);
});

test("the warning lists the files, the scope and the base, and only those who may change files get it", () => {
  const agent = { capability: "builder", scope: ["src/**"], baseCommit: "abc" } as const;
  const facts = { agent, changed: ["src/a.ts", "web/x.ts"], commitBodies: [], mailSubjects: [] };
  expect(scopeWarning(facts)).toMatchObject({
    type: "scope_violation",
    level: "warn",
    data: { violations: ["web/x.ts"], fileScope: ["src/**"], base: "abc" },
  });
  expect(scopeWarning({ ...facts, mailSubjects: ["scope_expansion: web"] })).toBeUndefined();
  expect(scopeWarning({ ...facts, changed: ["src/a.ts"] })).toBeUndefined();
  expect(scopeWarning({ ...facts, agent: { ...agent, capability: "scout" } })).toBeUndefined();
});

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
