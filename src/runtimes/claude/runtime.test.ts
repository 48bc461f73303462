import { expect, test } from "bun:test";
import type { LaunchRequest } from "../../ports/runtime.ts";
import { claudeRuntime } from "./runtime.ts";
import { claudeToolKind, claudeToolUse } from "./tools.ts";

const request: LaunchRequest = {
  version: null,
  model: null,
  resume: null,
  prompt: "work",
  instructions: null,
  cwd: "/w/tree",
  writableRoots: ["/w/tree"],
  turnDir: "/w/turn",
  tools: null,
  toolVariables: {},
  maxCostUsd: null,
  guard: null,
};
const [driver] = claudeRuntime.drivers;

const taken = { model: null, resume: "s", instructions: null, tools: null, guard: null } as const;

const settingsIn = (argv: readonly string[]): unknown => JSON.parse(argv[argv.indexOf("--settings") + 1] ?? "");

test("a turn has the guard before every tool and no other hook, and no file can switch it off", () => {
  const guard = { program: ["/my tools/ov"], rules: "/it's/guard.json", digest: "ab12" };
  const { argv } = driver.launch({ ...request, guard });
  const command = `ulimit -t 10 2>/dev/null; '/my tools/ov' hook pre-tool --rules '/it'\\''s/guard.json' --digest ab12 || exit 2`;
  expect(settingsIn(argv)).toEqual({
    disableAllHooks: false,
    hooks: {
      PreToolUse: [{ matcher: "", hooks: [{ type: "command", command, timeout: 86_400, onFailure: "block" }] }],
    },
  });
  // A hook that says nothing allows nothing: without a guard another one allows everything.
  expect(JSON.stringify(settingsIn(driver.launch(request).argv))).toContain("permissionDecision");
});

test("a person who takes over has all hooks, and the guard among them fails closed, as in turns", () => {
  const guard = { program: ["/my tools/ov"], rules: "/guard.json", digest: "ab12" };
  const { argv } = claudeRuntime.terminal({ ...taken, guard });
  const command = "'/my tools/ov' hook pre-tool --digest ab12 || exit 2";
  expect(settingsIn(argv)).toMatchObject({
    disableAllHooks: false,
    hooks: {
      PreToolUse: [{ matcher: "", hooks: [{ type: "command", command, timeout: 30, onFailure: "block" }] }],
      Stop: [{ hooks: [{ command: "'/my tools/ov' hook stop" }] }],
    },
  });
});

test("without being told where our program is, a guard that is not found denies all the same", async () => {
  const { argv } = claudeRuntime.terminal(taken);
  expect(settingsIn(argv)).toMatchObject({
    hooks: { PreToolUse: [{ hooks: [{ command: "ov hook pre-tool || exit 2", onFailure: "block" }] }] },
  });
  const { exited } = Bun.spawn(["/bin/sh", "-c", "ov hook pre-tool || exit 2"], {
    env: { PATH: "/nonexistent" },
    stderr: "ignore",
  });
  expect(await exited).toBe(2);
});

test.each([
  ["Bash", "execute"],
  ["Edit", "edit"],
  ["Agent", "delegate"],
  ["Task", "delegate"],
  ["AskUserQuestion", "ask"],
  ["mcp__overstory__finish", "own"],
  ["mcp__other__write", "other"],
  ["toString", "other"],
] as const)("%s is a tool of the kind %s", (name, kind) => {
  expect(claudeToolKind(name)).toBe(kind);
});

test.each([
  ["Bash", { command: "ls" }, { kind: "execute", command: "ls", paths: [], changes: false }],
  ["Write", { file_path: "/a", content: "x" }, { kind: "edit", command: null, paths: ["/a"], changes: true }],
  ["NotebookEdit", { notebook_path: "n.ipynb" }, { kind: "edit", command: null, paths: ["n.ipynb"], changes: false }],
  ["New", { patch: "@@" }, { kind: "other", command: null, paths: [], changes: true }],
  ["Bash", { command: "" }, { kind: "execute", command: null, paths: [], changes: false }],
  ["Bash", "ls", { kind: "execute", command: null, paths: [], changes: false }],
] as const)("the guard is told what %s does with %o", (tool, input, use) => {
  expect(claudeToolUse(tool, input)).toEqual(use);
});
