import { expect, test } from "bun:test";
import { someTerms } from "../../../../testkit/assignments.ts";
import { roles } from "../roles.ts";
import { renderManifest } from "./manifest.ts";
import { fill, placeholders } from "./placeholders.ts";
import { renderPrompt } from "./prompt.ts";

test("a prompt is the role's text, then what follows from its rules", () => {
  const made = renderPrompt(roles.lead, "Be calm.", someTerms);
  const text = made.ok ? made.value : "";
  expect(text).toStartWith(
    "# Lead\n\nYou are a lead: you own one work stream and have it built by others.\n\nBe calm.\n\n",
  );
  for (const heading of ["## Phases", "## Rights", "## Mail types", "## Tools", "## Mistakes to recognise"]) {
    expect(text).toContain(heading);
  }
  expect(text).toContain("you may sling `scout`, `builder`, `reviewer`, `merger`");
  expect(text).toContain("Your work ends with `worker_done`");
});

test("every known placeholder is filled, with gates and without", () => {
  const all = placeholders.map((name) => `{{${name}}}`).join("\n");
  for (const gates of [someTerms.gates, []]) {
    const filled = fill(all, { ...someTerms, gates });
    expect(filled.ok && !filled.value.includes("{{")).toBe(true);
  }
});

test("what is filled in is never filled again, nor taken for a pattern", () => {
  const gates = [{ name: "odd", command: "echo $& {{TRACKER_CLI}} $'" }];
  expect(fill("{{QUALITY_GATE_INLINE}}", { ...someTerms, gates })).toEqual({
    ok: true,
    value: "`echo $& {{TRACKER_CLI}} $'`",
  });
});

test("a placeholder that means nothing is refused by name, whatever its letters", () => {
  expect(renderPrompt(roles.scout, "{{TRACKER_CLI}} {{WHAT}} {{ what }}", someTerms)).toEqual({
    ok: false,
    refusal: { unknown: ["WHAT", "what"] },
  });
});

test("the manifest lists every role and its inverse, and says who may spawn", () => {
  const { version, agents, capabilityIndex } = renderManifest();
  expect(version).toBe("1.0");
  expect(Object.keys(agents).sort()).toEqual(Object.keys(roles).sort());
  expect(agents.scout).toEqual({
    file: "scout.md",
    model: "haiku",
    tools: ["Read", "Glob", "Grep", "Bash"],
    capabilities: ["explore", "research"],
    canSpawn: false,
    constraints: ["read-only"],
  });
  expect(agents.coordinator).toMatchObject({ canSpawn: true, constraints: ["read-only", "no-worktree"] });
  expect(capabilityIndex.coordinate).toEqual(["orchestrator", "coordinator", "lead"]);
});
