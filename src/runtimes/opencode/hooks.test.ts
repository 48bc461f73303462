import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toldByPlugin } from "./exec-json.ts";
import { guardPlugin, opencodeAcpToolUse, opencodeHooks, opencodeToolUse, tellingPlugin } from "./hooks.ts";

interface Hooks {
  config(config: object): Promise<void>;
  "tool.execute.before"(call: { tool: string; sessionID: string }, output: { args: unknown }): Promise<void>;
}

/** Loads the plugin as OpenCode does, with this program as the guard. */
async function pluginWith(script: string | undefined): Promise<{ hooks: Hooks } & Disposable> {
  const dir = mkdtempSync(join(tmpdir(), "ov-opencode-"));
  const program = join(dir, "ov guard");
  if (script !== undefined) {
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
  }
  const file = join(dir, "guard.js");
  writeFileSync(file, guardPlugin({ program: [program], rules: "/w/rules", digest: "d1" }));
  const { OverstoryGuard } = await import(file);
  const hooks = await OverstoryGuard({ directory: "/w/tree" });
  return { hooks, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

const push = (hooks: Hooks): Promise<string> =>
  hooks["tool.execute.before"]({ tool: "bash", sessionID: "ses_1" }, { args: { command: "git push" } }).then(
    () => "allowed",
    (thrown: Error) => thrown.message,
  );

test("the plugin tells the guard the tool and its input, and throws the words of the guard", async () => {
  using denying = await pluginWith('cat >&2; echo " $*" >&2; exit 2');
  const said = await push(denying.hooks);
  expect(said).toContain("hook pre-tool --rules /w/rules --digest d1 --runtime opencode");
  expect(opencodeHooks.read(said.slice(0, said.lastIndexOf("}") + 1))).toMatchObject({
    tool: "bash",
    cwd: "/w/tree",
    sessionId: "ses_1",
    use: { kind: "execute", command: "git push" },
  });
});

test("only a guard that allows lets a tool run, and only the plugin allows tools at all", async () => {
  using allowing = await pluginWith("exit 0");
  expect(await push(allowing.hooks)).toBe("allowed");
  const config = { permission: { "*": "deny" } };
  await allowing.hooks.config(config);
  expect(config.permission).toEqual({ "*": "allow" });
  for (const script of [undefined, "kill -9 $$", "exit 1"]) {
    using failing = await pluginWith(script);
    expect(await push(failing.hooks)).toContain("not allowed");
  }
});

test("tools are known by what they do to files and in which directory", () => {
  expect(opencodeToolUse("write", { filePath: "a", content: "x" })).toEqual({
    kind: "edit",
    command: null,
    paths: ["a"],
    changes: true,
  });
  const patchText = "*** Begin Patch\n*** Delete File: gone.ts\n*** End Patch";
  expect(opencodeToolUse("apply_patch", { patchText })).toMatchObject({ kind: "edit", paths: ["gone.ts"] });
  expect(opencodeToolUse("bash", { command: "rm x", workdir: "/a b" }).command).toBe("cd '/a b' && rm x");
  const kinds = ["overstory_finish", "task", "whatever"].map((tool) => opencodeToolUse(tool, {}).kind);
  expect(kinds).toEqual(["own", "delegate", "other"]);
});

test("over ACP a use is read from all that was told of its call", () => {
  const call = { id: "t", title: "", kind: "other", paths: [], texts: [], changes: false } as const;
  const run = { command: "git push", workdir: "/w/elsewhere" };
  expect(opencodeAcpToolUse({ ...call, name: "bash", input: run })).toMatchObject({
    kind: "execute",
    command: "cd /w/elsewhere && git push",
  });
  expect(opencodeAcpToolUse({ ...call, name: "bash", input: { ...run, cwd: "/w/tree" } }).command).toBe(
    "cd /w/tree && git push",
  );
  const asked = { ...call, name: "write", input: { filepath: "/w/tree/.codex/x" }, paths: ["/w/tree/.codex/x"] };
  expect(opencodeAcpToolUse(asked)).toMatchObject({ kind: "edit", paths: ["/w/tree/.codex/x"] });
  expect(opencodeAcpToolUse({ ...call, name: "overstory_finish", input: {} }).kind).toBe("own");
});

test("over ACP the plugin tells each call of the model once, each retry, and what went wrong", async () => {
  const dir = mkdtempSync(join(tmpdir(), "ov-opencode-"));
  const script = `import { OverstoryTeller } from "./teller.js";
const { event } = await OverstoryTeller();
const tokens = { input: 100, output: 20, reasoning: 5, cache: { read: 30, write: 10 } };
const part = { id: "p1", type: "step-finish", sessionID: "s", tokens, cost: 0.5 };
for (const properties of [{ part }, { part }, { part: { ...part, id: "p2", type: "text" } }])
  await event({ event: { type: "message.part.updated", properties } });
await event({ event: { type: "session.error", properties: { sessionID: "s", error: { name: "APIError", data: { statusCode: 401, message: "no" } } } } });
await event({ event: { type: "session.status", properties: { sessionID: "s", status: { type: "retry", attempt: 1, message: "429", next: 0 } } } });
`;
  writeFileSync(join(dir, "teller.js"), tellingPlugin);
  writeFileSync(join(dir, "main.mjs"), script);
  try {
    const { stdout } = Bun.spawnSync({ cmd: [process.execPath, join(dir, "main.mjs")] });
    const lines = stdout.toString().split("\n").filter(Boolean);
    const [step, problem, retry, ...more] = lines.map((line) => toldByPlugin(JSON.parse(line)));
    expect(step).toMatchObject({
      costUsd: 0.5,
      events: [{ kind: "usage", messageId: "p1", input: 100, output: 25, cacheRead: 30, cacheWrite: 10 }],
    });
    expect(problem).toMatchObject({ problem: { cause: "login" } });
    expect(retry).toMatchObject({ events: [{ kind: "retry", attempt: 1 }] });
    expect(more).toEqual([]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
