import { expect, test } from "bun:test";
import { aDelivery, aMessage, aTask } from "../../../testkit/contracts/store/rows.ts";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { operatorInbox } from "../operator/inbox.ts";
import { type PersonBrief, prime } from "./prime.ts";

/** A lead with a builder that waits for an answer, an ended scout, three tasks and some mail. */
async function withTeam(world: UseCaseWorld): Promise<void> {
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 0));
    await tx.agents.reserve(storedAgent("lead", { capability: "lead" }));
    await tx.agents.reserve(storedAgent("ann", { parentName: "lead", taskId: "t1", branch: "overstory/ann/t1" }));
    await tx.agents.reserve(storedAgent("old", { capability: "scout", state: "completed", outcome: "done" }));
    await tx.tasks.insert(aTask("t1", { status: "in_progress", claimedBy: "ann", title: "Parse dates" }));
    await tx.tasks.insert(aTask("t2"));
    await tx.tasks.insert(aTask("t3"));
    await tx.tasks.insert(aTask("t4", { status: "closed" }));
    await tx.tasks.addDependency({ taskId: "t3", dependsOn: "t1" });
    await tx.waits.add({ agentName: "ann", kind: "reply", ref: "m1", since: 0, deadline: null });
    const seq = await tx.messages.insert(aMessage("m1", { runId: "run-1" }));
    await tx.deliveries.insert([aDelivery(seq, "operator"), aDelivery(seq, "ann")]);
    const read = await tx.messages.insert(aMessage("m2", { runId: "run-1" }));
    await tx.deliveries.insert([aDelivery(read, "operator", { state: "acked" })]);
  });
}

test("a person is told where the project stands", async () => {
  await using world = useCaseWorld({ projectName: "garden" });
  await withTeam(world);
  expect(await world.must(prime, {})).toMatchObject({
    kind: "person",
    project: { name: "garden", canonicalBranch: "main" },
    limits: { maxConcurrent: 4, maxDepth: 2, maxAgentsPerLead: 5, maxSessionsPerRun: 0 },
    run: { id: "run-1" },
    liveAgents: 2,
    openTasks: 3,
    readyTasks: 1,
    unread: 1,
  });
});

test("a person is told how much waits for their word, an agent without budget included", async () => {
  await using world = useCaseWorld();
  await withTeam(world);
  expect(await world.must(prime, {})).toMatchObject({ waiting: 1 });
  await world.store.transaction((tx) =>
    tx.waits.add({ agentName: "lead", kind: "budget", ref: "agent:lead:turns", since: 1, deadline: null }),
  );
  expect(await world.must(prime, {})).toMatchObject({ waiting: 2 });
});

test("an agent that crashed and is not released waits for a person's word, as the inbox says", async () => {
  await using world = useCaseWorld();
  await withTeam(world);
  const before = await world.must(prime, {});
  await world.store.transaction((tx) =>
    tx.agents.reserve(storedAgent("bob", { state: "zombie", outcome: "crashed", taskId: "t2" })),
  );
  const { waiting } = (await world.must(prime, {})) as PersonBrief;
  expect(waiting).toBe((before as PersonBrief).waiting + 1);
  const shown = Object.values(await world.must(operatorInbox, {}));
  expect(waiting).toBe(shown.reduce((sum, list) => sum + list.length, 0));
});

test("an empty project has nothing to tell but its name and limits", async () => {
  await using world = useCaseWorld();
  expect(await world.must(prime, {})).toMatchObject({
    run: null,
    liveAgents: 0,
    openTasks: 0,
    readyTasks: 0,
    unread: 0,
  });
});

test("an agent is told about itself, known by its token and not by a name", async () => {
  await using world = useCaseWorld();
  await withTeam(world);
  const ann = agentCaller("ann", "builder");
  const brief = {
    kind: "agent",
    agent: { name: "ann", parentName: "lead", branch: "overstory/ann/t1" },
    task: { id: "t1", title: "Parse dates" },
    waits: [{ kind: "reply", ref: "m1" }],
    unread: 1,
    submitted: false,
  };
  expect(await world.must(prime, {}, ann)).toMatchObject(brief);
  expect(await world.must(prime, { agent: "ann" }, ann)).toMatchObject(brief);
  expect(await world.call(prime, { agent: "lead" }, ann)).toMatchObject({
    ok: false,
    refusal: { kind: "not-allowed", caller: "ann" },
  });
});

test("a person may ask about any agent, also one that has ended", async () => {
  await using world = useCaseWorld();
  await withTeam(world);
  expect(await world.must(prime, { agent: "ann" })).toMatchObject({ kind: "agent", agent: { name: "ann" } });
  expect(await world.must(prime, { agent: "old" })).toMatchObject({ submitted: true, task: null, waits: [] });
  expect(await world.call(prime, { agent: "leda" })).toMatchObject({
    ok: false,
    refusal: { kind: "not-found", noun: "agent", nearest: "lead" },
  });
});

test("a person's own session may call itself orchestrator or operator", async () => {
  await using world = useCaseWorld();
  expect(await world.must(prime, { agent: "orchestrator" })).toMatchObject({ kind: "person" });
  expect(await world.must(prime, { agent: "operator" })).toMatchObject({ kind: "person" });
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 0));
    await tx.agents.reserve(storedAgent("orchestrator", { capability: "orchestrator" }));
  });
  expect(await world.must(prime, { agent: "orchestrator" })).toMatchObject({ kind: "agent" });
});
