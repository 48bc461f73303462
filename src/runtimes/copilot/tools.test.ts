import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { copilotHooks } from "./hooks.ts";
import { copilotToolUse } from "./tools.ts";

test("the guard reads what Copilot told its hooks, and answers in its words", () => {
  const told = readFileSync(resolve(import.meta.dir, "../../../test/fixtures/copilot/hook-inputs.ndjson"), "utf8");
  const line = told.split("\n").find((one) => one.includes('"toolName"'));
  const read = { tool: "bash", cwd: "/home/user/project", use: { kind: "execute", command: "echo KDENY > b1.txt" } };
  expect(copilotHooks.read(line)).toMatchObject(read);
  const asText = JSON.stringify({ toolName: "bash", toolArgs: '{"command":"git push"}', cwd: "/w" });
  expect(copilotHooks.read(asText)).toMatchObject({ use: { kind: "execute", command: "git push" } });
  expect(copilotHooks.denial("because")).toMatchObject({ permissionDecision: "deny" });
});

test("the command of a tool for files is no shell command, and a patch names its files", () => {
  expect(copilotToolUse("str_replace_editor", { command: "create", path: "a.ts", file_text: "x" })).toEqual({
    kind: "edit",
    command: null,
    paths: ["a.ts"],
    changes: true,
  });
  const patch = "*** Begin Patch\n*** Add File: ../out.txt\n+x\n*** End Patch";
  expect(copilotToolUse("apply_patch", patch)).toMatchObject({ kind: "edit", paths: ["../out.txt"] });
  expect(copilotToolUse("bash", { command: "git push" })).toMatchObject({ kind: "execute", command: "git push" });
});

test("our own tools are known, and those of a server with a longer name are not ours", () => {
  const kinds = ["overstory-finish", "overstory-x-finish", "task", "whatever"].map(
    (tool) => copilotToolUse(tool, {}).kind,
  );
  expect(kinds).toEqual(["own", "other", "delegate", "other"]);
});
