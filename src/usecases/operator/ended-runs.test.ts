import { expect, test } from "bun:test";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { engineCaller } from "../../domain/caller/caller.ts";
import { endAgent } from "../agents/end-agent.ts";
import { tellOperator } from "../mail/post.ts";
import { replyToMail, sendMail } from "../mail/send.ts";
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
