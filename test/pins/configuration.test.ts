import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { renderConfigDocs } from "../../testkit/configuration-reference.ts";

test("docs/configuration.md is what the table of keys says (npm run docs)", () => {
  expect(readFileSync(resolve(import.meta.dir, "../../docs/configuration.md"), "utf8")).toBe(renderConfigDocs());
});
