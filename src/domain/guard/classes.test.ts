import { describe, expect, test } from "bun:test";
import { policyFor, runs } from "../../../testkit/guard.ts";
import { guardClasses } from "../../../testkit/guard-cases.ts";
import { roles } from "../role/roles.ts";

describe.each(guardClasses())("$name", ({ cases }) => {
  test("has at least twenty cases, of both kinds", () => {
    expect(cases.length).toBeGreaterThanOrEqual(20);
    expect(new Set(cases.map(({ decision }) => decision)).size).toBe(2);
  });

  test.each(cases.map(({ role, decision, command }) => [role, decision, command] as const))(
    "%s: %s %j",
    (role, decision, command) => {
      expect(runs(policyFor(roles[role]), command)).toMatchObject({ decision });
    },
  );
});
