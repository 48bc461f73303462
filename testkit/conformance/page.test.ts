import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { checkNames } from "./checks.ts";
import { drivers } from "./drivers.ts";
import { renderRuntimesPage } from "./page.ts";
import { resultsOf } from "./results.ts";
import { scenes } from "./scenes/all.ts";

test("the kit has at least thirty checks, and each is made in one scene", () => {
  expect(checkNames.length).toBeGreaterThanOrEqual(30);
  expect(scenes.flatMap(({ checks }) => checks).toSorted()).toEqual(checkNames.toSorted());
});

test.each(drivers.map((driver) => [driver.id, driver] as const))(
  "the last whole run with %s passed every check, but for three at most that have a reason: npm run test:real",
  (_, driver) => {
    const skipped = Object.keys(driver.skips);
    expect(skipped.length).toBeLessThanOrEqual(3);
    const results = resultsOf(driver);
    expect(results?.version).toBe(driver.version);
    expect(results?.passed.toSorted()).toEqual(checkNames.filter((name) => !skipped.includes(name)).toSorted());
  },
);

test("docs/runtimes.md is up to date: npm run docs", () => {
  expect(readFileSync(resolve(import.meta.dir, "../../docs/runtimes.md"), "utf8")).toBe(renderRuntimesPage());
});
