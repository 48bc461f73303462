import { describe, expect, test } from "bun:test";
import { anEntry } from "../../../testkit/contracts/store/merges.ts";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import type { Agent } from "../../domain/agent/agent.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Task } from "../../domain/task/task.ts";
import { mergeCounts } from "../merge/queue/queue-state.ts";
import { addCriteriaToRun } from "../runs/criteria.ts";
import { createTask } from "./change-tasks.ts";
import { recordDrop } from "./drop-task.ts";

/**
 * A coordinator with two leads. Lead l1 (task L1) has the builders b1 (task B1, in a turn) and b2 (task B2, between turns).
 * Lead l2 has task L2. N waits for L1, and M waits for N.
 */
async function withTeam(world: UseCaseWorld, facts: Readonly<Record<string, Partial<Agent>>> = {}): Promise<void> {
  const run: Run = { ...activeRun("run-1", 0), objective: "CSV and JSON", coordinatorName: "head", checklist: true };
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(run);
    const seat = (name: string, own: Partial<Agent>) =>
      tx.agents.reserve(storedAgent(name, { worktreePath: `/w/${name}`, ...own, ...facts[name] }));
    await seat("head", { capability: "coordinator", depth: 0, worktreePath: null });
    await seat("l1", { capability: "lead", parentName: "head", taskId: "L1" });
    await seat("l2", { capability: "lead", parentName: "head", taskId: "L2" });
    await seat("b1", { parentName: "l1", depth: 2, taskId: "B1", branch: "overstory/b1/B1", ahead: 2, dirty: true });
    await seat("b2", { parentName: "l1", depth: 2, taskId: "B2", branch: "overstory/b2/B2" });
    for (const [parent, child] of [
      ["head", "l1"],
      ["head", "l2"],
      ["l1", "b1"],
      ["l1", "b2"],
    ] as const) {
      await tx.waits.add({ agentName: parent, kind: "child", ref: child, since: 0, deadline: null });
    }
    const turn = { id: "turn-b1", agentId: "agent-b1", agentName: "b1", runId: "run-1" };
    await tx.turns.queue({ ...turn, trigger: "mail", attempt: 1, notBefore: 0, now: 0 });
    await tx.turns.start(turn.id, { fence: 1, logDir: "", resumeRequested: null, now: 0 });
  });
  await world.must(addCriteriaToRun, { texts: ["it reads CSV", "it reads JSON"] });
  const holders: Readonly<Record<string, string>> = { L1: "l1", L2: "l2", B1: "b1", B2: "b2" };
  const criteria: Readonly<Record<string, number[]>> = { L1: [1], L2: [2] };
  const waitsFor: Readonly<Record<string, string[]>> = { N: ["L1"], M: ["N"] };
  for (const id of ["L1", "L2", "B1", "B2", "N", "M"]) {
    await world.must(createTask, { id, title: `do ${id}`, criteria: criteria[id], blockedBy: waitsFor[id] });
    const claimedBy = holders[id];
    if (claimedBy === undefined) continue;
    await world.store.transaction(async (tx) => {
      const task = await tx.tasks.get(id);
      if (task !== undefined) await tx.tasks.update({ ...task, status: "in_progress", claimedBy });
    });
  }
}

const agentOf = (world: UseCaseWorld, name: string): Promise<Agent | undefined> =>
  world.store.read((tx) => tx.agents.byName(name));
const taskOf = (world: UseCaseWorld, id: string): Promise<Task | undefined> =>
  world.store.read((tx) => tx.tasks.get(id));
/** What this name was told, the oldest first. */
const mailTo = (world: UseCaseWorld, to: string) =>
  world.store.read(async (tx) =>
    (await tx.messages.list({ to })).map(({ subject, type, body }) => ({ subject, type, body })),
  );
const head = agentCaller("head", "coordinator");
const order = { id: "L1", reason: "no CSV after all" };

describe("the operator drops the task of a lead", () => {
  test("its parts go with it, its agents are stopped, those without a turn are released at once", async () => {
    await using world = useCaseWorld();
    await withTeam(world);
    const dropped = await world.must(recordDrop, order);
    expect(dropped).toMatchObject({ task: { id: "L1", status: "closed" }, alreadyDropped: false });
    expect(dropped.alsoDropped.toSorted()).toEqual(["B1", "B2"]);
    for (const id of ["L1", "B1", "B2"]) {
      expect(await taskOf(world, id)).toMatchObject({
        status: "closed",
        mergeState: "abandoned",
        claimedBy: null,
        closeReason: "dropped: no CSV after all",
      });
    }
    expect(dropped.stopping.map(({ agentName, ended }) => [agentName, ended])).toEqual([
      ["b1", false],
      ["b2", true],
      ["l1", true],
    ]);
    for (const name of ["b2", "l1"]) {
      expect(await agentOf(world, name)).toMatchObject({ outcome: "stopped", releasedAt: expect.any(Number) });
    }
    expect(await agentOf(world, "b1")).toMatchObject({ stopRequestedBy: "operator", endedAt: null });
    expect(await agentOf(world, "l2")).toMatchObject({ stopRequestedBy: null, endedAt: null });
    expect(dropped.kept).toContainEqual({
      agentName: "b1",
      branch: "overstory/b1/B1",
      commits: 2,
      offBranch: 0,
      uncommitted: true,
    });
  });

  test("exactly the coordinator is told, once, and a stop on purpose is told as no death", async () => {
    await using world = useCaseWorld();
    await withTeam(world);
    expect((await world.must(recordDrop, order)).told).toEqual(["head"]);
    const letters = (await mailTo(world, "head")).filter(({ subject }) => subject.includes("dropped"));
    expect(letters).toHaveLength(1);
    const body = letters[0]?.body ?? "";
    expect(body).toContain("operator dropped task L1 (do L1): no CSV after all");
    expect(body).toContain("Ready now, without its work: N (do N)");
    expect(body).toContain("No task serves criterion 1 any more: ask the operator");
    expect(body).toContain('whose option is "waive criterion 1"');
    const deaths = await world.store.read((tx) => tx.messages.list({ type: "worker_died" }));
    expect(deaths).toEqual([]);
    for (const name of ["l1", "l2", "b1", "b2"]) expect(await mailTo(world, name)).toEqual([]);
  });

  test("what waited for it can be started without its work, or goes too with --with-dependents", async () => {
    await using world = useCaseWorld();
    await withTeam(world);
    const { ready, unserved } = await world.must(recordDrop, order);
    expect(ready.map(({ task }) => task.id)).toEqual(["N"]);
    expect(unserved).toEqual([1]);
    await using other = useCaseWorld();
    await withTeam(other);
    const all = await other.must(recordDrop, { ...order, withDependents: true });
    expect(all.alsoDropped.toSorted()).toEqual(["B1", "B2", "M", "N"]);
    expect(all.ready).toEqual([]);
  });

  test("a repeated drop names the agents that still have to be ended, and tells nobody again", async () => {
    await using world = useCaseWorld();
    await withTeam(world);
    await world.must(recordDrop, order);
    const before = await mailTo(world, "head");
    const again = await world.must(recordDrop, order);
    expect(again).toMatchObject({ alreadyDropped: true, alsoDropped: [], told: [] });
    expect(again.stopping.map(({ agentName }) => agentName)).toEqual(["b1"]);
    expect(await mailTo(world, "head")).toEqual(before);
  });
});

test("the name of a released lead may lead another task by now: its agents there go on", async () => {
  await using world = useCaseWorld();
  await withTeam(world, { l1: { state: "completed", outcome: "no_signal", endedAt: 1, releasedAt: 1 } });
  await world.store.transaction(async (tx) => {
    const again = { id: "agent-l1-2", generation: 2, capability: "lead", parentName: "head", taskId: "N" } as const;
    await tx.agents.reserve(storedAgent("l1", again));
  });
  const dropped = await world.must(recordDrop, order);
  expect(dropped).toMatchObject({ alsoDropped: [], stopping: [] });
  for (const name of ["l1", "b1", "b2"]) expect(await agentOf(world, name)).toMatchObject({ stopRequestedBy: null });
});

describe("agents drop what is theirs", () => {
  test("a lead drops a part of its work; the coordinator is not told while every criterion is served", async () => {
    await using world = useCaseWorld();
    await withTeam(world);
    const lead = agentCaller("l1", "lead", { taskId: "L1" });
    const dropped = await world.must(recordDrop, { id: "B2", reason: "not needed" }, lead);
    expect(dropped).toMatchObject({ alsoDropped: [], told: [] });
    expect(await agentOf(world, "b2")).toMatchObject({ releasedAt: expect.any(Number) });
    expect(await agentOf(world, "b1")).toMatchObject({ stopRequestedBy: null });
  });

  test("the lead of a part that its coordinator drops is told", async () => {
    await using world = useCaseWorld();
    await withTeam(world);
    expect((await world.must(recordDrop, { id: "B2", reason: "not needed" }, head)).told).toEqual(["l1"]);
    expect(await mailTo(world, "l1")).toMatchObject([{ subject: "[ENGINE] dropped: B2", type: "status" }]);
  });

  test.each([
    ["a builder", agentCaller("b1", "builder", { taskId: "B1" }), "B1"],
    ["a lead its own task", agentCaller("l1", "lead", { taskId: "L1" }), "L1"],
    ["a lead the task of another lead", agentCaller("l1", "lead", { taskId: "L1" }), "L2"],
    ["a lead a task of nobody that is no part of its own", agentCaller("l1", "lead", { taskId: "L1" }), "N"],
    ["a coordinator a task of nobody in another run", agentCaller("other", "coordinator", { runId: "run-2" }), "N"],
    [
      "a coordinator a task on which an agent of somebody else works",
      agentCaller("other", "coordinator", { runId: "run-2" }),
      "L1",
    ],
  ])("%s may not", async (_who, caller, id) => {
    await using world = useCaseWorld();
    await withTeam(world);
    const refused = await world.call(recordDrop, { id, reason: "no" }, caller);
    expect(refused).toMatchObject({ ok: false, refusal: { kind: "not-allowed" } });
    expect((await taskOf(world, id))?.status).not.toBe("closed");
  });
});

test("the branch of an agent that only reads has nothing on it, and is not told as kept work", async () => {
  await using world = useCaseWorld();
  await withTeam(world, { b2: { capability: "reviewer" } });
  await world.must(recordDrop, order);
  const [told] = await mailTo(world, "head");
  expect(told?.body).toContain("The branch overstory/b1/B1 of b1 stays.");
  expect(told?.body).not.toContain("overstory/b2/B2");
});

test("a branch of it that did not land does not count as a failed merge any more", async () => {
  await using world = useCaseWorld();
  await withTeam(world);
  const about = { taskId: "B2", agentName: "b2", runId: "run-1" } as const;
  await world.store.transaction(async (tx) => {
    await tx.merges.insert(anEntry("overstory/b2/B2", { ...about, headCommit: "h1", status: "failed" }));
    await tx.merges.insert(anEntry("overstory/b2/B2", { ...about, headCommit: "h2", status: "conflict" }));
  });
  await world.must(recordDrop, { id: "B2", reason: "not wanted" });
  const entries = await world.store.read((tx) => tx.merges.list({ branch: "overstory/b2/B2" }));
  expect(entries.map(({ status }) => status)).toEqual(["failed", "cancelled"]);
  expect((await world.store.read((tx) => mergeCounts(tx, {}))).failed).toEqual([]);
});

test("a task that was done is not dropped, and a reason is needed", async () => {
  await using world = useCaseWorld();
  await withTeam(world);
  expect(await world.call(recordDrop, { id: "N", reason: "  " })).toMatchObject({ refusal: { kind: "invalid" } });
  await world.store.transaction(async (tx) => {
    const task = await tx.tasks.get("N");
    if (task !== undefined) await tx.tasks.update({ ...task, status: "closed", mergeState: "merged" });
  });
  expect(await world.call(recordDrop, { id: "N", reason: "no" })).toMatchObject({ refusal: { kind: "task-status" } });
});

test("a lead is woken by a drop when nobody below it works any more; else it reads of it with its next turn", async () => {
  await using world = useCaseWorld();
  await withTeam(world);
  const wakes = () =>
    world.store.read(async (tx) => {
      const queued = await tx.deliveries.inState("l1", ["queued"]);
      return queued.map(({ message, delivery }) => [message.subject, delivery.wake]);
    });
  await world.must(recordDrop, { id: "B2", reason: "not needed" }, head);
  expect(await wakes()).toEqual([["[ENGINE] dropped: B2", false]]);
  await world.must(recordDrop, { id: "B1", reason: "not needed" }, head);
  expect(await wakes()).toEqual([
    ["[ENGINE] dropped: B2", false],
    ["[ENGINE] dropped: B1", true],
  ]);
});
