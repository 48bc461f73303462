import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { gitWorktrees } from "./worktrees.ts";

let project: TestProject;
beforeEach(async () => {
  project = await makeProject();
});
afterEach(() => project[Symbol.asyncDispose]());

const place = (): string => join(project.root, ".overstory", "worktrees", "a1");
const create = () =>
  gitWorktrees(project.root).create({
    agentName: "a1",
    branch: "overstory/a1/T1",
    path: place(),
    kind: "linked",
    baseRef: "main",
  });

test("a worktree whose preparer was killed is made, though its git is still half-way through", async () => {
  mkdirSync(place(), { recursive: true });
  writeFileSync(join(place(), ".git"), "gitdir: not there yet\n");
  const dead = Bun.spawnSync(["true"]).pid;
  const making = create();
  await Bun.sleep(100);
  const flags = [
    "--force",
    "--no-checkout",
    "--quiet",
    "--lock",
    "--reason",
    `overstory is preparing it (process ${dead})`,
  ];
  // Nothing else of this process goes on meanwhile, however long it takes: its moment of patience begins afterwards.
  const git = (...args: string[]): number | null =>
    Bun.spawnSync({ cmd: ["git", ...args], cwd: project.root, env: { ...project.env } }).exitCode;
  expect(git("clean", "--force", "--force", "-d", "-x", "--quiet", dirname(place()))).toBe(0);
  expect(git("worktree", "add", ...flags, "-b", "overstory/a1/T1", place())).toBe(0);
  expect(await making).toMatchObject({ ok: true, value: { path: place(), branch: "overstory/a1/T1" } });
  expect(await project.git("-C", place(), "status", "--porcelain")).toBe("");
});

test("a directory that is somebody else's is left alone", async () => {
  mkdirSync(place(), { recursive: true });
  writeFileSync(join(place(), "precious.txt"), "mine\n");
  expect(await create()).toMatchObject({ ok: false, refusal: { kind: "worktree-failed" } });
  expect(await Bun.file(join(place(), "precious.txt")).text()).toBe("mine\n");
});
