import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

/** What every machine has that can run a shell and git. Node stands for an agent's own program. */
const tools = [
  ...[
    "git",
    "sh",
    "node",
    "cat",
    "cp",
    "date",
    "echo",
    "env",
    "false",
    "ls",
    "mkdir",
    "mv",
    "printf",
    "rm",
    "rmdir",
    "sleep",
  ],
  ...["sort", "test", "touch", "tr", "true", "uname", "wc"],
];

const scenario = `
- do:
    - shell: node -e 'require("node:fs").writeFileSync("hello.txt", "hello\\n")'
    - commit: say hello
    - ov: [done, --summary, It says hello]
`;

/** A directory with these programs and no other. */
function onlyThese(names: readonly string[]): Disposable & { readonly dir: string } {
  const dir = mkdtempSync(join(tmpdir(), "ov-bin-"));
  for (const name of names) {
    const found = Bun.which(name);
    if (found === null) throw new Error(`this machine has no ${name}`);
    symlinkSync(found, join(dir, name));
  }
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

test("a machine with git and an agent's program needs nothing more from init to a landed branch", async () => {
  using bin = onlyThese(tools);
  await using project = await makeProject({ bare: true, scenario, env: { PATH: bin.dir } });
  await project.json("init", "--yes");
  expect(await project.git("status", "--porcelain")).toBe("");
  await project.json("config", "set", "runtime.default", "scripted");
  await project.json("config", "set", "engine.idleExitMs", "300");
  await project.json("config", "set", "project.qualityGates", '[{"name":"there","command":"test ! -e broken"}]');
  await project.json("task", "create", "Say hello", "--id", "T1");
  expect((await project.json("task", "ready")).tasks).toMatchObject([{ id: "T1" }]);
  await project.json("sling", "T1", "--name", "b1", "--files", "hello.txt");
  await untilAgent(project, "b1", "completed/done");
  const merged = await project.json("merge", "--branch", "overstory/b1/T1");
  expect(merged).toMatchObject({ success: true, entry: { status: "merged", verdict: "verified" } });
  expect(await project.json("task", "show", "T1")).toMatchObject({ task: { status: "closed" } });
  await project.json("merge", "promote");
  expect(await project.git("show", "main:hello.txt")).toBe("hello\n");
  await project.until("every process had ended", async () => project.processes().length === 0);
}, 120_000);
