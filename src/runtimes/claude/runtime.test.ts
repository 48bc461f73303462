import { expect, test } from "bun:test";
import { claudeRuntime } from "./runtime.ts";
import { claudeToolKind } from "./tools.ts";

const request = { model: null, resume: null, prompt: "work" } as const;

const settingsIn = (argv: readonly string[]): unknown => JSON.parse(argv[argv.indexOf("--settings") + 1] ?? "");

test("a turn has the guard before every tool and no other hook, and no file can switch it off", () => {
  const guard = { program: ["/my tools/ov"], rules: "/it's/guard.json", digest: "ab12" };
  const { argv } = claudeRuntime.launch({ ...request, guard });
  const command = `'/my tools/ov' hook pre-tool --rules '/it'\\''s/guard.json' --digest ab12 || exit 2`;
  expect(settingsIn(argv)).toEqual({
    disableAllHooks: false,
    hooks: {
      PreToolUse: [{ matcher: "", hooks: [{ type: "command", command, timeout: 30, onFailure: "block" }] }],
    },
  });
  expect(claudeRuntime.launch(request).argv).not.toContain("--settings");
});

test("a person who takes over has all hooks, and the guard among them fails closed, as in turns", () => {
  const guard = { program: ["/my tools/ov"], rules: "/guard.json", digest: "ab12" };
  const attached = { model: null, resume: "s", guard };
  const { argv } = claudeRuntime.interactive?.(attached) ?? { argv: [] };
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
  const { argv } = claudeRuntime.interactive?.({ model: null, resume: "s" }) ?? { argv: [] };
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
