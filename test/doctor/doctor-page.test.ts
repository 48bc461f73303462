import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";

const root = resolve(import.meta.dir, "../..");

test("the page about ov doctor has a heading for each rule, and no other", () => {
  const page = readFileSync(join(root, "docs/doctor.md"), "utf8");
  const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, name = ""]) => name);
  const sources = [...new Glob("src/domain/consistency/rules/*.ts").scanSync(root)];
  const rules = sources.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/(?:rule: |failing\(|warning\()"([^"]+)"/g)].map(
      ([, rule = ""]) => rule,
    ),
  );
  expect(rules.length).toBeGreaterThan(50);
  expect(headings).toEqual([...new Set(rules)].toSorted());
});
