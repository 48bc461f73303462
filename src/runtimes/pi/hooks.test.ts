import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guardExtension, piHooks } from "./hooks.ts";

type Blocked = { readonly block: boolean; readonly reason: string } | undefined;
type Judge = (event: { readonly toolName: string; readonly input: unknown }) => Promise<Blocked>;

/** Loads the extension as Pi does, with this program as the guard. */
async function extensionWith(script: string | undefined): Promise<{ judge: Judge } & Disposable> {
  const dir = mkdtempSync(join(tmpdir(), "ov-pi-"));
  const program = join(dir, "ov guard");
  if (script !== undefined) {
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
  }
  const file = join(dir, "guard.ts");
  writeFileSync(file, guardExtension({ program: [program], rules: "/w/rules", digest: "d1" }));
  const judges: Judge[] = [];
  const { default: load } = await import(file);
  load({ on: (name: string, judge: Judge) => name === "tool_call" && judges.push(judge) });
  const [judge] = judges;
  if (judge === undefined) throw new Error("the extension asks nobody");
  return { judge, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

const push = { toolName: "bash", input: { command: "git push" } };

test("the extension tells the guard the tool and its input, and blocks with the words of the guard", async () => {
  using denying = await extensionWith('cat >&2; echo " $*" >&2; exit 2');
  const { block, reason = "" } = (await denying.judge(push)) ?? {};
  expect(block).toBe(true);
  expect(reason).toContain("hook pre-tool --rules /w/rules --digest d1 --runtime pi");
  const told = piHooks.read(reason.slice(0, reason.lastIndexOf("}") + 1));
  expect(told).toMatchObject({ tool: "bash", cwd: process.cwd(), use: { kind: "execute", command: "git push" } });
});

test("a guard that allows lets the tool run; one that is missing, killed or silent blocks it", async () => {
  using allowing = await extensionWith("exit 0");
  expect(await allowing.judge(push)).toBeUndefined();
  for (const script of [undefined, "kill -9 $$", "exit 1"]) {
    using failing = await extensionWith(script);
    expect(await failing.judge(push)).toMatchObject({ block: true, reason: expect.stringContaining("not allowed") });
  }
});
