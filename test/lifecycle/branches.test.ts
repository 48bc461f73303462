import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

const asks = `
- when: { turn: 1 }
  do: [{ ov: [mail, send, --to, operator, --type, question, --subject, Q, --body, and now] }]
- do: [{ ov: [done, --no-code, --summary, well] }]
`;

/** A project whose branch `develop` knows nothing of it, with a setting of its own and an agent that waits. */
async function withOtherBranch(): Promise<TestProject> {
  const project = await makeProject({ bare: true, scenario: asks });
  await project.git("branch", "develop");
  await project.json("init", "--no-instructions");
  await project.json("config", "set", "runtime.default", "scripted");
  await project.json("config", "set", "agents.maxDepth", "1");
  await project.json("config", "set", "agents.maxConcurrent", "3", "--local");
  await project.git("commit", "--quiet", "-am", "settings");
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "between_turns");
  await project.settled();
  return project;
}

describe("a branch that knows nothing of the project", () => {
  test("hides nothing, names the settings that count, and git clean -ffdx takes nothing but worktrees", async () => {
    await using project = await withOtherBranch();
    await project.git("checkout", "--quiet", "develop");
    expect(existsSync(join(project.root, ".overstory", "config.yaml"))).toBe(false);
    expect(await project.git("status", "--porcelain")).toBe("");
    const status = await project.json("status");
    expect(status).toMatchObject({ agents: [expect.objectContaining({ state: "between_turns" })] });
    expect(status.notices).toEqual([
      expect.stringContaining(`has no ${join(project.root, ".overstory/config.yaml")}; its last known copy counts`),
    ]);
    expect((await project.ov("status")).err).toContain("its last known copy counts");
    expect(await project.json("config", "get", "agents.maxDepth")).toMatchObject({ value: 1 });
    await project.git("clean", "-ffdxq");
    expect(await project.json("task", "list")).toMatchObject({ tasks: [expect.objectContaining({ id: "B1" })] });
    const after = await project.ov("status");
    expect(after).toMatchObject({ code: 0, err: expect.stringContaining("config.local.yaml is gone") });
    expect(await project.json("config", "get", "agents.maxConcurrent")).toMatchObject({ value: 3 });
    await project.git("checkout", "--quiet", "main");
    expect((await project.json("status")).notices).toEqual([expect.stringContaining("config.local.yaml is gone")]);
  });

  test("may be set up with the same settings, and the way back stays open", async () => {
    await using project = await withOtherBranch();
    await project.git("checkout", "--quiet", "develop");
    const made = await project.json("init", "--no-instructions");
    expect(made).toMatchObject({ committed: true, runtime: "scripted" });
    expect((await project.json("status")).notices).toBeUndefined();
    await project.git("checkout", "--quiet", "main");
    expect(await project.git("status", "--porcelain")).toBe("");
    await project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", "A", "--body", "go on");
    await untilAgent(project, "b1", "completed/done");
  });

  test("is edited from the settings that count, not from nothing", async () => {
    await using project = await withOtherBranch();
    await project.git("checkout", "--quiet", "develop");
    await project.json("config", "set", "agents.maxSessionsPerRun", "7");
    expect(await project.json("config", "get", "agents.maxDepth")).toMatchObject({ value: 1 });
    expect(await project.json("config", "get", "agents.maxSessionsPerRun")).toMatchObject({ value: 7 });
  });
});

describe("the project is found", () => {
  test("from a linked worktree, a subdirectory and its git directory, whatever GIT_DIR says", async () => {
    await using project = await withOtherBranch();
    const linked = join(project.root, "..", "linked");
    await project.git("worktree", "add", "--quiet", linked, "develop");
    mkdirSync(join(linked, "deep", "down"), { recursive: true });
    const env = { GIT_DIR: "/nowhere", GIT_WORK_TREE: "/nowhere" };
    for (const cwd of [linked, join(linked, "deep", "down"), join(project.root, ".git"), statePath(project.root)]) {
      const answer = await project.ovWith({ cwd, env }, "task", "list", "--json");
      expect({ cwd, ...jsonOf(answer) }).toMatchObject({ cwd, tasks: [expect.objectContaining({ id: "B1" })] });
    }
  });

  test("in a bare repository with worktrees, and another worktree becomes the root when the first is removed", async () => {
    await using project = await makeProject({ bare: true, scenario: asks });
    const base = join(project.root, "..", "layout");
    mkdirSync(base);
    renameSync(join(project.root, ".git"), join(base, ".bare"));
    writeFileSync(join(base, ".git"), "gitdir: ./.bare\n");
    const git = (cwd: string, ...args: string[]) => {
      const { exitCode, stderr } = Bun.spawnSync({ cmd: ["git", ...args], cwd, env: { ...project.env } });
      expect({ args, exitCode, said: stderr.toString() }).toMatchObject({ exitCode: 0 });
    };
    git(base, "config", "core.bare", "true");
    git(base, "worktree", "add", "--quiet", "main", "main");
    const inside = (cwd: string, ...args: string[]) => project.ovWith({ cwd }, ...args, "--json");
    const refused = await inside(base, "init");
    expect(jsonOf(refused)).toMatchObject({
      exitCode: 3,
      hint: expect.stringContaining(`cd ${join(base, "main")} && ov init`),
    });
    const main = join(base, "main");
    expect(jsonOf(await inside(main, "init", "--no-instructions"))).toMatchObject({ root: main, success: true });
    expect(jsonOf(await inside(main, "task", "create", "One", "--id", "T1"))).toMatchObject({ success: true });
    git(main, "worktree", "add", "--quiet", "-b", "other", "../other");
    const other = join(base, "other");
    expect(jsonOf(await inside(other, "task", "list"))).toMatchObject({ tasks: [{ id: "T1" }] });
    git(other, "worktree", "remove", "--force", main);
    expect(jsonOf(await inside(other, "task", "list"))).toMatchObject({ tasks: [{ id: "T1" }] });
    expect(jsonOf(await inside(other, "init", "--no-instructions"))).toMatchObject({ root: other });
    expect(existsSync(join(base, ".bare", "ov-state", "overstory.db"))).toBe(true);
    rmSync(base, { recursive: true });
  });
});
