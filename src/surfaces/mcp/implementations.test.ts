import { expect, test } from "bun:test";
import { toolFor, undefinedTools } from "../../contract/tools/tools.ts";
import { roleList, toolsOf } from "../../domain/role/roles.ts";
import { toolNames } from "../../domain/role/tools.ts";
import { checkArguments } from "../../domain/schema/check.ts";
import { implementations, listedTools, offeredTools } from "./implementations.ts";

test("every tool of every role can be used, but for those that need a store of expertise", async () => {
  const missing = toolNames.filter((name) => !Object.hasOwn(implementations, name));
  expect(missing).toEqual([...undefinedTools]);
  for (const role of roleList) expect(offeredTools(role)).toEqual(toolsOf(role, { expertise: false }));
  for (const load of Object.values(implementations)) expect(typeof (await load())).toBe("function");
});

test("no tool takes a sender, and none takes what it does not know", () => {
  for (const role of roleList) {
    for (const name of offeredTools(role)) {
      const input = toolFor(name, role)?.input;
      expect(Object.keys(input?.properties ?? {})).not.toContainAnyValues(["from", "agent", "sender", "token"]);
      expect(input === undefined || checkArguments(input, { from: "operator" }).ok).toBe(false);
    }
  }
});

test("what tools cost a model to read stays small", () => {
  for (const role of roleList) expect(JSON.stringify(listedTools(role)).length).toBeLessThan(14_900);
});
