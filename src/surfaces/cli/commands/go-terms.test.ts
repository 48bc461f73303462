import { expect, test } from "bun:test";
import { landingRule } from "./go-terms.ts";

test("the promotion that is printed for landed work of an earlier run names that run, or the target of work without a run", () => {
  const target = { branch: "main", commit: "c1", isHere: true, detached: undefined };
  const rest = { commit: "c2", target: "main", targetCheckedOut: true, missing: 0, failedMerge: null, promoted: [] };
  const ruleAt = (branch: string): string =>
    landingRule({ target, start: { ...rest, branch, missingCommits: "none" as const } });
  expect(ruleAt("overstory/integration/run-1")).toEndWith("take it over with: ov merge promote --run run-1");
  expect(ruleAt("overstory/integration/main")).toEndWith("take it over with: ov merge promote --target main");
  expect(ruleAt("main")).toEndWith("take it over with: ov merge promote");
});
