import { expect, test } from "bun:test";
import fc from "fast-check";
import { assemble } from "./assemble.ts";
import { settingsOf } from "./load.ts";
import { noFindings } from "./problem.ts";
import { type Detected, renderDefaultConfig } from "./render.ts";

async function readBack(detected: Detected) {
  const findings = noFindings();
  const settings = await settingsOf(renderDefaultConfig(detected), { layer: "project", file: "config.yaml" }, findings);
  return {
    findings,
    config: assemble(settings, "project", findings).config,
    keys: settings.map(({ path }) => path.join(".")),
  };
}

const garden: Detected = {
  name: "garden",
  canonicalBranch: "main",
  runtime: "claude",
  gates: [{ name: "test", command: "npm test", description: "" }],
};

test("a new project's file holds only detected settings, and says where the rest is", async () => {
  const { keys, findings } = await readBack(garden);
  expect(keys).toEqual(["project.name", "project.canonicalBranch", "project.qualityGates", "runtime.default"]);
  expect(findings).toEqual(noFindings());
  expect(renderDefaultConfig(garden)).toContain("ov config list");
  expect(renderDefaultConfig(garden)).toContain("    - name: test\n      command: npm test\n");
});

test("without a detected gate there is none", async () => {
  expect((await readBack({ ...garden, gates: [] })).config.project.qualityGates).toEqual([]);
});

test("whatever was detected is read back as it was", async () => {
  const text = fc
    .string({ unit: "grapheme", minLength: 1 })
    .filter((value) => value.trim() !== "" && !/\p{Cc}/u.test(value));
  const gates = fc.uniqueArray(fc.record({ name: text, command: text, description: fc.oneof(text, fc.constant("")) }), {
    maxLength: 3,
    selector: ({ name }) => name,
  });
  await fc.assert(
    fc.asyncProperty(text, text, gates, async (name, runtime, found) => {
      const { config, findings } = await readBack({ ...garden, name, runtime, gates: found });
      expect(findings.problems).toEqual([]);
      expect([config.project.name, config.runtime.default]).toEqual([name, runtime]);
      expect(config.project.qualityGates).toMatchObject(found);
    }),
  );
});
