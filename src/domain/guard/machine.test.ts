import { expect, test } from "bun:test";
import { policyFor, runs } from "../../../testkit/guard.ts";
import { roles } from "../role/roles.ts";

test.each([
  ["npm publish", "publish"],
  ["rsync -a dist/ host:/srv", "publish"],
  ["gh pr create", "publish"],
  ["systemctl restart nginx", "machine"],
  ["kill -9 -1", "machine"],
] as const)("a denial of %j tells what is left to the operator", (command, rule) => {
  const denied = runs(policyFor(roles.builder), command);
  expect(denied).toMatchObject({ rule, of: command });
  expect("reason" in denied && denied.reason).toContain("the operator");
});
