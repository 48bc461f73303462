import { expect, test } from "bun:test";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { engineCaller } from "../../domain/caller/caller.ts";
import { endAgent } from "../agents/end-agent.ts";
import { release } from "../agents/release-agent.ts";
import { tellOperator } from "../mail/post.ts";
import { replyToMail } from "../mail/reply.ts";
import { sendMail } from "../mail/send.ts";
import { openEndsOf } from "../runs/open-ends.ts";
import { decide } from "./decide.ts";
import { operatorInbox } from "./inbox.ts";

const lead = agentCaller("lead-1", "lead");

async function worldWithLead(): Promise<UseCaseWorld> {
  const world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 1));
    await tx.agents.reserve(storedAgent("lead-1", { capability: "lead" }));
  });
  return world;
}

test("a question of an ended run is not answered to the agent of another run that has the name now", async () => {
  await using world = await worldWithLead();
  const payload = JSON.stringify({ options: ["Postgres", "SQLite"], context: "Both would do." });
  const mail = { to: "operator", subject: "Database?", body: "Both would do." };
  const gate = await world.must(sendMail, { ...mail, type: "decision_gate", payload }, lead);
  const plain = await world.must(sendMail, { ...mail, type: "question" }, lead);
  const gateId = gate.id ?? "";
  await world.store.transaction(async (tx) => {
    const agent = await tx.agents.byName("lead-1");
    const over = { state: "completed", outcome: "done", actor: "engine", reason: "run-1 is over" } as const;
    if (agent === undefined) throw new Error("no agent asked");
    await endAgent(tx, world.context(), agent, { ...over, death: null, turnId: null });
    await tx.agents.release(agent.id, world.now());
    await tx.runs.complete("run-1", "completed", world.now(), []);
    await tx.runs.insert(activeRun("run-2", 2));
    const next = { id: "agent-lead-2", generation: 2, capability: "lead", runId: "run-2" } as const;
    await tx.agents.reserve(storedAgent("lead-1", next));
  });
  expect((await world.must(operatorInbox, {})).decisions).toEqual([]);
  const ended = expect.stringContaining("lead-1 of run-1, which asked, has ended");
  expect(await world.call(decide, { id: gateId, option: "1" })).toMatchObject({ refusal: { problem: ended } });
  const written = expect.stringContaining("was written by lead-1 of run-1, which has ended");
  for (const id of [gateId, plain.id ?? ""]) {
    expect(await world.call(replyToMail, { id, body: "Postgres" })).toMatchObject({ refusal: { problem: written } });
  }
  expect(await world.store.read((tx) => tx.messages.list({ to: "lead-1" }))).toEqual([]);
});

test("a decision outlives its asker that finished: it keeps the run open, and the agent above gets the answer", async () => {
  await using world = useCaseWorld();
  const coordinator = { capability: "coordinator", parentName: "operator", depth: 0 } as const;
  const run = { ...activeRun("run-1", 1), coordinatorName: "coordinator" };
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(run);
    await tx.agents.reserve(storedAgent("coordinator", coordinator));
    await tx.agents.reserve(storedAgent("lead-1", { capability: "lead", parentName: "coordinator" }));
    await tx.agents.reserve(storedAgent("lead-2", { capability: "lead", parentName: "coordinator" }));
  });
  const ask = async (name: string, outcome: "done" | "stopped") => {
    const payload = JSON.stringify({ options: ["Postgres", "SQLite"] });
    const mail = { to: "operator", subject: "Database?", body: "Both would do.", type: "decision_gate", payload };
    const { id } = await world.must(sendMail, mail, agentCaller(name, "lead"));
    await world.store.transaction(async (tx) => {
      const agent = await tx.agents.byName(name);
      if (agent === undefined) throw new Error("no agent asked");
      const end = { state: "completed", outcome, actor: "engine", reason: "it is over" } as const;
      await endAgent(tx, world.context(), agent, { ...end, death: null, turnId: null });
      await release(tx, world.context(), { ...agent, state: "completed", outcome }, "finished");
    });
    return id ?? "";
  };
  const ends = () => world.store.read((tx) => openEndsOf(tx, run, "coordinator"));
  const stopped = await ask("lead-2", "stopped");
  expect(await world.call(decide, { id: stopped, option: "1" })).toMatchObject({
    refusal: { problem: expect.stringContaining("tell coordinator: ov mail send --to coordinator") },
  });
  const id = await ask("lead-1", "done");
  expect((await world.must(operatorInbox, {})).decisions).toMatchObject([{ id }]);
  expect(await ends()).toMatchObject([{ kind: "question", name: id }]);
  expect(await world.must(decide, { id, option: "1" })).toMatchObject({ to: "coordinator", woken: ["coordinator"] });
  const [told] = await world.store.read((tx) => tx.messages.list({ to: "coordinator", type: "decision" }));
  expect(told?.body).toBe("Postgres\n\nlead-1 asked this before it finished: Database?\nBoth would do.");
  expect(await ends()).toEqual([]);
});

test("a question of the engine about an ended run does not reach the coordinator of the next one", async () => {
  await using world = await worldWithLead();
  const gateId = await world.store.transaction(async (tx) => {
    await tx.agents.reserve(storedAgent("b1", { parentName: "coordinator" }));
    await tx.runs.insert(activeRun("run-2", 2));
    await tx.agents.reserve(storedAgent("coordinator", { capability: "coordinator", runId: "run-2", startedAt: 2 }));
    const asked = await tellOperator(tx, world.context(engineCaller), {
      runId: "run-1",
      subject: "decide about b1",
      body: "How to go on?",
      type: "decision_gate",
      priority: "high",
      payload: JSON.stringify({ options: ["give it up"], agentName: "b1", context: "It goes in circles." }),
    });
    return asked.id;
  });
  expect(await world.must(decide, { id: gateId, option: "1" })).toMatchObject({ to: null, woken: [] });
  expect(await world.store.read((tx) => tx.messages.list({ to: "coordinator" }))).toEqual([]);
});
