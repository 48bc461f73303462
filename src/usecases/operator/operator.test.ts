import { expect, test } from "bun:test";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { refOf } from "../../domain/budget/budget.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { noFields } from "../../domain/schema/schema.ts";
import { type AgentEnd, endAgent } from "../agents/end-agent.ts";
import { recover } from "../agents/recover.ts";
import { releaseAgentCommand } from "../agents/release-agent.ts";
import { checkMail } from "../mail/check.ts";
import { handOn } from "../mail/hand-on.ts";
import { post } from "../mail/post.ts";
import { readMail } from "../mail/read-mail.ts";
import { replyToMail } from "../mail/reply.ts";
import { sendMail } from "../mail/send.ts";
import { showRun } from "../runs/read-runs.ts";
import { overview } from "../status/overview.ts";
import type { UseCase } from "../usecase.ts";
import { decide } from "./decide.ts";
import { operatorInbox } from "./inbox.ts";
import { markForOperator } from "./read-attention.ts";
import { stillnessOf } from "./troubled-agents.ts";

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
  const answer = await world.call(replyToMail, { id: gateId, body: "Postgres" }, agentCaller("b1", "builder"));
  expect(answer).toMatchObject({ refusal: { kind: "not-found", noun: "message" } });
  expect((await world.must(operatorInbox, {})).decisions).toMatchObject([{ id: gateId }]);
  expect(await waitsOf(world)).toMatchObject([{ kind: "reply", ref: gateId }]);
  expect(await world.must(decide, { id: gateId, option: "SQLite" })).toMatchObject({ option: "SQLite" });
});

/** Gives what the lead has not read to the operator. */
const handingOn: UseCase<object, null> = {
  kind: "write",
  request: noFields,
  run: async (tx, context) => {
    for (const letter of await tx.deliveries.inState("lead-1", ["queued"])) {
      await handOn(tx, context, letter, "operator");
    }
    return ok(null);
  },
};

test("a question that was handed on to a person cannot pass for one of the merge queue", async () => {
  await using world = await worldWithLead();
  await world.store.transaction((tx) => tx.agents.reserve(storedAgent("b1", { parentName: "lead-1" })));
  const payload = JSON.stringify({ options: ["approve", "reject"], context: "Is blue fine?", queueId: 1 });
  const mail = { to: "lead-1", type: "decision_gate", subject: "Colour?", body: "Is blue fine?", payload };
  await world.must(sendMail, mail, agentCaller("b1", "builder"));
  await world.must(handingOn, {});
  const { decisions } = await world.must(operatorInbox, {});
  expect(decisions).toMatchObject([{ kind: "decision", from: "b1", subject: "Colour?" }]);
  const decided = await world.must(decide, { id: decisions[0]?.id ?? "", option: "approve" });
  expect(decided).toMatchObject({ kind: "decision", to: "b1" });
});

test("what waits for nobody cannot be marked as seen or put off", async () => {
  await using world = await worldWithLead();
  const gateId = await ask(world);
  const mark = (id: string, word: "seen" | "snooze") =>
    world.call(markForOperator, { id, what: "attention", mark: word });
  for (const word of ["seen", "snooze"] as const) {
    expect(await mark("decision-none", word)).toMatchObject({
      refusal: { kind: "not-found", noun: "attention item", id: "decision-none" },
    });
    expect(await mark(`decision-${gateId}`, word)).toMatchObject({ ok: true });
  }
});

test("only the operator looks into the inbox and decides", async () => {
  await using world = await worldWithLead();
  expect([operatorInbox.operatorOnly, decide.operatorOnly]).toEqual([true, true]);
  const { id } = await world.must(sendMail, { to: "operator", subject: "hello", body: "just so" }, lead);
  expect(await world.call(decide, { id: id ?? "", option: "yes" })).toMatchObject({
    refusal: { kind: "invalid", problem: "is a message of type status, which asks for no decision" },
  });
  expect(await world.call(decide, { id: "msg-nobody", option: "yes" })).toMatchObject({
    refusal: { kind: "not-found", noun: "message" },
  });
  expect(await world.call(decide, { id: "merge:99", option: "approve" })).toMatchObject({
    refusal: { kind: "not-found", noun: "merge entry" },
  });
});

test.each([
  ["crashed and was released", { state: "zombie", outcome: "crashed", actor: "engine", reason: "gone" }, true],
  ["was stopped", { state: "completed", outcome: "stopped", actor: "operator", reason: "enough" }, false],
] as const)("an agent that %s waits for no decision", async (_, end, isReleased) => {
  await using world = await worldWithLead();
  await ask(world);
  const ending: UseCase<object, null> = {
    kind: "write",
    request: noFields,
    run: async (tx, context) => {
      const agent = await tx.agents.byName("lead-1");
      if (agent === undefined) return no(notFound("agent", "lead-1"));
      await endAgent(tx, context, agent, { ...end, death: null, turnId: null });
      if (isReleased) await tx.agents.release(agent.id, context.now);
      return ok(null);
    },
  };
  await world.must(ending, {});
  expect((await world.must(operatorInbox, {})).decisions).toEqual([]);
});

/** The lead asks the operator a plain question; answers its id. */
async function askPlainly(world: UseCaseWorld): Promise<string> {
  const mail = { to: "operator", type: "question", subject: "Colour?", body: "Blue or green?" };
  return (await world.must(sendMail, mail, lead)).id ?? "";
}

test("a question stays in the inbox until it is answered, however often the mail is read", async () => {
  await using world = await worldWithLead();
  const id = await askPlainly(world);
  await world.must(readMail, { id });
  const asked = { id, from: "lead-1", subject: "Colour?", body: "Blue or green?" };
  expect((await world.must(operatorInbox, {})).questions).toMatchObject([asked]);
  expect((await world.must(overview, { all: false, mailbox: "operator" })).questions).toMatchObject([{ id }]);
  await world.must(replyToMail, { id, body: "green" });
  expect((await world.must(operatorInbox, {})).questions).toEqual([]);
});

test("a recovered agent waits again for questions that its release had closed, and not for answered ones", async () => {
  await using world = await worldWithLead();
  const id = await askPlainly(world);
  const size = { to: "operator", type: "question", subject: "Size?", body: "Small or large?" };
  const { id: answered } = await world.must(sendMail, size, lead);
  await world.must(replyToMail, { id: answered ?? "", body: "small" });
  await world.store.transaction(async (tx) => {
    const agent = await tx.agents.byName("lead-1");
    const stopped = { state: "completed", outcome: "stopped", actor: "operator", reason: "stopped" } as const;
    if (agent !== undefined) await endAgent(tx, world.context(), agent, { ...stopped, death: null, turnId: null });
  });
  await world.must(releaseAgentCommand, { name: "lead-1" });
  expect((await world.must(operatorInbox, {})).questions).toEqual([]);
  await world.must(recover, { of: "lead-1", environment: {} });
  expect((await world.must(operatorInbox, {})).questions).toMatchObject([{ id }]);
  await world.must(replyToMail, { id, body: "blue" });
  expect((await world.must(operatorInbox, {})).questions).toEqual([]);
  expect((await world.store.read((tx) => tx.waits.of("lead-1"))).filter(({ kind }) => kind === "reply")).toEqual([]);
});

test("a question answered without looking is not offered as new mail afterwards", async () => {
  await using world = await worldWithLead();
  const id = await askPlainly(world);
  await world.must(replyToMail, { id, body: "green" });
  expect((await world.must(checkMail, {})).letters).toEqual([]);
});

test("a question that was handed on is answered by its copy too", async () => {
  await using world = await worldWithLead();
  await world.store.transaction((tx) => tx.agents.reserve(storedAgent("b1", { parentName: "lead-1" })));
  const mail = { to: "lead-1", type: "question", subject: "Colour?", body: "Blue or green?" };
  const { id } = await world.must(sendMail, mail, agentCaller("b1", "builder"));
  await world.must(handingOn, {});
  expect((await world.must(operatorInbox, {})).questions).toMatchObject([{ id, from: "b1" }]);
  const [copy] = await world.store.read((tx) => tx.messages.list({ to: "operator", type: "question" }));
  await world.must(replyToMail, { id: copy?.id ?? "", body: "green" });
  expect((await world.must(operatorInbox, {})).questions).toEqual([]);
  expect(await world.store.read((tx) => tx.waits.of("b1"))).toEqual([]);
});

test("a decision shows its data and its text", async () => {
  await using world = await worldWithLead();
  const payload = JSON.stringify({ options, context: "Both would do." });
  const mail = { to: "operator", type: "decision_gate", subject: "Database?", body: "We need it by noon.", payload };
  await world.must(sendMail, mail, lead);
  const { decisions } = await world.must(operatorInbox, {});
  expect(decisions[0]?.context).toBe("Both would do.\n\nWe need it by noon.");
});

const crash = { state: "zombie", outcome: "crashed", actor: "engine", reason: "gone", death: "gone" } as const;
const ending = (name: string, end: typeof crash): UseCase<object, null> => ({
  kind: "write",
  request: noFields,
  run: async (tx, context) => {
    const agent = await tx.agents.byName(name);
    if (agent !== undefined) await endAgent(tx, context, agent, { ...end, turnId: null });
    return ok(null);
  },
});

test("an agent that waits for a budget stays in status and inbox, with the command that raises it", async () => {
  await using world = await worldWithLead();
  const ref = refOf({ scope: "agent", subject: "lead-1", unit: "turns" });
  await world.store.transaction((tx) =>
    tx.waits.add({ agentName: "lead-1", kind: "budget", ref, since: 1, deadline: null }),
  );
  for (let time = 0; time < 2; time++) {
    const { troubled } = await world.must(operatorInbox, {});
    expect(troubled).toMatchObject([
      { agent: { name: "lead-1" }, advice: "ov budget raise agent lead-1 turns <amount>" },
    ]);
  }
  const shown = (await world.must(overview, { all: false, mailbox: "operator" })).agents;
  expect(shown).toMatchObject([{ needsOperator: true }]);
  // Mail starts no turn before the budget is raised, and says so.
  const sent = await world.must(sendMail, { to: "lead-1", type: "dispatch", subject: "more", body: "do" });
  expect(sent.woken).toEqual([]);
  expect(sent.warnings).toEqual([
    `no turn of lead-1 starts now: its budget ${ref} is used up; to let it start: ov budget raise agent lead-1 turns <amount>`,
  ]);
});

test("a crashed agent is in status and inbox until it is released, unless an agent above it lives", async () => {
  await using world = await worldWithLead();
  await world.store.transaction((tx) => tx.agents.reserve(storedAgent("b1", { parentName: "lead-1" })));
  const names = async () => (await world.must(operatorInbox, {})).troubled.map(({ agent }) => agent.name);
  await world.must(ending("b1", crash), {});
  expect(await names()).toEqual([]);
  await world.must(ending("lead-1", crash), {});
  expect((await names()).toSorted()).toEqual(["b1", "lead-1"]);
  const shown = (await world.must(overview, { all: false, mailbox: "operator" })).agents;
  expect(shown.filter(({ needsOperator }) => needsOperator).map(({ agent }) => agent.name)).toContain("lead-1");
  await world.store.transaction((tx) => tx.agents.release("agent-lead-1", 5));
  expect(await names()).toEqual(["b1"]);
});

test("an earlier incarnation raises no alarm and is not listed once a later one of its name was let go", async () => {
  await using world = await worldWithLead();
  const ended = { parentName: "operator", state: "zombie", outcome: "crashed", endedAt: 2 } as const;
  const later = { state: "completed", outcome: "done", generation: 2, endedAt: 4, releasedAt: 5 } as const;
  await world.store.transaction(async (tx) => {
    await tx.agents.reserve(storedAgent("b1", ended));
    await tx.agents.reserve({ ...storedAgent("b1", { ...ended, ...later }), id: "agent-b1-2" });
    const submitted = { ...ended, state: "completed", outcome: "done" } as const;
    await tx.agents.reserve(storedAgent("b2", submitted));
    await tx.agents.reserve({ ...storedAgent("b2", { ...submitted, ...later }), id: "agent-b2-2" });
  });
  expect((await world.must(operatorInbox, {})).troubled).toEqual([]);
  const names = async (all: boolean) =>
    (await world.must(overview, { all, mailbox: "operator" })).agents.map(
      ({ agent }) => `${agent.name} ${agent.generation}`,
    );
  expect(await names(false)).toEqual(["lead-1 1"]);
  expect((await names(true)).toSorted()).toEqual(["b1 2", "b2 2", "lead-1 1"]);
});

test("a coordinator does not stand still while an agent works below a lead that was stopped", async () => {
  await using world = useCaseWorld();
  const still = async () => (await world.must(operatorInbox, {})).troubled.map(({ agent }) => agent.name);
  const idle = { state: "between_turns", topology: "per_turn" } as const;
  const stopped = { state: "completed", outcome: "stopped", endedAt: 2, releasedAt: 2 } as const;
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...activeRun("run-1", 1), objective: "Do it all", coordinatorName: "head" });
    await tx.agents.reserve(storedAgent("head", { capability: "coordinator", depth: 0, ...idle }));
    await tx.agents.reserve(storedAgent("lead-1", { capability: "lead", parentName: "head", ...stopped }));
  });
  expect(await still()).toEqual(["head"]);
  await world.store.transaction((tx) =>
    tx.agents.reserve(storedAgent("b1", { parentName: "lead-1", state: "in_turn", topology: "per_turn" })),
  );
  expect(await still()).toEqual([]);
});

test("a coordinator does not stand still while the operator has to decide what an agent of it asked that finished", async () => {
  await using world = useCaseWorld();
  const idle = { state: "between_turns", topology: "per_turn" } as const;
  const stillness = () =>
    world.store.read(async (tx) => {
      const agent = await tx.agents.byName("head");
      return agent === undefined ? undefined : stillnessOf(tx, agent);
    });
  const finished = { state: "completed", outcome: "done", endedAt: 2, releasedAt: 2 } as const;
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...activeRun("run-1", 1), objective: "Do it all", coordinatorName: "head" });
    await tx.agents.reserve(storedAgent("head", { capability: "coordinator", depth: 0, ...idle }));
    await tx.agents.reserve(storedAgent("lead-1", { capability: "lead", parentName: "head", ...finished }));
  });
  expect(await stillness()).toBeDefined();
  const from = { from: "lead-1", fromAgentId: "agent-lead-1", runId: "run-1", verified: true };
  const to = { address: "operator", recipients: [{ name: "operator", wake: false }] };
  const mail = { subject: "Database?", body: "Which?", type: "decision_gate", priority: "high" } as const;
  await world.store.transaction((tx) => post(tx, world.context(), { ...from, ...to, ...mail }));
  expect(await stillness()).toBeUndefined();
});

test("the next step for a reviewer that did not report starts another reviewer", async () => {
  await using world = useCaseWorld();
  const nextFor = async (name: string, outcome: "no_signal" | "stopped", parentName: string): Promise<string> => {
    await world.store.transaction(async (tx) => {
      await tx.agents.reserve(storedAgent(name, { capability: "reviewer", parentName, taskId: "T1" }));
      const agent = await tx.agents.byName(name);
      const end = { state: "completed", outcome, actor: "supervisor", reason: "end", death: "silent", turnId: null };
      if (agent !== undefined) await endAgent(tx, world.context(), agent, end as AgentEnd);
    });
    const [letter] = await world.store.read((tx) => tx.messages.list({ from: name }));
    return letter?.body.split("\nNext: ")[1] ?? "";
  };
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 1));
    await tx.agents.reserve(storedAgent("lead-1", { capability: "lead", state: "between_turns" }));
  });
  expect(await nextFor("r1", "no_signal", "lead-1")).toEndWith("ov release r1, then ov sling T1 --capability reviewer");
  expect(await nextFor("r2", "stopped", "lead-1")).toEndWith("ov release r2, then ov sling T1 --capability reviewer");
  expect(await nextFor("r3", "no_signal", "operator")).toEndWith("ov sling T1 --capability reviewer --force-hierarchy");
});

test("a coordinator that ended its turn with nothing under way stands still, and the operator sees it", async () => {
  await using world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...activeRun("run-1", 1), objective: "Do it all", coordinatorName: "head" });
    const idle = { state: "between_turns", topology: "per_turn" } as const;
    await tx.agents.reserve(storedAgent("head", { capability: "coordinator", depth: 0, ...idle }));
    await tx.agents.reserve(storedAgent("b1", { parentName: "head", ...idle }));
    await tx.waits.add({ agentName: "head", kind: "child", ref: "b1", since: 0, deadline: null });
  });
  const still = async () => (await world.must(operatorInbox, {})).troubled.map(({ agent }) => agent.name);
  // The builder asks, and the coordinator reads the question and ends its turn: each waits for the other.
  const builder = agentCaller("b1", "builder", { runId: "run-1" });
  const question = { to: "head", type: "question", subject: "Which?", body: "one or two?" };
  const { id } = await world.must(sendMail, question, builder);
  expect(await still()).toEqual([]);
  const head = await world.store.read((tx) => tx.agents.byName("head"));
  await world.store.transaction((tx) => tx.turns.cancelQueued(head?.id ?? "", 1));
  await world.must(checkMail, {}, agentCaller("head", "coordinator", { runId: "run-1" }));
  const [stuck, ...others] = (await world.must(operatorInbox, {})).troubled;
  expect(others).toEqual([]);
  expect(stuck).toMatchObject({ agent: { name: "b1" }, advice: expect.stringContaining(`ov mail reply ${id}`) });
  expect(stuck?.problem).toContain("waits for an answer of head");
  // Its answer gives the builder a turn. When that has ended for good, the coordinator alone is left.
  await world.must(replyToMail, { id: id ?? "", body: "one" });
  expect(await still()).toEqual([]);
  await world.store.transaction(async (tx) => {
    const b1 = await tx.agents.byName("b1");
    if (b1 === undefined) throw new Error("there is no b1");
    const end = { state: "completed", outcome: "done", actor: "supervisor", reason: "done", death: null, turnId: null };
    await endAgent(tx, world.context(), b1, end as AgentEnd);
    await tx.turns.cancelQueued(head?.id ?? "", 1);
    for (const { delivery } of await tx.deliveries.inState("head", ["queued"]))
      await tx.deliveries.update({ ...delivery, state: "acked" });
  });
  expect(await still()).toEqual(["head"]);
  const { agents } = await world.must(overview, { all: false, mailbox: "operator" });
  expect(agents.find(({ agent }) => agent.name === "head")).toMatchObject({
    needsOperator: true,
    advice: expect.stringContaining("ov run complete"),
  });
});
