import { expect, test } from "bun:test";
import { activeCategories, discoveryBrief, discoveryCategories } from "./discovery.ts";

test("every category is explored unless it is skipped", () => {
  expect(activeCategories([])).toEqual({ ok: true, value: discoveryCategories });
  expect(activeCategories(["config", "implicit"])).toMatchObject({ value: discoveryCategories.slice(0, 4) });
});

test("a misspelt category is refused with the nearest, and so is skipping all", () => {
  expect(activeCategories(["testin"])).toMatchObject({ ok: false, refusal: { field: "skip", nearest: "testing" } });
  expect(activeCategories([...discoveryCategories])).toMatchObject({ ok: false, refusal: { kind: "invalid" } });
});

test("the brief names what is explored and nothing that is skipped", () => {
  const brief = discoveryBrief(["testing"]);
  expect(brief).toContain("- testing:");
  expect(brief).not.toContain("- apis:");
});
