import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nowhere, policyFor } from "../../testkit/guard.ts";
import { decide } from "../domain/guard/decide.ts";
import { roles } from "../domain/role/roles.ts";
import { hookFormat } from "./runtime-names.ts";
import { runtimeById } from "./runtimes.ts";

/** What the guard says to a builder in `/w/tree` whose program tells its hook about this use of a tool. */
async function judged(runtime: string, tool: string, input: unknown): Promise<string> {
  const cwd = "/w/tree";
  const told = { tool_name: tool, tool_input: input, toolName: tool, toolArgs: input, cwd };
  const read = (await hookFormat(runtime)).read(JSON.stringify(told));
  if (read === undefined) throw new Error("the hook was told nothing");
  const request = { ...read.use, tool: read.tool, cwd: read.cwd, attended: false };
  return decide(request, policyFor(roles.builder), nowhere).decision;
}

const patch = (...lines: readonly string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
const honest = ["*** Add File: ok.txt", "+x"];

test.each<readonly [string, string, unknown]>([
  ["codex", "apply_patch", { command: patch(...honest, " *** Add File: ../b2/x", "+x") }],
  ["codex", "apply_patch", { command: patch(...honest, "\t*** Add File: .codex/config.toml", "+x") }],
  ["codex", "apply_patch", { command: patch("*** Add File: a\u2028/../../b2/x", "+x") }],
  ["codex", "Bash", { command: `apply_patch <<'X'\n${patch(...honest, " *** Delete File: ../b2/x")}\nX` }],
  ["codex", "apply_patch", { path: "ok.txt", input: patch("*** Add File: ../b2/x", "+x") }],
  ["codex", "shell", { command: ["touch", "a # b", "../b2/x"] }],
  ["codex", "shell", { command: ["python3", "-c", "import evil"] }],
  ["codex", "shell", { command: ["/bin/bash", "-lc", "git push"] }],
  ["pi", "write", { path: "@../b2/x", content: "x" }],
  ["pi", "write", { path: "@/etc/x", content: "x" }],
  ["pi", "write", { path: "~/x", content: "x" }],
  ["pi", "write", { path: "@~/x", content: "x" }],
  ["pi", "edit", { path: "@.claude/settings.json", edits: [] }],
  ["pi", "edit", { path: "ok", file_path: "../b2/x", edits: [] }],
  ["opencode", "apply_patch", { patchText: patch(...honest, "*** Add File:../b2/x", "+x") }],
  ["opencode", "apply_patch", { patchText: patch(...honest, "*** Move to:../b2/x") }],
  ["opencode", "apply_patch", { filePath: "ok.txt", patchText: patch("*** Add File: ../b2/x", "+x") }],
  ["opencode", "edit", { filePath: "ok", path: "../b2/x", newString: "x" }],
  ["copilot", "apply_patch", { path: "ok.txt", input: patch("*** Add File: ../b2/x", "+x") }],
  ["copilot", "create", { path: "~/x", file_text: "x" }],
  ["claude", "NotebookEdit", { file_path: "ok", notebook_path: "/etc/x.ipynb", new_source: "x" }],
  ["claude", "Write", { file_path: "~/x", content: "x" }],
  ["gemini", "write_file", { file_path: "/w/tree/ok", absolute_path: "/etc/x", content: "x" }],
])("%s: %s of %j leads out, and is denied", async (runtime, tool, input) => {
  expect(await judged(runtime, tool, input)).toBe("deny");
});

test.each<readonly [string, string, unknown]>([
  ["codex", "apply_patch", { command: patch(...honest, " *** Add File: src/x", "+x") }],
  ["codex", "apply_patch", { command: patch("*** Update File: ok.md", "@@", "+*** Add File: ../b2/x") }],
  ["codex", "Bash", { command: "grep -rn '*** Add File: ../x' docs" }],
  ["codex", "shell", { command: ["touch", "a # b"] }],
  ["codex", "shell", { command: ["bash", "-lc", "npm test"] }],
  ["pi", "write", { path: "@src/x", content: "x" }],
  ["pi", "write", { path: "a~b", content: "x" }],
  ["pi", "write", { path: "src/@types/x.d.ts", content: "~/x" }],
  ["opencode", "apply_patch", { patchText: patch("*** Add File:src/x", "+x") }],
  ["opencode", "edit", { filePath: "/w/tree/ok", path: "ok", newString: "../b2/x" }],
  ["copilot", "apply_patch", patch("*** Add File: src/x", "+x")],
  ["claude", "Write", { file_path: "/w/tree/~x", content: "x" }],
  ["gemini", "write_file", { file_path: "/w/tree/ok", content: "*** Add File: ../x" }],
])("%s: %s of %j stays in the worktree", async (runtime, tool, input) => {
  expect(await judged(runtime, tool, input)).toBe("allow");
});

test("a command that is longer than any shell is given is not read at all", async () => {
  expect(await judged("claude", "Bash", { command: `echo ${"x".repeat(200_000)}` })).toBe("deny");
});

test("a guard that computes for too long is ended, and denies", async () => {
  const dir = mkdtempSync(join(tmpdir(), "ov-guard-"));
  const program = join(dir, "ov");
  writeFileSync(program, "#!/bin/sh\nwhile :; do :; done\n");
  chmodSync(program, 0o755);
  const lines = ["claude", "codex", "gemini", "copilot"].map(
    (name) => runtimeById(name)?.guardLine?.({ program: [program], rules: "/w/rules", digest: "d1" }).line ?? "",
  );
  expect(lines.filter((line) => line.startsWith("ulimit -t 10 "))).toHaveLength(lines.length);
  const sooner = lines[1]?.replace("ulimit -t 10 ", "ulimit -t 1 ") ?? "";
  const asked = Bun.spawn(["/bin/sh", "-c", sooner], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  expect(await asked.exited).toBe(2);
  rmSync(dir, { recursive: true, force: true });
}, 60_000);
