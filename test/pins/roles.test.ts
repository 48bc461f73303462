import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { renderRoleDocs } from "../../testkit/roles-reference.ts";

test("docs/roles.md is what the roles say (npm run docs)", () => {
  expect(readFileSync(resolve(import.meta.dir, "../../docs/roles.md"), "utf8")).toBe(renderRoleDocs());
});
