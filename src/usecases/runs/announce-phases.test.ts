import { expect, test } from "bun:test";
import { type MailWorld, mailWorld } from "../../../testkit/mail-world.ts";
import { settledTurn } from "../../../testkit/settled-turn.ts";
import { activeRun } from "../../../testkit/use-case.ts";
import { type Agent, type AgentOutcome, agentOutcomes } from "../../domain/agent/agent.ts";
import type { Capability } from "../../domain/agent/capability.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import type { Message } from "../../domain/mail/types.ts";
import { ok } from "../../domain/result.ts";
import { fields, oneOf, text } from "../../domain/schema/schema.ts";
import { changeState } from "../agents/reopen-agent.ts";
import { sendMail } from "../mail/send.ts";
import type { UseCase } from "../usecase.ts";
import { keepGoing } from "./keep-going.ts";

const runId = "run-2";

async function coordinatedRun(coordinatorName: string | null = "chief"): Promise<MailWorld> {
  const world = await mailWorld();
  await world.store.transaction((tx) => tx.runs.insert({ ...activeRun(runId, world.clock.now), coordinatorName }));
  await world.seat("chief", { capability: "coordinator", runId });
  return world;
}

const seat = (world: MailWorld, capability: Capability, ...names: string[]): Promise<unknown> =>
  Promise.all(names.map((name) => world.seat(name, { capability, runId, parentName: "chief" })));

/** Ends an agent as every cause does: the phase is looked at in the same transaction. */
const ending: UseCase<{ readonly name: string; readonly outcome: AgentOutcome }, null> = {
  kind: "write",
  request: fields({ name: text, outcome: oneOf(agentOutcomes) }),
  run: async (tx, { ids, now }, { name, outcome }) => {
    const agent = await tx.agents.byName(name);
    const to = outcome === "done" ? "completed" : "zombie";
    if (agent !== undefined) await changeState(tx, agent, { to, actor: "supervisor", reason: "test", outcome }, now);
    await keepGoing(tx, { ids, now }, runId);
    return ok(null);
  },
};

const end = (world: MailWorld, name: string, outcome: AgentOutcome = "done"): Promise<null> =>
  world.must(ending, { name, outcome });

const notices = async (world: MailWorld, to = "chief"): Promise<Message[]> =>
  (await world.store.read((tx) => tx.messages.list({ to, from: "system" }))).toReversed();

const phases = async (world: MailWorld): Promise<unknown[]> =>
  (await notices(world)).map(({ payload }) => payloadFields(payload).phase);

/** The coordinator has read what it was told, and its turn is over. */
const atRest = (world: MailWorld): Promise<void> =>
  world.store.transaction(async (tx) => {
    await tx.turns.cancelQueued("agent-chief", world.clock.now);
    for (const { delivery } of await tx.deliveries.inState("chief", ["queued"])) {
      await tx.deliveries.update({ ...delivery, state: "acked", ackedAt: world.clock.now });
    }
  });

test("L5: scouts, then builders, then reviewers of one run make three notices, each where nothing else is pending", async () => {
  await using world = await coordinatedRun();
  await seat(world, "scout", "s1", "s2");
  await end(world, "s1");
  expect(await phases(world)).toEqual([]);
  await end(world, "s2");
  await atRest(world);
  await seat(world, "builder", "b1", "b2");
  await end(world, "b1");
  await end(world, "b2", "crashed");
  await atRest(world);
  await seat(world, "reviewer", "r1");
  await end(world, "r1");
  expect(await phases(world)).toEqual(["scout", "builder", "reviewer"]);
  const [, builders] = await notices(world);
  expect(builders).toMatchObject({ type: "status", priority: "high", fromAgent: "system" });
  expect(builders?.subject).toContain("2 builders");
  expect(payloadFields(builders?.payload ?? null)).toMatchObject({ workerCount: 2, completed: 1, zombies: 1 });
  expect(await world.queuedTurns()).toEqual(["chief"]);
  const events = await world.store.read((tx) => tx.events.after(0, 1000));
  const levels = events.filter(({ type }) => type === "run_phase").map(({ level }) => level);
  expect(levels).toEqual(["info", "warn", "info"]);
});

test("L5: no notice while a lead goes on, a turn of the coordinator runs or is queued, or it waits for an answer", async () => {
  await using world = await coordinatedRun();
  await seat(world, "lead", "lead");
  await seat(world, "scout", "s1");
  await end(world, "s1");
  expect(await phases(world)).toEqual([]);
  await world.beginTurn("chief");
  await end(world, "lead");
  expect(await phases(world)).toEqual([]);
  await world.store.transaction(async (tx) => {
    const turn = await tx.turns.runningFor("agent-chief");
    await tx.turns.end(turn?.id ?? "", 1, settledTurn(world.clock.now));
  });
  const chief = { kind: "agent", name: "chief", agentId: "agent-chief", capability: "coordinator" } as const;
  const caller = { ...chief, runId, taskId: null, turnId: null };
  const asked = await world.must(sendMail, { to: "operator", type: "question", subject: "?", body: "?" }, caller);
  await end(world, "nobody");
  expect(await phases(world)).toEqual([]);
  await world.store.transaction((tx) => tx.waits.remove("chief", "reply", asked.id ?? ""));
  await end(world, "nobody");
  expect(await phases(world)).toEqual(["scout"]);
  expect(await world.store.read((tx) => tx.events.after(0, 1000))).toContainEqual(
    expect.objectContaining({ type: "run_phase" }),
  );
});

test("a set is announced once, however often it is looked at", async () => {
  await using world = await coordinatedRun();
  await seat(world, "builder", "b1");
  await end(world, "b1");
  await end(world, "b1");
  await end(world, "nobody");
  expect(await phases(world)).toEqual(["builder"]);
});

test("work that is taken up again is announced again, as the new generation's", async () => {
  await using world = await coordinatedRun();
  await seat(world, "builder", "b1", "b2");
  await end(world, "b1");
  await end(world, "b2");
  await atRest(world);
  const again: Partial<Agent> = { id: "agent-b1-2", generation: 2, capability: "builder", runId, parentName: "chief" };
  await world.seat("b1", again);
  await end(world, "nobody");
  expect(await phases(world)).toHaveLength(1);
  await end(world, "b1");
  const last = (await notices(world)).at(-1);
  expect(payloadFields(last?.payload ?? null)).toMatchObject({ workerCount: 1, workers: ["b1#2", "b2#1"] });
});

test("a run without a coordinator has its phases on record, and no mail about them", async () => {
  await using world = await coordinatedRun(null);
  await seat(world, "scout", "s1");
  await end(world, "s1");
  expect(await phases(world)).toEqual([]);
  expect(await notices(world, "operator")).toEqual([]);
  const recorded = await world.store.read((tx) => tx.events.after(0, 1_000));
  expect(recorded.filter(({ type }) => type === "run_phase")).toHaveLength(1);
  expect(await world.queuedTurns()).toEqual([]);
});

test("another run's workers are no part of it", async () => {
  await using world = await coordinatedRun();
  await world.seat("other", { capability: "builder" });
  await seat(world, "scout", "s1");
  await end(world, "s1");
  expect(await phases(world)).toEqual(["scout"]);
});

test("what the operator slings into the run of a coordinator, and what works for it, is no part of its phases", async () => {
  await using world = await coordinatedRun();
  await world.seat("l9", { capability: "lead", runId, parentName: "operator" });
  await world.seat("own", { capability: "builder", runId, parentName: "l9" });
  await end(world, "own");
  expect(await phases(world)).toEqual([]);
  await world.seat("own2", { capability: "builder", runId, parentName: "operator" });
  await seat(world, "builder", "b1");
  await end(world, "b1");
  expect(await phases(world)).toEqual(["builder"]);
});
