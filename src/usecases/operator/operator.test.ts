import { expect, test } from "bun:test";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { endAgent } from "../agents/end-agent.ts";
import { handOn } from "../mail/hand-on.ts";
import { replyToMail } from "../mail/reply.ts";
import { sendMail } from "../mail/send.ts";
import { showRun } from "../runs/read-runs.ts";
import { overview } from "../status/overview.ts";
import type { UseCase } from "../usecase.ts";
import { decide } from "./decide.ts";
import { operatorInbox } from "./inbox.ts";

const lead = agentCaller("lead-1", "lead");
const options = ["Postgres", "SQLite"];

async function worldWithLead(): Promise<UseCaseWorld> {
  const world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 1));
    await tx.agents.reserve(storedAgent("lead-1", { capability: "lead" }));
  });
  return world;
}

/** The lead asks a person to decide; answers the id of its question. */
async function ask(world: UseCaseWorld): Promise<string> {
  const payload = JSON.stringify({ options, context: "Both would do." });
  const mail = { to: "operator", type: "decision_gate", subject: "Database?", body: "Both would do.", payload };
  return (await world.must(sendMail, mail, lead)).id ?? "";
}

const waitsOf = (world: UseCaseWorld) => world.store.read((tx) => tx.waits.of("lead-1"));

test("a question to a person waits in the inbox and in the status until it is decided, then the asker goes on", async () => {
  await using world = await worldWithLead();
  const gateId = await ask(world);
  expect(await waitsOf(world)).toMatchObject([{ kind: "reply", ref: gateId }]);
  const { decisions } = await world.must(operatorInbox, {});
  expect(decisions).toMatchObject([{ id: gateId, kind: "decision", from: "lead-1", options: options }]);
  expect((await world.must(overview, { all: false, mailbox: "operator" })).decisions).toHaveLength(1);
  expect((await world.must(showRun, { id: "run-1" })).status).toBe("needs operator");

  const decided = await world.must(decide, { id: gateId, option: "postgres", note: "we run it" });
  expect(decided).toMatchObject({ kind: "decision", option: "Postgres", to: "lead-1", woken: ["lead-1"] });
  const [mail] = await world.store.read((tx) => tx.messages.list({ to: "lead-1", type: "decision" }));
  expect(mail).toMatchObject({ replyTo: gateId, body: "Postgres\n\nwe run it" });
  expect(JSON.parse(mail?.payload ?? "")).toEqual({ gateId, option: "Postgres", note: "we run it" });
  expect(await waitsOf(world)).toEqual([]);
  expect((await world.must(operatorInbox, {})).decisions).toEqual([]);
  expect((await world.must(showRun, { id: "run-1" })).status).toBe("active");
  expect(await world.call(decide, { id: gateId, option: "SQLite" })).toMatchObject({
    refusal: { kind: "invalid", problem: "was answered before: Postgres" },
  });
});

test("an option is taken by its number, and one that was not offered is refused with those that were", async () => {
  await using world = await worldWithLead();
  const gateId = await ask(world);
  expect(await world.call(decide, { id: gateId, option: "Postgre" })).toMatchObject({
    refusal: { field: "option", nearest: "Postgres", allowed: options },
  });
  expect(await world.must(decide, { id: gateId, option: "2" })).toMatchObject({ option: "SQLite" });
});

test("a plain reply in the thread is an answer too", async () => {
  await using world = await worldWithLead();
  const gateId = await ask(world);
  await world.must(replyToMail, { id: gateId, body: "Postgres, of course" });
  expect((await world.must(operatorInbox, {})).decisions).toEqual([]);
});

test("an agent that was not asked cannot settle what waits for a person", async () => {
  await using world = await worldWithLead();
  await world.store.transaction((tx) => tx.agents.reserve(storedAgent("b1", { capability: "builder" })));
  const gateId = await ask(world);
  await world.must(replyToMail, { id: gateId, body: "Postgres" }, agentCaller("b1", "builder"));
  expect((await world.must(operatorInbox, {})).decisions).toMatchObject([{ id: gateId }]);
  expect(await waitsOf(world)).toMatchObject([{ kind: "reply", ref: gateId }]);
  expect(await world.must(decide, { id: gateId, option: "SQLite" })).toMatchObject({ option: "SQLite" });
});

test("a question that was handed on to a person cannot pass for one of the merge queue", async () => {
  await using world = await worldWithLead();
  await world.store.transaction((tx) => tx.agents.reserve(storedAgent("b1", { parentName: "lead-1" })));
  const payload = JSON.stringify({ options: ["approve", "reject"], context: "Is blue fine?", queueId: 1 });
  const mail = { to: "lead-1", type: "decision_gate", subject: "Colour?", body: "Is blue fine?", payload };
  await world.must(sendMail, mail, agentCaller("b1", "builder"));
  const handing: UseCase<object, null> = {
    access: "write",
    run: async (tx, context) => {
      for (const letter of await tx.deliveries.statePath("lead-1", ["queued"])) {
        await handOn(tx, context, letter, "operator");
      }
      return ok(null);
    },
  };
  await world.must(handing, {});
  const { decisions } = await world.must(operatorInbox, {});
  expect(decisions).toMatchObject([{ kind: "decision", from: "b1", subject: "Colour?" }]);
  const decided = await world.must(decide, { id: decisions[0]?.id ?? "", option: "approve" });
  expect(decided).toMatchObject({ kind: "decision", to: "b1" });
});

test("only the operator looks into the inbox and decides", async () => {
  await using world = await worldWithLead();
  expect([operatorInbox.operatorOnly, decide.operatorOnly]).toEqual([true, true]);
  const { id } = await world.must(sendMail, { to: "operator", subject: "hello", body: "just so" }, lead);
  expect(await world.call(decide, { id: id ?? "", option: "yes" })).toMatchObject({
    refusal: { kind: "invalid", problem: "is a status, which asks for no decision" },
  });
  expect(await world.call(decide, { id: "msg-nobody", option: "yes" })).toMatchObject({
    refusal: { kind: "not-found", noun: "message" },
  });
  expect(await world.call(decide, { id: "merge:99", option: "approve" })).toMatchObject({
    refusal: { kind: "not-found", noun: "merge entry" },
  });
});

test("whoever has ended for good waits for no decision", async () => {
  await using world = await worldWithLead();
  await ask(world);
  const burying: UseCase<object, null> = {
    access: "write",
    run: async (tx, context) => {
      const agent = await tx.agents.byName("lead-1");
      if (agent === undefined) return no(notFound("agent", "lead-1"));
      const end = { state: "zombie", outcome: "crashed", actor: "engine", reason: "gone" } as const;
      await endAgent(tx, context, agent, { ...end, death: null, turnId: null });
      await tx.agents.release(agent.id, context.now);
      return ok(null);
    },
  };
  await world.must(burying, {});
  expect((await world.must(operatorInbox, {})).decisions).toEqual([]);
});
