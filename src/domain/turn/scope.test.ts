import { expect, test } from "bun:test";
import fc from "fast-check";
import { matchesGlob } from "./glob.ts";
import { isScopeExplained, outsideScope, scopeWarning } from "./scope.ts";

const covered: readonly (readonly [file: string, entry: string])[] = [
  ["src/a.ts", "src/a.ts"],
  ["src/a.ts", "src/*.ts"],
  ["src/a.ts", "src/?.ts"],
  ["src/deep/er/a.ts", "src/**"],
  ["src/a.ts", "src/**/*.ts"],
  ["src/x/y/a.ts", "src/**/*.ts"],
  ["src/a.test.ts", "src/*.{test,spec}.ts"],
  ["src/b.ts", "src/[abc].ts"],
  ["src/d.ts", "src/[!abc].ts"],
  ["docs/guide/x.md", "docs/"],
  ["src/a+b (1).ts", "src/a+b (1).ts"],
  ["src/[slug]/page.tsx", "src/[slug]/page.tsx"],
  ["src/{draft.ts", "src/{draft.ts"],
  ["src/[z-a].ts", "src/[z-a].ts"],
];

const uncovered: readonly (readonly [file: string, entry: string])[] = [
  ["src/a.ts", "src"],
  ["src/a.ts", "src/b.ts"],
  ["src/x/a.ts", "src/*.ts"],
  ["src/aXts", "src/a.ts"],
  ["src/a.tsx", "src/*.ts"],
  ["other/src/a.ts", "src/**"],
  ["src/a.ts", "src/[!abc].ts"],
  ["src/{draftXts", "src/{draft.ts"],
];

test("a file is in scope when an entry is its path or matches it", () => {
  for (const [file, entry] of covered) expect([file, entry, matchesGlob(file, entry)]).toEqual([file, entry, true]);
  for (const [file, entry] of uncovered) expect([file, entry, matchesGlob(file, entry)]).toEqual([file, entry, false]);
});

test("every path matches itself, whatever characters it has, and no entry can break the check", () => {
  fc.assert(fc.property(fc.string(), (path) => expect(matchesGlob(path, path)).toBe(true)));
  fc.assert(fc.property(fc.string(), fc.string(), (path, entry) => void matchesGlob(path, entry)));
});

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
