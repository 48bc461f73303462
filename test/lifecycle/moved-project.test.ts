import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { linuxProcesses } from "../../src/host/processes.ts";
import { letGo, slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

const asks = `
- when: { turn: 1 }
  do:
    - edit: { file: work.txt, write: "half\\n" }
    - commit: half
    - ov: [mail, send, --to, operator, --type, question, --subject, Q, --body, and now]
- do:
    - edit: { file: work.txt, write: "whole\\n" }
    - commit: whole
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, "Done: B1", --body, it is whole]
`;

/** A builder that asked something waits; the engine stays. */
async function waiting(): Promise<TestProject> {
  const project = await makeProject({ scenario: asks, env: { OVERSTORY__ENGINE__IDLE_EXIT_MS: "600000" } });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "between_turns");
  await project.settled();
  return project;
}

const engineOf = (root: string): { pid: number; startToken: string; bootId: string } =>
  JSON.parse(readFileSync(statePath(root, "run", "engine.json"), "utf8"));

describe("a project that was moved", () => {
  test("is served where it is now: the old engine is replaced, and agents go on in their worktrees", async () => {
    await using project = await waiting();
    const engine = engineOf(project.root);
    const there = join(project.root, "..", "elsewhere");
    renameSync(project.root, there);
    const ov = (...args: string[]) => project.ovWith({ cwd: there }, ...args);
    const asked = await ov(
      "mail",
      "send",
      "--to",
      "b1",
      "--type",
      "question",
      "--subject",
      "A",
      "--body",
      "go on",
      "--json",
    );
    expect(jsonOf(asked)).toMatchObject({ success: true });
    await project.until("b1 is done", async () => {
      const { agents } = jsonOf(await ov("status", "--json")) as { agents: { agentName?: string; state: string }[] };
      return agents.length > 0 && agents.every(({ state }) => state === "completed");
    });
    expect(linuxProcesses.check(engine)).toBe("gone");
    const worktree = join(there, ".overstory", "worktrees", "b1");
    expect(readFileSync(join(worktree, "work.txt"), "utf8")).toBe("whole\n");
    const log = Bun.spawnSync({ cmd: ["git", "log", "--format=%s", "-2"], cwd: worktree, env: { ...project.env } });
    expect(log.stdout.toString()).toBe("whole\nhalf\n");
    const merged = await ov("merge", "--branch", "overstory/b1/B1", "--json");
    expect(jsonOf(merged)).toMatchObject({ success: true });
    await ov("engine", "stop");
  });

  test("can be moved back and forth", async () => {
    await using project = await waiting();
    const there = join(project.root, "..", "elsewhere");
    for (const [from, to] of [
      [project.root, there],
      [there, project.root],
    ] as const) {
      renameSync(from, to);
      expect(jsonOf(await project.ovWith({ cwd: to }, "status", "--json"))).toMatchObject({ success: true });
    }
    await project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", "A", "--body", "go on");
    await untilAgent(project, "b1", "completed/done");
  });
});

describe("a project that was removed", () => {
  test("takes its engine with it, which writes nothing any more", async () => {
    await using project = await waiting();
    const engine = engineOf(project.root);
    const state = statePath(project.root);
    expect(Bun.spawnSync(["rm", "-rf", state]).exitCode).toBe(0);
    await project.until("the engine left", async () => linuxProcesses.check(engine) === "gone");
    expect(existsSync(state) ? readdirSync(state, { recursive: true }) : []).toEqual([]);
  });

  test("takes the agents of running turns with it", async () => {
    await using project = await makeProject({
      scenario: `- do: [{ say: begun }, { waitFor: { file: "\${env.HOME}/never" } }]\n`,
      env: { OVERSTORY_TEST_LEASE_MS: "600" },
    });
    await slingNew(project, "B1");
    await untilAgent(project, "b1", "in_turn", "working", "running");
    expect(Bun.spawnSync(["rm", "-rf", project.root]).exitCode).toBe(0);
    await project.until("nobody was left", async () => project.processes().length === 0);
    await letGo(project, "never");
  });
});

describe("a copied project", () => {
  test("is still a copy when its original was moved and the turn has ended there", async () => {
    await using project = await makeProject({
      scenario: `- do: [{ say: begun }, { waitFor: { file: "\${env.HOME}/never" } }]\n`,
    });
    await slingNew(project, "B1");
    await untilAgent(project, "b1", "in_turn", "working", "running");
    const [copy, moved] = [join(project.root, "..", "copy"), join(project.root, "..", "moved")];
    expect(Bun.spawnSync(["cp", "-a", project.root, copy]).exitCode).toBe(0);
    renameSync(project.root, moved);
    const inMoved = async (...args: string[]) => jsonOf(await project.ovWith({ cwd: moved }, ...args, "--json"));
    expect(await inMoved("stop", "b1")).toMatchObject({ success: true });
    const ended = await project.ovWith({ cwd: copy }, "status", "--json");
    expect(jsonOf(ended)).toMatchObject({ exitCode: 3, details: { kind: "project-copied" } });
    await inMoved("engine", "stop");
    renameSync(moved, project.root);
  });

  test("says so, and leaves the original alone", async () => {
    await using project = await waiting();
    const engine = engineOf(project.root);
    const copy = join(project.root, "..", "copy");
    expect(Bun.spawnSync(["cp", "-a", project.root, copy]).exitCode).toBe(0);
    const inCopy = (...args: string[]) => project.ovWith({ cwd: copy }, ...args, "--json");
    for (const args of [["status"], ["clean", "--all", "--yes"], ["stop", "b1"], ["engine", "stop"]]) {
      const answer = await inCopy(...args);
      expect({ args, exit: answer.code, ...jsonOf(answer) }).toMatchObject({
        args,
        exit: 3,
        details: { kind: "project-copied", original: project.root },
      });
    }
    const adopted = jsonOf(await inCopy("init"));
    expect(adopted.warnings).toContainEqual(expect.stringContaining("and its agent was stopped"));
    expect(jsonOf(await inCopy("clean", "--all", "--yes"))).toMatchObject({ success: true });
    expect(linuxProcesses.check(engine)).toBe("alive");
    const worktree = join(project.root, ".overstory", "worktrees", "b1");
    expect(readdirSync(worktree)).toContain("work.txt");
    expect((await project.agent("b1")).state).toBe("between_turns");
    await project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", "A", "--body", "go on");
    await untilAgent(project, "b1", "completed/done");
    await project.ovWith({ cwd: copy }, "engine", "stop");
  });
});
