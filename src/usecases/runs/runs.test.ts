import { expect, test } from "bun:test";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { completeRun, retargetRun } from "./change-run.ts";
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
  expect(await world.must(completeRun, { force: true })).toEqual({ runId: "run-2", status: "completed" });
  expect((await world.must(showRun, { id: "run-2" })).run).toMatchObject({
    status: "completed",
    completedAt: expect.any(Number),
  });
  expect(await world.must(completeRun, { force: true })).toEqual({ runId: "run-1", status: "completed" });
  expect(await world.call(completeRun, { force: true })).toEqual({ ok: false, refusal: { kind: "no-current-run" } });
  expect((await world.events()).map(({ type, runId }) => [type, runId])).toEqual([
    ["run_completed", "run-2"],
    ["run_completed", "run-1"],
  ]);
});

test("agents that are not released keep a run open, dead ones do not", async () => {
  await using world = useCaseWorld();
  await withRuns(world);
  const coordinator = agentCaller("coordinator", "coordinator", { runId: "run-1" });
  const refused = await world.call(completeRun, {}, coordinator);
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "run-open", run: "run-1", agents: ["ann"] } });
  await world.store.transaction(async (tx) => {
    await tx.agents.release("agent-ann-2", 1);
    await tx.agents.reserve(storedAgent("bob", { state: "zombie", outcome: "crashed" }));
  });
  expect(await world.must(completeRun, {}, coordinator)).toMatchObject({ runId: "run-1" });
});

test("of the agents only a coordinator ends a run, and only its own", async () => {
  await using world = useCaseWorld();
  await withRuns(world);
  const lead = agentCaller("lea", "lead", { runId: "run-1" });
  expect(await world.call(completeRun, { force: true }, lead)).toMatchObject({
    refusal: { kind: "not-allowed", caller: "lea" },
  });
  const coordinator = agentCaller("coordinator", "coordinator", { runId: "run-1" });
  expect(await world.must(completeRun, { force: true }, coordinator)).toMatchObject({ runId: "run-1" });
  expect((await world.must(showCurrentRun, {})).current?.run.id).toBe("run-2");
  expect(await world.call(completeRun, { force: true }, coordinator)).toMatchObject({
    refusal: { kind: "no-current-run" },
  });
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
