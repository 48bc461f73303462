import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../src/domain/agent/agent.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { textIn, untilLaterTurn } from "../testkit/lifecycle.ts";
import { jsonOf } from "../testkit/ov.ts";
import { makeProject, type TestProject } from "../testkit/project.ts";
import { statePath } from "../testkit/state.ts";
import { storedAgent } from "../testkit/use-case.ts";
import { typed } from "../testkit/worktrees-world.ts";

/** Asks its parent and waits. */
const asking = `
- do:
    - ov: [mail, send, --to, operator, --type, question, --subject, which, --body, "which one?"]
`;

/** Does not obey, and has a child in a session of its own. */
const stubborn = `
- do:
    - child: { command: "sleep 600", newSession: true }
    - ignoreSigterm: true
    - touch: "\${env.HOME}/ready"
    - hang: true
`;

const obedient = `
- do:
    - touch: "\${env.HOME}/ready"
    - hang: true
`;

/** Goes on as well, and what it started says when it was given time: nearly as much as a stop gives without force. */
const slowToGo = `
- do:
    - child:
        command: trap 'sleep 1.5; touch "$HOME/had-time"' TERM; touch "$HOME/waits"; while :; do sleep 0.1; done
    - ignoreSigterm: true
    - waitFor: { file: "\${env.HOME}/waits" }
    - touch: "\${env.HOME}/ready"
    - hang: true
`;

async function slung(scenario: string, name = "b1"): Promise<TestProject> {
  const project = await makeProject({ scenario });
  await project.json("task", "create", "Do it", "--id", "T1");
  await project.json("sling", "T1", "--name", name);
  return project;
}

const inState = (project: TestProject, name: string, state: Agent["state"]): Promise<void> =>
  project.until(`${name} was ${state}`, async () => (await project.agent(name)).state === state);

/** It has come to the step where it hangs. */
const hanging = (project: TestProject): Promise<void> =>
  project.until("it hung", async () => existsSync(join(project.home, "ready")));

/** Notices that this agent was stopped. No stop is told as a death. */
const stopsTold = (project: TestProject, name: string) =>
  project.read(async (tx) => {
    const deaths = await tx.messages.list({ type: "worker_died" });
    expect(deaths.filter(({ fromAgent }) => fromAgent === name)).toEqual([]);
    const told = (await tx.messages.list({ type: "status" })).filter(({ fromAgent }) => fromAgent === name);
    // Without copies: a notice whose reader ended goes up the line, and is one notice all the same.
    return told.filter(({ subject, replyTo }) => subject === `[ENGINE] stopped: ${name}` && replyTo === null);
  });

/** Ended for good. Its parent is told, once, unless it was the parent that stopped it. */
async function expectStopped(project: TestProject, name: string): Promise<void> {
  const agent = await project.agent(name);
  expect(agent).toMatchObject({ state: "completed", outcome: "stopped" });
  const notices = (await stopsTold(project, name)).map(({ address }) => address);
  expect(notices).toEqual(agent.stopRequestedBy === agent.parentName ? [] : [agent.parentName]);
  await project.until("every process had ended", async () => project.processes().length === 0);
  const { running, queued, alive } = await project.read(async (tx) => {
    const agent = await tx.agents.byName(name);
    return {
      running: await tx.turns.running(),
      queued: await tx.turns.queuedFor(agent?.id ?? ""),
      alive: await tx.processes.liveForAgent(agent?.id ?? ""),
    };
  });
  expect({ running, queued, alive }).toEqual({ running: [], queued: undefined, alive: [] });
}

describe("ov stop", () => {
  test("ends an agent that waits, sends its parent no alarm about what it did itself, and may be repeated", async () => {
    await using project = await slung(asking);
    await inState(project, "b1", "between_turns");
    expect(await project.json("stop", "b1")).toMatchObject({
      stopped: true,
      agentName: "b1",
      capability: "builder",
      tmuxKilled: false,
      pidKilled: false,
      killed: [],
      worktreeRemoved: false,
      branchDeleted: false,
      force: false,
      wasZombie: false,
      wasCompleted: false,
      alreadyEnded: false,
      children: [],
    });
    await expectStopped(project, "b1");
    const again = await project.json("stop", "b1");
    expect(again).toMatchObject({ stopped: true, alreadyEnded: true, wasCompleted: true });
    expect((await project.ov("stop", "b1")).out).toBe("b1 had ended already\n");
    await expectStopped(project, "b1");
  });

  test("ends a running agent and its child in another session, and says that it had to kill", async () => {
    await using project = await slung(stubborn);
    await hanging(project);
    const { id } = await project.agent("b1");
    const [agent] = (await project.read((tx) => tx.processes.liveForAgent(id))).filter(({ role }) => role === "agent");
    const report = await project.json("stop", "b1");
    expect(report).toMatchObject({ stopped: true, pidKilled: true, survivors: [] });
    expect(report.killed).toEqual(
      expect.arrayContaining([
        { pid: agent?.pid ?? 0, role: "agent", escalated: true },
        { pid: childPid(project, "b1"), role: "descendant", escalated: false },
      ]),
    );
    await expectStopped(project, "b1");
  });

  test("gives an agent time to leave by itself, and none with --force", async () => {
    await using project = await slung(obedient);
    await hanging(project);
    const report = await project.json("stop", "b1");
    expect(report.killed).toMatchObject([{ role: "agent", escalated: false }]);
    await expectStopped(project, "b1");
    await using hasty = await slung(slowToGo, "b2");
    await hanging(hasty);
    expect(await hasty.json("stop", "b2", "--force")).toMatchObject({ stopped: true, force: true });
    expect(existsSync(join(hasty.home, "had-time"))).toBe(false);
    await expectStopped(hasty, "b2");
  }, 120_000);

  test("ends an agent that has no worktree yet, and nothing is ever started for it", async () => {
    await using project = await makeProject({ scenario: obedient });
    await project.json("task", "create", "Do it", "--id", "T1");
    // The command dies before it wakes anybody, so nobody works on the seat.
    await project.ovWith({ env: { OVERSTORY_TEST_KILL_AT: "command.before-wake" } }, "sling", "T1", "--name", "b1");
    expect(await project.agent("b1")).toMatchObject({ state: "booting", worktreePath: null });
    expect(await project.json("stop", "b1")).toMatchObject({ stopped: true, pidKilled: false });
    await expectStopped(project, "b1");
    expect(readdirSync(project.state)).toEqual([]);
  });

  test("between the claim of a turn and its start, no process of the agent ever runs", async () => {
    await using project = await makeProject({ scenario: obedient });
    await project.json("task", "create", "Do it", "--id", "T1");
    const kill = { OVERSTORY_TEST_KILL_AT: "dispatch.after-claim", OVERSTORY_TEST_KILL_WHO: "keeper,self" };
    await project.ovWith({ env: kill }, "sling", "T1", "--name", "b1");
    await project.until("nobody was left", async () => {
      return (await project.read((tx) => tx.turns.running())).length === 1 && project.processes().length === 0;
    });
    expect(await project.json("stop", "b1")).toMatchObject({ stopped: true, pidKilled: false });
    await expectStopped(project, "b1");
    expect(readdirSync(project.state)).toEqual([]);
  });

  test("lays a zombie to rest", async () => {
    await using project = await slung(asking);
    await inState(project, "b1", "between_turns");
    const { runId } = await project.agent("b1");
    const store = openSqlite({ path: statePath(project.root, "overstory.db"), life: "process" });
    await store.transaction((tx) =>
      tx.agents.reserve(storedAgent("z1", { runId, state: "zombie", outcome: "crashed", endedAt: 1 })),
    );
    await store.close();
    expect(await project.json("stop", "z1")).toMatchObject({ stopped: true, wasZombie: true, alreadyEnded: false });
    expect(await project.agent("z1")).toMatchObject({ state: "completed", outcome: "crashed" });
    expect(await project.json("stop", "z1")).toMatchObject({ alreadyEnded: true });
    expect(await stopsTold(project, "z1")).toEqual([]);
  });

  test("an unknown name is not found, with the nearest one", async () => {
    await using project = await slung(asking);
    const answer = await project.ov("stop", "b2", "--json");
    expect(answer.code).toBe(7);
    expect(jsonOf(answer)).toMatchObject({ success: false, hint: 'did you mean "b1"?' });
  });
});

describe("a lead and its builder", () => {
  const team = `
- when: { capability: lead }
  do:
    - ov: [sling, T2, --name, b1]
    - hang: true
- when: { capability: builder }
  do:
    - ov: [stop, lead1]
      expect: 8
    - hang: true
`;

  test("the builder may not stop the lead; stopping the lead warns of the builder; --tree ends both", async () => {
    await using project = await makeProject({ scenario: team });
    await project.json("task", "create", "Lead it", "--id", "T1");
    await project.json("task", "create", "Build it", "--id", "T2");
    await project.json("sling", "T1", "--name", "lead1", "--capability", "lead");
    await project.until("both were at work", async () => {
      const builder = await project.read((tx) => tx.agents.byName("b1"));
      return builder?.state === "in_turn" && (await project.agent("lead1")).state === "in_turn";
    });
    await project.until("the builder was refused", async () => {
      return (await project.read((tx) => tx.audit.list(9))).some(({ caller }) => caller === "b1");
    });
    const stopped = await project.json("stop", "lead1", "--tree");
    expect(stopped).toMatchObject({ agentName: "lead1", stopped: true, liveChildren: [] });
    expect(stopped.children).toMatchObject([{ agentName: "b1", stopped: true }]);
    await expectStopped(project, "b1");
    await expectStopped(project, "lead1");
  });

  test("a lead stops its own builder from inside its turn", async () => {
    await using project = await makeProject({
      scenario: `
- when: { capability: lead }
  do:
    - ov: [sling, T2, --name, b1]
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [stop, b1]
    - ov: [done, --no-code, --reason, nothing to build, --summary, done]
- when: { capability: builder }
  do:
    - say: building
    - hang: true
`,
    });
    await project.json("task", "create", "Lead it", "--id", "T1");
    await project.json("task", "create", "Build it", "--id", "T2");
    await project.json("sling", "T1", "--name", "lead1", "--capability", "lead");
    await project.until("the builder was at work", async () => {
      return (await project.read((tx) => tx.agents.byName("b1")))?.state === "in_turn";
    });
    await Bun.write(join(project.home, "go"), "");
    await inState(project, "lead1", "completed");
    expect(await project.agent("lead1")).toMatchObject({ outcome: "done" });
    await expectStopped(project, "b1");
  });
});

describe("a paused agent", () => {
  test("starts no turn until it is resumed", async () => {
    await using project = await slung(asking);
    await inState(project, "b1", "between_turns");
    await project.settled();
    await project.json("pause", "b1");
    await project.json("nudge", "b1", "go", "on");
    await untilLaterTurn(project);
    const { id } = await project.agent("b1");
    const turns = async (): Promise<number> =>
      (await project.read((tx) => tx.turns.listFor(id))).filter((turn) => turn.startedAt !== null).length;
    expect(await turns()).toBe(1);
    expect(await project.json("resume", "b1")).toMatchObject({ resumed: ["b1"], queued: ["b1"] });
    await project.until("the next turn had started", async () => (await turns()) === 2);
  });
});

/** The pid of the background command that the scripted agent wrote into its diary. */
function childPid(project: TestProject, name: string): number {
  const [line = "{}"] = readFileSync(join(project.state, name, "children.ndjson"), "utf8").split("\n");
  return JSON.parse(line).pid;
}

/** Commits, leaves a file uncommitted, and asks. */
const half = `
- do:
    - edit: { file: work.txt, write: "work\\n" }
    - commit: work
    - edit: { file: notes.txt, write: "notes\\n" }
    - ov: [mail, send, --to, operator, --type, question, --subject, which, --body, "which one?"]
`;

describe("ov stop --clean-worktree", () => {
  const worktree = (project: TestProject): string => join(project.root, ".overstory/worktrees/b1");

  test("takes away a worktree with which nothing is lost, and its branch", async () => {
    await using project = await slung(asking);
    await inState(project, "b1", "between_turns");
    expect(await project.json("stop", "b1", "--clean-worktree")).toMatchObject({
      stopped: true,
      worktreeRemoved: true,
      branchDeleted: true,
      worktreeKept: null,
      rescue: null,
    });
    expect(existsSync(worktree(project))).toBe(false);
    expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "stopped" });
    expect((await project.agent("b1")).releasedAt).not.toBeNull();
  });

  test("keeps one that holds work, and says why and what to type", async () => {
    await using project = await slung(half);
    await inState(project, "b1", "between_turns");
    const answer = await project.ov("stop", "b1", "--clean-worktree");
    expect(answer.code).toBe(0);
    expect(answer.out).toContain("stays: it holds uncommitted work");
    expect(answer.out).toContain("ov worktree clean --force");
    expect(existsSync(join(worktree(project), "notes.txt"))).toBe(true);
    expect(await project.agent("b1")).toMatchObject({ state: "completed", releasedAt: null });
    expect(await project.json("stop", "b1", "--clean-worktree")).toMatchObject({
      alreadyEnded: true,
      worktreeRemoved: false,
      worktreeKept: "it holds uncommitted work",
    });
  });

  test("with --force takes it all the same, after commits and files were saved under a ref that brings them back", async () => {
    await using project = await slung(half);
    await inState(project, "b1", "between_turns");
    const answer = await project.json("stop", "b1", "--clean-worktree", "--force");
    expect(answer).toMatchObject({ worktreeRemoved: true, rescue: { ref: "refs/overstory/rescue/b1-1" } });
    expect(existsSync(worktree(project))).toBe(false);
    const { restore } = answer.rescue as { restore: string };
    expect(typed(project, restore)).toMatchObject({ code: 0 });
    const back = `${project.root}-b1-rescued`;
    expect(readFileSync(join(back, "work.txt"), "utf8")).toBe("work\n");
    expect(readFileSync(join(back, "notes.txt"), "utf8")).toBe("notes\n");
  });

  test("is refused to an agent before anybody is stopped", async () => {
    await using project = await makeProject({
      scenario: `
- when: { agent: l, turn: 1 }
  do:
    - ov: [sling, T1, --name, b1]
    - shell: ov stop b1 --clean-worktree; echo $? > "$HOME/refused"
- do: [{ ov: [mail, send, --to, operator, --type, question, --subject, which, --body, "which one?"] }]
`,
    });
    for (const id of ["T1", "L"]) await project.json("task", "create", "Do it", "--id", id);
    await project.json("sling", "L", "--name", "l", "--capability", "lead");
    expect(await textIn(project, "refused")).toBe("8\n");
    expect((await project.agent("b1")).stopRequestedBy).toBeNull();
  });
});

test("ov stop --all ends everybody, and refuses a name beside it", async () => {
  await using project = await slung(asking);
  await project.json("sling", "More", "--name", "c1", "--skip-task-check");
  await inState(project, "b1", "between_turns");
  const both = await project.ov("stop", "b1", "--all", "--json");
  expect(both.code).toBe(2);
  const { agents } = await project.json("stop", "--all");
  expect(agents).toMatchObject([{ stopped: true }, { stopped: true }]);
  for (const name of ["b1", "c1"]) expect(await project.agent(name)).toMatchObject({ outcome: "stopped" });
  // A stopped agent reads no answer, so status does not ask for one.
  expect((await project.ov("status", "--all")).out).not.toContain("waits for an answer");
});

describe("ov stop while a file of the configuration is broken", () => {
  for (const engine of ["an engine", "no engine"] as const) {
    test(`stops the agent with the last known copy and ${engine}, and names the file`, async () => {
      await using project = await slung(obedient);
      await hanging(project);
      if (engine === "no engine") await project.json("engine", "stop");
      const local = join(project.root, ".overstory", "config.local.yaml");
      writeFileSync(local, "agents:\n  maxDepth: [\n");
      const broken = expect.stringContaining(`${local} cannot be used`);
      for (const words of [["status"], ["inbox"], ["merge", "list"], ["engine", "status"], ["pause", "b1"]])
        expect(await project.ov(...words)).toMatchObject({ code: 0, err: broken });
      const refused = await project.ovWith({}, "sling", "T1", "--name", "b2", "--json");
      expect(refused.code).toBe(3);
      expect(jsonOf(refused)).toMatchObject({ code: "CONFIG_ERROR", details: { configPath: local } });
      expect(await project.ov("stop", "b1")).toMatchObject({ code: 0, err: broken });
      expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "stopped" });
    });
  }
});
