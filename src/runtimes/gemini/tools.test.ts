import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fields } from "../shared/json-fields.ts";
import { geminiHooks } from "./hooks.ts";
import { geminiToolUse } from "./tools.ts";

test("a command that is run in another directory is judged there", () => {
  const use = geminiToolUse("run_shell_command", { command: "rm -rf x", dir_path: "my dir" }, {});
  expect(use).toMatchObject({ kind: "execute", command: "cd 'my dir' && rm -rf x" });
});

test("tools are ours by the name of their server, not by a name that begins like it", () => {
  const own = { mcp_context: { server_name: "overstory", tool_name: "finish" } };
  const other = { mcp_context: { server_name: "overstory_x", tool_name: "finish" } };
  expect(geminiToolUse("mcp_overstory_finish", {}, own).kind).toBe("own");
  expect(geminiToolUse("mcp_overstory_x_finish", {}, other).kind).toBe("other");
  expect(geminiToolUse("replace", { file_path: "a", new_string: "b" }, {})).toEqual({
    kind: "edit",
    command: null,
    paths: ["a"],
    changes: true,
  });
});

test("the guard reads what Gemini told its hooks", () => {
  const told = readFileSync(resolve(import.meta.dir, "../../../test/fixtures/gemini/hook-inputs.ndjson"), "utf8");
  const line = told.split("\n").find((one) => fields(JSON.parse(one))?.hook_event_name === "BeforeTool");
  expect(geminiHooks.read(line)).toMatchObject({
    tool: "run_shell_command",
    cwd: "/home/user/project",
    use: { kind: "execute", command: "echo BLOCKEXIT > b1.txt" },
  });
});
