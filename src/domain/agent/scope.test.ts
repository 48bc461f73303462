import { expect, test } from "bun:test";
import { changeable, findOverlaps, isScopeExplained, outsideScope, scopeWarning } from "./scope.ts";

test("no declared scope means no restriction", () => {
  expect(outsideScope(["anything.ts"], [])).toEqual([]);
  expect(outsideScope(["src/a.ts", "README.md"], ["src/**"])).toEqual(["README.md"]);
});

test("a directory in a scope means everything below it, however it is written", () => {
  const files = ["src/a.ts", "src/deep/b.ts", "srcs/c.ts", "d.ts"];
  for (const entry of ["src", "src/", "./src", "./src/", "{src,lib}"]) {
    expect([entry, outsideScope(files, [entry])]).toEqual([entry, ["srcs/c.ts", "d.ts"]]);
  }
  expect(outsideScope(files, ["./d.ts", "src/*"])).toEqual(["src/deep/b.ts", "srcs/c.ts"]);
  expect(outsideScope(["packages/one/src/a.ts", "packages/one/b.ts"], ["packages/*/src"])).toEqual([
    "packages/one/b.ts",
  ]);
  expect(outsideScope(["app/[id]/page.tsx"], ["app/[id]"])).toEqual([]);
  for (const whole of [".", "./"]) expect(outsideScope(files, [whole])).toEqual([]);
});

test("an agent that only shares files may change no others", () => {
  expect(outsideScope(["README.md", "a.ts"], changeable({ scope: [], shares: ["README.md"] }))).toEqual(["a.ts"]);
  expect(outsideScope(["a.ts"], changeable({ scope: [], shares: [] }))).toEqual([]);
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
  const agent = { capability: "builder", scope: ["src/**"], shares: ["CHANGELOG.md"], baseCommit: "abc" } as const;
  const facts = { agent, changed: ["src/a.ts", "web/x.ts", "CHANGELOG.md"], commitBodies: [], mailSubjects: [] };
  expect(scopeWarning(facts)).toMatchObject({
    type: "scope_violation",
    level: "warn",
    data: { violations: ["web/x.ts"], fileScope: ["src/**"], base: "abc" },
  });
  expect(scopeWarning({ ...facts, mailSubjects: ["scope_expansion: web"] })).toBeUndefined();
  expect(scopeWarning({ ...facts, changed: ["src/a.ts"] })).toBeUndefined();
  expect(scopeWarning({ ...facts, agent: { ...agent, capability: "scout" } })).toBeUndefined();
});

const owns = (...scope: string[]) => ({ scope, shares: [] });

const meets = (a: string, b: string): boolean =>
  findOverlaps(owns(a), { owner: "x", ...owns(b) }).length > 0 &&
  findOverlaps(owns(b), { owner: "x", ...owns(a) }).length > 0;

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
    [".", "src/a.ts"],
    ["./", "src"],
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

test("the answer names the owner and every pair of patterns that meet", () => {
  const other = { owner: "b2", ...owns("src/**", "docs/a.md") };
  expect(findOverlaps(owns("src/a.ts", "lib/a.ts", "docs"), other)).toEqual([
    { owner: "b2", wanted: "src/a.ts", owned: "src/**", shared: false },
    { owner: "b2", wanted: "docs", owned: "docs/a.md", shared: false },
  ]);
  expect(findOverlaps(owns("lib/a.ts"), other)).toEqual([]);
});

test("files that both share are no overlap; files that one of them owns alone are", () => {
  const area = (scope: string[], shares: string[]) => ({ scope, shares });
  const b1 = { owner: "b1", ...area(["src/one/**"], ["CHANGELOG.md", "src/registry.ts"]) };
  expect(findOverlaps(area(["src/two/**"], ["CHANGELOG.md", "./src/registry.ts"]), b1)).toEqual([]);
  // An area around a shared file does not take the file away from those who share it, where it is shared here too.
  expect(findOverlaps(area(["src/*.ts"], ["src/registry.ts"]), b1)).toEqual([]);
  // A shared directory is shared with everything below it.
  expect(findOverlaps(area([], ["docs/a.md"]), { owner: "b1", ...area(["docs/**"], ["docs"]) })).toEqual([]);
  expect(findOverlaps(area(["src/two/**", "CHANGELOG.md"], []), b1)).toEqual([
    { owner: "b1", wanted: "CHANGELOG.md", owned: "CHANGELOG.md", shared: true },
  ]);
  expect(findOverlaps(area([], ["src/one/a.ts"]), b1)).toEqual([
    { owner: "b1", wanted: "src/one/a.ts", owned: "src/one/**", shared: false },
  ]);
});

test("patterns with many ways to meet are compared in one look", () => {
  const many = (name: string) => `${"**/a/".repeat(60)}${name}.ts`;
  expect(findOverlaps(owns(many("x")), { owner: "b2", ...owns(many("y")) })).toEqual([]);
});
