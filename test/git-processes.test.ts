import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../testkit/project.ts";

/** Runs a command and returns the lines with which it called git. The engine keeps the git that it was started with. */
async function gitCalls(project: TestProject, cwd: string, args: readonly string[]): Promise<readonly string[]> {
  const bin = join(project.home, "bin");
  const diary = join(project.home, "diary");
  mkdirSync(bin);
  writeFileSync(join(bin, "git"), `#!/bin/sh\necho "$*" >>'${diary}'\nexec '${Bun.which("git")}' "$@"\n`);
  chmodSync(join(bin, "git"), 0o755);
  const { code, err } = await project.ovWith({ cwd, env: { PATH: `${bin}:${project.env.PATH}` } }, ...args);
  expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
  return existsSync(diary) ? readFileSync(diary, "utf8").trimEnd().split("\n") : [];
}

const sling = ["sling", "t1", "--name", "t1", "--skip-task-check"];

test.each([
  ["ov sling", ".", sling],
  ["ov sling in a subdirectory", "below", sling],
  ["ov sling in a linked worktree", "../linked", sling],
  ["ov mail send", ".", ["mail", "send", "--to", "operator", "--subject", "s", "--body", "b"]],
  ["ov merge add", ".", ["merge", "add", "work"]],
  ["ov status", ".", ["status"]],
])("%s starts no git process while an engine runs", async (_, place, args) => {
  await using project = await makeProject({ env: { OVERSTORY__ENGINE__IDLE_EXIT_MS: "60000" } });
  mkdirSync(join(project.root, "below"));
  await project.git("branch", "work");
  await project.git("worktree", "add", "--quiet", "-b", "beside", "../linked");
  await project.json("task", "create", "Anything");
  await project.json("engine", "start");
  expect(await gitCalls(project, join(project.root, place), args)).toEqual([]);
});
