import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { tree } from "../../src/surfaces/cli/tree.ts";
import { renderDocs } from "../../testkit/cli-reference.ts";

test("docs/cli.md is what the command tree says (npm run docs)", () => {
  expect(readFileSync(resolve(import.meta.dir, "../../docs/cli.md"), "utf8")).toBe(renderDocs(tree));
});
