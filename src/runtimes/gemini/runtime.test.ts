import { expect, test } from "bun:test";
import fc from "fast-check";
import type { LaunchRequest } from "../../ports/runtime.ts";
import { geminiRuntime } from "./runtime.ts";

const request: LaunchRequest = {
  version: null,
  model: null,
  resume: null,
  prompt: "go",
  instructions: null,
  cwd: "/w/tree",
  writableRoots: [],
  turnDir: "/w/turn",
  tools: { name: "overstory", command: "/bin/ov", args: ["mcp"], env: ["OVERSTORY_TOKEN"] },
  toolVariables: {},
  maxCostUsd: null,
  guard: { program: ["/bin/ov"], rules: "/w/rules", digest: "d1" },
};
const { launch } = geminiRuntime.drivers[0];

test("settings are a file of the turn: the guard says something when it fails, and no conversation is deleted", () => {
  const { files, env } = launch(request);
  const [file, ...links] = files;
  const settings = JSON.parse(file !== undefined && "text" in file ? file.text : "");
  expect(file?.path).toBe("gemini/.gemini/settings.json");
  expect(env.GEMINI_CLI_HOME).toBe("/w/turn/gemini");
  const command = settings.hooks.BeforeTool[0].hooks[0].command;
  expect(command).toBe(
    "ulimit -t 10 2>/dev/null; /bin/ov hook pre-tool --rules /w/rules --digest d1 --runtime gemini || { echo 'This tool was not allowed.' >&2; exit 2; }",
  );
  expect(settings.general.sessionRetention.enabled).toBe(false);
  expect(settings.mcpServers.overstory.env).toEqual({ OVERSTORY_TOKEN: "\u0024{OVERSTORY_TOKEN:-}" });
  expect(links).toContainEqual({ in: "turn", path: "gemini/.gemini/tmp", to: ".gemini/tmp", isDirectory: true });
});

test("nothing in a prompt is taken for the name of a file, not even in a mail address", () => {
  const { input } = launch({ ...request, prompt: "see @a.ts, @/etc/passwd and me@example.org @@b @ x" });
  expect(input).toStartWith("see \\@a.ts, \\@/etc/passwd and me\\@example.org \\@\\@b @ x\n\n");
  // The expression by which Gemini 0.61 finds them.
  const mention = /(?<!\\)@(?:(?:"(?:[^"]*)")|(?:\\.|[^ \t\n\r,;!?()[\]{}.]|\.(?!$|[ \t\n\r])))+/;
  const pieces = fc.array(fc.constantFrom("@", "@", "\\", " ", "\n", ".", "a", "/", '"', "(", "。"));
  fc.assert(
    fc.property(pieces, (parts) => {
      expect(launch({ ...request, prompt: parts.join("") }).input).not.toMatch(mention);
    }),
  );
});
