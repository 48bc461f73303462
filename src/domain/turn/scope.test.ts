import { expect, test } from "bun:test";
import { isScopeExplained, outsideScope, scopeWarning } from "./scope.ts";

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
