import { expect, test } from "bun:test";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { closeTask } from "../tasks/close-task.ts";
import { endRun, retargetRun } from "./change-run.ts";
import { listRuns, showCurrentRun, showRun } from "./read-runs.ts";

/** Two active runs; the first has a coordinator and a builder that was reopened once. */
async function withRuns(world: UseCaseWorld): Promise<void> {
  const start = world.now();
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...activeRun("run-1", start - 5000), coordinatorName: "coordinator" });
    await tx.runs.insert(activeRun("run-2", start));
    await tx.agents.reserve(storedAgent("coordinator", { capability: "coordinator", startedAt: start }));
    const builder = { startedAt: start, lastActivityAt: start + 300, state: "completed" } as const;
    await tx.agents.reserve(storedAgent("ann", { ...builder, outcome: "done" }));
    await tx.agents.reserve(storedAgent("ann", { ...builder, outcome: "done", id: "agent-ann-2", generation: 2 }));
  });
}

test("runs are listed newest first, with how long they took and how many agents they had by name", async () => {
  await using world = useCaseWorld();
  await withRuns(world);
  const { runs } = await world.must(listRuns, { last: 10 });
  expect(runs).toMatchObject([
    { run: { id: "run-2" }, agentCount: 0, durationMs: 1000, coordinatorId: null },
    { run: { id: "run-1" }, agentCount: 2, durationMs: 6000, coordinatorId: "agent-coordinator" },
  ]);
  expect((await world.must(listRuns, { last: 1 })).runs).toHaveLength(1);
  expect(await world.call(listRuns, { last: 0 })).toMatchObject({ refusal: { kind: "invalid", field: "last" } });
});

test("a run shows its agents; the time of an ended one stops with its last activity", async () => {
  await using world = useCaseWorld();
  await withRuns(world);
  const { agents } = await world.must(showRun, { id: "run-1" });
  expect(agents.find(({ agent }) => agent.id === "agent-ann-2")?.durationMs).toBe(300);
  expect(agents.find(({ agent }) => agent.name === "coordinator")?.durationMs).toBe(1000);
  expect(await world.call(showRun, { id: "run-3" })).toMatchObject({
    refusal: { kind: "not-found", noun: "run", nearest: expect.stringMatching(/^run-/) },
  });
});

test("the current run is the newest for a person and its own for an agent", async () => {
  await using world = useCaseWorld();
  expect(await world.must(showCurrentRun, {})).toEqual({ current: null });
  await withRuns(world);
  expect((await world.must(showCurrentRun, {})).current?.run.id).toBe("run-2");
  const ann = agentCaller("ann", "builder", { runId: "run-1" });
  expect((await world.must(showCurrentRun, {}, ann)).current?.run.id).toBe("run-1");
});

test("completing ends the current run, one after the other, until none is left", async () => {
  await using world = useCaseWorld();
  await withRuns(world);
  expect(await world.must(endRun, { force: true })).toEqual({
    runId: "run-2",
    status: "completed",
    open: [],
    review: null,
  });
  expect((await world.must(showRun, { id: "run-2" })).run).toMatchObject({
    status: "completed",
    completedAt: expect.any(Number),
  });
  expect(await world.must(endRun, { force: true })).toMatchObject({ runId: "run-1", open: [{ name: "ann" }] });
  expect(await world.call(endRun, { force: true })).toEqual({ ok: false, refusal: { kind: "no-current-run" } });
  expect((await world.events()).map(({ type, runId }) => [type, runId])).toEqual([
    ["run_completed", "run-2"],
    ["run_completed", "run-1"],
    // Its coordinator, which was idle.
    ["released", "run-1"],
  ]);
});

test("the operator ends the run that is named, an agent only its own", async () => {
  await using world = useCaseWorld();
  await withRuns(world);
  const other = agentCaller("docs", "coordinator", { runId: "run-2" });
  expect(await world.call(endRun, { runId: "run-1" }, other)).toMatchObject({ refusal: { kind: "not-allowed" } });
  expect(await world.call(endRun, { runId: "run-9" })).toMatchObject({ refusal: { kind: "not-found", id: "run-9" } });
  // The older run has an open end, which is refused in its name; the newest one stays as it is.
  expect(await world.call(endRun, { runId: "run-1" })).toMatchObject({ refusal: { kind: "run-open", run: "run-1" } });
  expect(await world.must(endRun, { runId: "run-1", force: true })).toMatchObject({ runId: "run-1" });
  expect(await world.call(endRun, { runId: "run-1", force: true })).toMatchObject({ refusal: { field: "run" } });
  expect((await world.must(showCurrentRun, {})).current?.run).toMatchObject({ id: "run-2", status: "active" });
});

test("agents that are not released keep a run open, dead ones do not", async () => {
  await using world = useCaseWorld();
  await withRuns(world);
  const coordinator = agentCaller("coordinator", "coordinator", { runId: "run-1" });
  const refused = await world.call(endRun, {}, coordinator);
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "run-open", run: "run-1", agents: ["ann"] } });
  await world.store.transaction(async (tx) => {
    await tx.agents.release("agent-ann-2", 1);
    await tx.agents.reserve(storedAgent("bob", { state: "zombie", outcome: "crashed" }));
  });
  expect(await world.must(endRun, {}, coordinator)).toMatchObject({ runId: "run-1" });
});

test("L2: a run does not end with tasks that are not closed, and each is named with what to do about it", async () => {
  await using world = useCaseWorld();
  const coordinator = agentCaller("coordinator", "coordinator", { runId: "run-1" });
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...activeRun("run-1", world.now()), coordinatorName: "coordinator" });
    const ended = { state: "completed", outcome: "done", releasedAt: 1 } as const;
    for (const [name, taskId] of [
      ["b1", "held"],
      ["b2", "landing"],
      ["b3", "older"],
    ] as const) {
      await tx.agents.reserve(storedAgent(name, { ...ended, taskId }));
    }
    await tx.tasks.insert(aTask("ready", { runId: "run-1" }));
    await tx.tasks.insert(aTask("held", { runId: "run-1", status: "in_progress", claimedBy: "b1" }));
    const review = { status: "in_review", claimedBy: "b2", mergeState: "pending" } as const;
    await tx.tasks.insert(aTask("landing", { runId: "run-1", ...review }));
    await tx.tasks.insert(aTask("older", { runId: null }));
    await tx.tasks.insert(aTask("stranger", { runId: "run-9" }));
    await tx.tasks.insert(aTask("over", { runId: "run-1", status: "closed" }));
  });
  const refused = await world.call(endRun, {}, coordinator);
  if (refused.ok || refused.refusal.kind !== "run-open") throw new Error("the run was ended");
  const { refusal } = refused;
  expect(refusal).toMatchObject({ agents: [], branches: [], mayForce: false });
  expect([...refusal.tasks].toSorted()).toEqual(["held", "landing", "older", "ready"]);
  const fixes = refusal.open.map(({ fix }) => fix);
  expect(fixes).toContain('have it done: ov sling ready, or give it up: ov task drop ready --reason "<why>"');
  expect(fixes).toContain('wait for b1, or give it up: ov task drop held --reason "<why>"');
  expect(fixes.find((fix) => fix.includes("ov task drop landing"))).toContain("ov merge list");
  for (const id of ["ready", "held", "older"]) await world.must(closeTask, { id, reason: "dropped" }, coordinator);
  expect(await world.call(endRun, {}, coordinator)).toMatchObject({ refusal: { tasks: ["landing"] } });
  expect(await world.call(endRun, {})).toMatchObject({ refusal: { kind: "run-open", mayForce: true } });
  const forced = await world.must(endRun, { force: true });
  expect(forced).toMatchObject({ status: "completed", open: [{ kind: "task", name: "landing" }] });
});

test("L2: a coordinator closes a task whose work was given up, so that it can end its run", async () => {
  await using world = useCaseWorld();
  const coordinator = agentCaller("coordinator", "coordinator", { runId: "run-1" });
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...activeRun("run-1", world.now()), coordinatorName: "coordinator" });
    await tx.tasks.insert(aTask("T1", { runId: "run-1", mergeState: "abandoned" }));
  });
  expect(await world.call(endRun, {}, coordinator)).toMatchObject({ refusal: { tasks: ["T1"] } });
  await world.must(closeTask, { id: "T1", reason: "not worth it" }, coordinator);
  expect(await world.must(endRun, {}, coordinator)).toMatchObject({ status: "completed", open: [] });
});

test("of the agents only a coordinator ends a run, and only its own", async () => {
  await using world = useCaseWorld();
  await withRuns(world);
  const lead = agentCaller("lea", "lead", { runId: "run-1" });
  expect(await world.call(endRun, { force: true }, lead)).toMatchObject({
    refusal: { kind: "not-allowed", caller: "lea" },
  });
  const coordinator = agentCaller("coordinator", "coordinator", { runId: "run-1" });
  expect(await world.call(endRun, { force: true }, coordinator)).toMatchObject({
    refusal: { kind: "not-allowed", action: "complete run-1 by force" },
  });
  await world.store.transaction((tx) => tx.agents.release("agent-ann-2", 1));
  expect(await world.must(endRun, {}, coordinator)).toMatchObject({ runId: "run-1" });
  expect((await world.must(showCurrentRun, {})).current?.run.id).toBe("run-2");
  expect(await world.call(endRun, {}, coordinator)).toMatchObject({ refusal: { kind: "no-current-run" } });
});

test("a run is not given the branch of an agent as its target, and keeps the one it has", async () => {
  await using world = useCaseWorld();
  await withRuns(world);
  const branch = "overstory/bea/t";
  await world.store.transaction(async (tx) => {
    await tx.runs.setBranches("run-1", { targetBranch: "main", landingBranch: null });
    await tx.agents.reserve(storedAgent("bea", { branch, worktreeKind: "linked" }));
  });
  const refused = await world.call(retargetRun, { runId: "run-1", target: branch });
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "invalid", field: "branch", value: branch } });
  expect(await world.store.read((tx) => tx.runs.get("run-1"))).toMatchObject({ targetBranch: "main" });
});

test("what keeps a run open names only commands that its reader may type", async () => {
  await using world = useCaseWorld();
  const coordinator = agentCaller("coordinator", "coordinator", { runId: "run-1" });
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...activeRun("run-1", world.now()), coordinatorName: "coordinator" });
    await tx.agents.reserve(storedAgent("l1", { capability: "lead", parentName: "coordinator", taskId: "L1" }));
    await tx.agents.reserve(storedAgent("b1", { parentName: "l1", taskId: "B1" }));
  });
  const advice = async (caller?: Caller) => {
    const refused = await world.call(endRun, {}, caller);
    if (refused.ok || refused.refusal.kind !== "run-open") throw new Error("the run was ended");
    return refused.refusal.open.map(({ fix }) => fix).toSorted();
  };
  expect(await advice(coordinator)).toEqual([
    'wait for it, or give its task up: ov task drop B1 --reason "<why>"',
    'wait for it, or: ov stop l1, then ov release l1 --reason "<why>"',
  ]);
  expect(await advice()).toEqual([
    "wait for it, or: ov stop b1, then ov release b1",
    "wait for it, or: ov stop l1, then ov release l1",
  ]);
});
