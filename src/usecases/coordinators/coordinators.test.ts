import { expect, test } from "bun:test";
import { coordinatedWorld } from "../../../testkit/coordinated-world.ts";
import { agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import type { Agent } from "../../domain/agent/agent.ts";
import { stopEnd } from "../../domain/agent/transition.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { noFields } from "../../domain/schema/schema.ts";
import { endAgent } from "../agents/end-agent.ts";
import { recover } from "../agents/recover.ts";
import { sling } from "../agents/sling.ts";
import { checkMail } from "../mail/check.ts";
import { replyToMail } from "../mail/reply.ts";
import { sendMail } from "../mail/send.ts";
import { endRun } from "../runs/change-run.ts";
import { addCriteriaToRun, listCriteria } from "../runs/criteria.ts";
import { createTask } from "../tasks/change-tasks.ts";
import type { UseCase } from "../usecase.ts";
import { findAnswer } from "./answer.ts";
import { checkTriggers } from "./check-complete.ts";
import { findCoordinatorCommand } from "./find.ts";
import { finishRun } from "./finish.ts";
import { checkStart, type StartRequest } from "./plan-start.ts";
import { retireIfOver } from "./retire.ts";
import { startCoordinator } from "./start.ts";
import { coordinatorStatus } from "./status.ts";

const start = (facts: Partial<StartRequest> = {}): StartRequest => ({
  capability: "coordinator",
  environment: {},
  ...facts,
});

const named = (world: UseCaseWorld, name: string): Promise<Agent | undefined> =>
  world.store.read((tx) => tx.agents.byName(name));

test("a coordinator begins a run of its own, with its objective, its target and a first message", async () => {
  await using world = useCaseWorld();
  await world.must(createTask, { id: "T1", title: "One", files: ["a.ts"] });
  const started = await world.must(
    startCoordinator,
    start({ objective: "Build the thing\nand more", targetBranch: "next", profile: "ov-delivery" }),
  );
  expect(started).toMatchObject({ agentName: "coordinator", generation: 1, targetBranch: "next" });
  const facts = await world.store.read(async (tx) => ({
    run: await tx.runs.get(started.runId),
    agent: await tx.agents.byName("coordinator"),
    mail: await tx.messages.list({ to: "coordinator" }),
    turn: await tx.turns.queuedFor(started.agentId),
  }));
  expect(facts.run).toMatchObject({ objective: "Build the thing\nand more", coordinatorName: "coordinator" });
  expect(facts.agent).toMatchObject({ worktreeKind: "root", depth: 0, parentName: "operator", taskId: null });
  expect(facts.mail[0]).toMatchObject({
    type: "dispatch",
    subject: "Objective: Build the thing",
    runId: started.runId,
  });
  expect(facts.mail[0]?.body).toContain("One open task: one builder is enough.");
  expect(facts.mail[0]?.body).toContain("meant for the branch next");
  expect(facts.turn).toBeDefined();
});

test("several coordinators work at once, each with its run; a second start of a live name is refused", async () => {
  await using world = useCaseWorld();
  const first = await world.must(startCoordinator, start());
  const second = await world.must(startCoordinator, start({ name: "docs" }));
  expect(second.runId).not.toBe(first.runId);
  expect(await world.call(startCoordinator, start())).toMatchObject({
    refusal: { kind: "name-taken", name: "coordinator" },
  });
  const found = await world.must(coordinatorStatus, { capability: "coordinator" });
  expect(found.all.map(({ agent }) => agent.name)).toEqual(["coordinator", "docs"]);
});

test.each(["operator", "monitor", "system", "Bad Name"])("nobody who leads may be called %s", async (name) => {
  await using world = useCaseWorld();
  expect(await world.call(startCoordinator, start({ name }))).toMatchObject({ refusal: { field: "name" } });
});

test("a start while the coordinator of a completed run ends says that its run is over", async () => {
  await using world = useCaseWorld();
  const { runId } = await world.must(startCoordinator, start({ objective: "Build it" }));
  expect(await world.call(startCoordinator, start())).toMatchObject({
    refusal: { leads: { runId, objective: "Build it", status: "active" } },
  });
  await world.must(endRun, { runId, force: true });
  expect(await world.call(startCoordinator, start())).toMatchObject({
    refusal: { kind: "name-taken", leads: { runId, status: "completed" } },
  });
});

test("of the agents only an orchestrator starts coordinators, and then is their parent", async () => {
  await using world = useCaseWorld();
  const boss = await world.must(startCoordinator, start({ capability: "orchestrator" }));
  const caller = { ...agentCaller("orchestrator", "orchestrator", { runId: boss.runId }), agentId: boss.agentId };
  for (const stranger of [agentCaller("b1", "builder"), agentCaller("c2", "coordinator"), agentCaller("l1", "lead")]) {
    expect(await world.call(startCoordinator, start(), stranger)).toMatchObject({ refusal: { kind: "not-allowed" } });
  }
  expect(await world.call(startCoordinator, start({ capability: "orchestrator", name: "o2" }), caller)).toMatchObject({
    refusal: { kind: "not-allowed" },
  });
  await world.must(startCoordinator, start(), caller);
  expect(await named(world, "coordinator")).toMatchObject({ parentName: "orchestrator", depth: 0 });
});

test("an objective that would not fit into a message is refused", async () => {
  await using world = useCaseWorld();
  expect(await world.call(startCoordinator, start({ objective: "x".repeat(10_000) }))).toMatchObject({
    refusal: { field: "objective" },
  });
});

test("without a name the usual one is meant, else the only one, and of several one must be named", async () => {
  await using world = useCaseWorld();
  const question = { capability: "coordinator" } as const;
  expect(await world.call(findCoordinatorCommand, question)).toMatchObject({ refusal: { kind: "not-found" } });
  await world.must(startCoordinator, start({ name: "docs" }));
  expect(await world.must(findCoordinatorCommand, question)).toMatchObject({ agentName: "docs" });
  await world.must(startCoordinator, start({ name: "web" }));
  expect(await world.call(findCoordinatorCommand, question)).toMatchObject({
    refusal: { kind: "invalid", allowed: ["--name docs", "--name web"] },
  });
  await world.must(startCoordinator, start());
  expect(await world.must(findCoordinatorCommand, question)).toMatchObject({ agentName: "coordinator" });
  const itself = agentCaller("web", "coordinator");
  expect(await world.must(findCoordinatorCommand, question, itself)).toMatchObject({ agentName: "web" });
  expect(await world.call(findCoordinatorCommand, { ...question, name: "wep" })).toMatchObject({
    refusal: { kind: "not-found", nearest: "web" },
  });
});

test("finishing ends the run of this coordinator alone, and only once", async () => {
  await using world = useCaseWorld();
  const first = await world.must(startCoordinator, start());
  const second = await world.must(startCoordinator, start({ name: "docs" }));
  const finish = { capability: "coordinator", name: "coordinator" } as const;
  expect(await world.must(finishRun, finish)).toMatchObject({ runId: first.runId, runCompleted: true });
  expect(await world.must(finishRun, finish)).toMatchObject({ runCompleted: false });
  expect(await world.store.read((tx) => tx.runs.get(second.runId))).toMatchObject({ status: "active" });
  expect(await world.call(finishRun, finish, agentCaller("b1", "builder"))).toMatchObject({
    refusal: { kind: "not-allowed" },
  });
});

/** The coordinator is over, as its supervisor or the engine records it. */
const ends = (world: UseCaseWorld, outcome: "stopped" | "crashed"): Promise<unknown> =>
  world.store.transaction(async (tx) => {
    const agent = await tx.agents.byName("coordinator");
    if (agent === undefined) throw new Error("there is none");
    const how =
      outcome === "stopped"
        ? stopEnd("operator")
        : ({ state: "zombie", outcome, actor: "engine", reason: "x" } as const);
    await endAgent(tx, world.context(), agent, { ...how, death: null, turnId: null });
  });

test("a run in which nothing is built has no checklist; only the operator says that", async () => {
  await using world = useCaseWorld();
  const exploring = start({ objective: "Get to know it", nothingLands: true });
  const { runId, agentId } = await world.must(startCoordinator, exploring);
  expect((await world.must(listCriteria, { runId })).criteria).toEqual([]);
  const itself = { ...agentCaller("coordinator", "coordinator", { runId }), agentId };
  expect(await world.call(addCriteriaToRun, { texts: ["x"] }, itself)).toMatchObject({
    refusal: { kind: "not-allowed", why: expect.stringContaining("no checklist") },
  });
  await world.must(checkMail, {}, itself);
  expect(await world.must(endRun, {}, itself)).toMatchObject({ status: "completed" });
  const above = agentCaller("orchestrator", "orchestrator");
  const below = await world.must(startCoordinator, { ...exploring, name: "web" }, above);
  expect((await world.must(listCriteria, { runId: below.runId })).criteria).toHaveLength(1);
});

test("recovering a coordinator that was stopped opens its run again", async () => {
  await using world = useCaseWorld();
  const { runId } = await world.must(startCoordinator, start({ objective: "Do it" }));
  await ends(world, "stopped");
  await world.must(finishRun, { capability: "coordinator", name: "coordinator" });
  const back = await world.must(recover, { of: "coordinator", environment: {} });
  expect(back).toMatchObject({ generation: 2, runId, warnings: [expect.stringContaining(`run ${runId} goes on`)] });
  const run = await world.store.read((tx) => tx.runs.get(runId));
  expect(run).toMatchObject({ status: "active", completedAt: null });
  const itself = { ...agentCaller("coordinator", "coordinator", { runId }) };
  await world.must(addCriteriaToRun, { texts: ["a part"] }, itself);
  expect((await world.events()).map(({ type }) => type)).toContain("run_reopened");
});

test("a run that was completed stays so: its coordinator is not recovered, and gets no agents into it", async () => {
  await using world = useCaseWorld();
  const { runId, agentId } = await world.must(startCoordinator, start({ objective: "Do it" }));
  const itself = { ...agentCaller("coordinator", "coordinator", { runId }), agentId };
  const work = { capability: "builder", files: [], environment: {} };
  await world.must(sling, { ...work, taskId: "T1", title: "One", name: "b1" }, itself);
  await world.must(endRun, { force: true });
  const before = await world.store.read(async (tx) => (await tx.agents.list({})).length);
  expect(await world.call(sling, { ...work, taskId: "T2", title: "Two" }, itself)).toMatchObject({
    refusal: { kind: "not-allowed", why: expect.stringContaining("has ended") },
  });
  expect(await world.call(sling, { ...work, taskId: "T2", title: "Two", parent: "coordinator" })).toMatchObject({
    refusal: { field: "parent", problem: expect.stringContaining("has ended") },
  });
  expect(await world.store.read(async (tx) => (await tx.agents.list({})).length)).toBe(before);
  await ends(world, "crashed");
  expect(await world.call(recover, { of: "coordinator", environment: {} })).toMatchObject({
    refusal: { kind: "not-recoverable", why: `its run ${runId} is complete`, next: expect.stringContaining("ov go") },
  });
  expect(await world.store.read((tx) => tx.runs.get(runId))).toMatchObject({ status: "completed" });
});

test("a run that the operator completed after its coordinator was stopped is over", async () => {
  await using world = useCaseWorld();
  const { runId } = await world.must(startCoordinator, start({ objective: "Do it" }));
  await ends(world, "stopped");
  await world.must(endRun, { force: true });
  expect(await world.call(recover, { of: "coordinator", environment: {} })).toMatchObject({
    refusal: { kind: "not-recoverable", why: `its run ${runId} is complete`, next: expect.stringContaining("ov go") },
  });
  expect(await world.store.read((tx) => tx.runs.get(runId))).toMatchObject({ status: "completed" });
});

test("agents of an ended run bring no agent back to work; the operator may", async () => {
  await using world = useCaseWorld();
  const { runId, agentId } = await world.must(startCoordinator, start({ objective: "Do it" }));
  const itself = { ...agentCaller("coordinator", "coordinator", { runId }), agentId };
  const facts = { runId, parentName: "coordinator", state: "completed", outcome: "done", endedAt: 1 } as const;
  await world.store.transaction((tx) => tx.agents.reserve(storedAgent("l1", { ...facts, capability: "lead" })));
  await world.must(endRun, { force: true });
  const more = { to: "l1", subject: "more", body: "one more thing", payload: '{"taskId":"T1"}' };
  for (const asked of [{ type: "assign" }, { type: "question" }, { type: "status", wake: true }]) {
    expect(await world.call(sendMail, { ...more, ...asked }, itself)).toMatchObject({
      refusal: { kind: "not-allowed", why: expect.stringContaining("has ended") },
    });
  }
  expect(await named(world, "l1")).toMatchObject({ generation: 1, state: "completed" });
  await world.must(sendMail, { ...more, type: "assign" });
  expect(await named(world, "l1")).toMatchObject({ generation: 2 });
});

test("questions that agents of an ended run asked before an agent handed in its work go back to them", async () => {
  await using world = await coordinatedWorld();
  await world.seatBelow("b1", { taskId: "T1" });
  const turn = await world.beginTurn("b1");
  const chief = agentCaller("chief", "coordinator", { runId: world.runId });
  await world.must(sendMail, { to: "b1", type: "question", subject: "more", body: "and that?" }, chief);
  await world.store.transaction((tx) => tx.runs.complete(world.runId, "completed", world.clock.now));
  await world.tell("done", true, { from: "b1", fromAgentId: "agent-b1", type: "worker_done" });
  await world.settle(turn);
  const b1 = await world.store.read((tx) => tx.agents.byName("b1"));
  expect(b1).toMatchObject({ generation: 1, state: "completed", outcome: "done" });
  const [back] = await world.store.read((tx) => tx.messages.list({ to: "chief", from: "system" }));
  expect(back?.subject).toBe('Returned: b1 finished before it read "more"');
});

test("an orchestrator is woken when the run of its coordinator has ended, unless it ended the run itself", async () => {
  await using world = useCaseWorld();
  const above = await world.must(startCoordinator, start({ capability: "orchestrator" }));
  const chief = { ...agentCaller("orchestrator", "orchestrator", above), agentId: above.agentId };
  const endsOf = async (runId: string) => {
    const told = await world.store.read((tx) => tx.messages.list({ to: "orchestrator", from: "system", runId }));
    return Promise.all(
      told.map(async ({ seq, subject }) => {
        const delivery = await world.store.read((tx) => tx.deliveries.get(seq, "orchestrator"));
        return [subject, delivery?.wake];
      }),
    );
  };
  for (const name of ["web", "api", "docs"]) {
    const { runId, agentId } = await world.must(startCoordinator, start({ name }), chief);
    const itself = { ...agentCaller(name, "coordinator", { runId }), agentId };
    if (name === "web") {
      await world.must(checkMail, {}, itself);
      await world.must(endRun, {}, itself);
    }
    if (name === "api") await world.must(endRun, { runId, force: true });
    if (name === "docs") await world.must(finishRun, { capability: "coordinator", name }, chief);
    expect(await endsOf(runId)).toEqual(name === "docs" ? [] : [[`${runId} of ${name} is complete`, true]]);
  }
});

test("a coordinator whose run is over ends with its turn, and its name is free again", async () => {
  await using world = useCaseWorld();
  const { runId, agentId } = await world.must(startCoordinator, start());
  const retiring: UseCase<object, Agent> = {
    kind: "write",
    request: noFields,
    run: async (tx, context) => {
      const agent = await tx.agents.get(agentId);
      return agent === undefined ? no(notFound("agent", agentId)) : ok(await retireIfOver(tx, context, agent));
    },
  };
  const retire = () => world.must(retiring, {});
  await world.store.transaction(async (tx) => {
    for (const { delivery } of await tx.deliveries.inState("coordinator", ["queued"])) {
      await tx.deliveries.update({ ...delivery, state: "acked", ackedAt: 1 });
    }
    await tx.turns.cancelQueued(agentId, 1);
  });
  expect((await retire()).state).toBe("booting");
  await world.must(endRun, {});
  expect((await retire()).outcome).toBe("done");
  expect(await named(world, "coordinator")).toMatchObject({ state: "completed", outcome: "done" });
  const again = await world.must(startCoordinator, start());
  expect(again).toMatchObject({ generation: 2 });
  expect(again.runId).not.toBe(runId);
});

test("an answer is whatever comes back in the thread from who was asked, by whatever way", async () => {
  await using world = useCaseWorld();
  const { runId, agentId } = await world.must(startCoordinator, start());
  const itself = { ...agentCaller("coordinator", "coordinator", { runId }), agentId };
  const mail = { to: "coordinator", type: "question", subject: "?", body: "how far?" };
  const { id } = await world.must(sendMail, mail);
  const sentId = id ?? "";
  expect(await world.must(findAnswer, { sentId })).toEqual({ answer: null, latencyMs: null, ended: false });
  await world.must(sendMail, { to: "operator", type: "status", subject: "else", body: "elsewhere" }, itself);
  await world.store.transaction((tx) => tx.agents.reserve(storedAgent("b1", { runId })));
  const stranger = agentCaller("b1", "builder", { runId });
  expect(await world.call(replyToMail, { id: sentId, body: "all done" }, stranger)).toMatchObject({
    refusal: { kind: "not-found" },
  });
  expect((await world.must(findAnswer, { sentId })).answer).toBeNull();
  await world.must(replyToMail, { id: sentId, body: "half way", payload: '{"done":1}' }, itself);
  const { answer, latencyMs } = await world.must(findAnswer, { sentId });
  expect(answer).toMatchObject({ fromAgent: "coordinator", body: "half way", payload: '{"done":1}' });
  expect(latencyMs).toBeGreaterThan(0);
});

test("a shutdown that was read long ago still counts, and so does a dead agent; another run's does not", async () => {
  await using world = useCaseWorld();
  const { runId } = await world.must(startCoordinator, start());
  await world.must(startCoordinator, start({ name: "docs" }));
  const check = async () => world.must(checkTriggers, { capability: "coordinator", tracker: { kind: "native" } });
  expect((await check()).triggers.onShutdownSignal.met).toBe(false);
  await world.must(sendMail, { to: "docs", subject: "shutdown", body: "not you" });
  expect((await check()).triggers.onShutdownSignal.met).toBe(false);
  await world.must(sendMail, { to: "coordinator", subject: "Shutdown, please", body: "you" });
  await world.store.transaction(async (tx) => {
    for (const { delivery } of await tx.deliveries.inState("coordinator", ["queued"])) {
      await tx.deliveries.update({ ...delivery, state: "acked", ackedAt: 1 });
    }
    await tx.agents.reserve(storedAgent("b1", { runId, state: "zombie", outcome: "crashed" }));
  });
  await world.must(createTask, { id: "T1", title: "One" });
  const checked = await check();
  expect(checked.triggers).toMatchObject({
    allAgentsDone: { enabled: false, met: true },
    taskTrackerEmpty: { enabled: false, met: false, detail: "ready to be started: T1" },
    onShutdownSignal: { enabled: false, met: true, detail: "operator has asked for a shutdown" },
  });
  expect(checked).toMatchObject({ complete: false, runId, failures: [{ name: "b1", outcome: "crashed" }] });
});

test("no coordinator is started for a landing branch of ours", async () => {
  await using world = useCaseWorld();
  const asked = start({ objective: "Build it", targetBranch: "overstory/integration/run-1" });
  const refused = { ok: false, refusal: { kind: "invalid", field: "target" } };
  expect(await world.call(checkStart, asked)).toMatchObject(refused);
  expect(await world.call(startCoordinator, asked)).toMatchObject(refused);
  expect(await named(world, "coordinator")).toBeUndefined();
});
