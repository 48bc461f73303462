import { expect, test } from "bun:test";
import { mailWorld } from "../../../testkit/mail-world.ts";
import { mailStatus } from "./read-mail.ts";
import { sendMail } from "./send.ts";

const words = { subject: "news", body: "it works" };

test("a person writes as the operator, and an agent as itself, whatever is asked for", async () => {
  await using world = await mailWorld();
  const lead = await world.seat("lead-1", { capability: "lead" });
  const builder = await world.seat("builder-1", { parentName: "lead-1" });

  const mine = await world.must(sendMail, { ...words, to: "lead-1" });
  const own = await world.must(sendMail, { ...words, to: "lead-1", from: "builder-1" }, builder);
  const forged = await world.call(sendMail, { ...words, to: "builder-1", from: "builder-1" }, { caller: lead });

  expect((await world.must(mailStatus, { id: mine.id ?? "" })).message).toMatchObject({
    from: "operator",
    verified: true,
  });
  expect((await world.must(mailStatus, { id: own.id ?? "" })).message).toMatchObject({
    from: "builder-1",
    verified: true,
  });
  expect(forged).toMatchObject({ ok: false, refusal: { kind: "not-allowed", caller: "lead-1" } });
});

test("a person may lend another name, and the message says that it is not verified", async () => {
  await using world = await mailWorld();
  await world.seat("lead-1", { capability: "lead" });
  await world.beginTurn("lead-1");
  const { id } = await world.must(sendMail, { ...words, to: "operator", from: "lead-1" });
  const stored = await world.store.read((tx) => tx.messages.get(id ?? ""));
  expect(stored).toMatchObject({ fromAgent: "lead-1", verified: false, fromAgentId: null, turnId: null });
  const engine = await world.call(sendMail, { ...words, to: "lead-1", from: "system" });
  expect(engine).toMatchObject({ ok: false, refusal: { kind: "invalid", field: "from" } });
});

test("orchestrator is the operator until an agent of that name lives", async () => {
  await using world = await mailWorld();
  const before = await world.must(sendMail, { ...words, to: "orchestrator" });
  expect(before.recipients).toEqual(["operator"]);
  await world.seat("orchestrator", { capability: "orchestrator" });
  const after = await world.must(sendMail, { ...words, to: "orchestrator", body: "again" });
  expect(after.recipients).toEqual(["orchestrator"]);
});

test("an unknown type or priority is refused with the list of known ones", async () => {
  await using world = await mailWorld();
  const type = await world.call(sendMail, { ...words, to: "operator", type: "statsu" });
  expect(type).toMatchObject({ ok: false, refusal: { kind: "invalid", field: "type", nearest: "status" } });
  const priority = await world.call(sendMail, { ...words, to: "operator", priority: "soon" });
  const allowed = ["low", "normal", "high", "urgent"];
  expect(priority).toMatchObject({ ok: false, refusal: { kind: "invalid", field: "priority", allowed } });
});

test("an agent sends only the types of its capability, the operator every type", async () => {
  await using world = await mailWorld();
  const builder = await world.seat("builder-1");
  const request = { ...words, to: "operator", type: "dispatch" };
  const refused = await world.call(sendMail, request, { caller: builder });
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "type-not-yours", type: "dispatch" } });
  expect((await world.call(sendMail, { ...request, to: "builder-1" })).ok).toBe(true);
});

test("a reviewer finishes only after a verdict of this incarnation", async () => {
  await using world = await mailWorld();
  const reviewer = await world.seat("rev", { capability: "reviewer", parentName: "operator" });
  const done = { ...words, to: "operator", type: "worker_done" };
  expect(await world.call(sendMail, done, { caller: reviewer })).toMatchObject({
    ok: false,
    refusal: { kind: "not-allowed" },
  });
  const payload = JSON.stringify({ verdict: "pass", branch: "overstory/b/T1" });
  await world.must(sendMail, { ...words, to: "operator", type: "review", payload }, reviewer);
  expect((await world.call(sendMail, done, { caller: reviewer })).ok).toBe(true);
});

test("what the store knows is filled into the payload, and a bare worker_done is marked as unproven", async () => {
  await using world = await mailWorld();
  const branch = "overstory/builder-1/T1";
  const builder = await world.seat("builder-1", { taskId: "T1", branch });
  const done = await world.must(sendMail, { ...words, to: "operator", type: "worker_done" }, builder);
  const { message } = await world.must(mailStatus, { id: done.id ?? "" });
  expect(JSON.parse(message.payload ?? "")).toEqual({
    taskId: "T1",
    branch,
    exitCode: null,
    filesModified: [],
    unverified: true,
  });
});

test("a payload that lacks what its type needs is refused and nothing is stored", async () => {
  await using world = await mailWorld();
  const lead = await world.seat("lead-1", { capability: "lead" });
  const gate = { ...words, to: "operator", type: "decision_gate" };
  const refused = await world.call(sendMail, gate, { caller: lead });
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "invalid", field: "payload.options" } });
  expect(await world.store.read((tx) => tx.messages.list({}))).toEqual([]);
});

test("an unknown name is refused for an agent, and a warning for a person unless strict", async () => {
  await using world = await mailWorld();
  const builder = await world.seat("builder-1");
  const typo = { ...words, to: "bulider-1" };
  const refusal = { kind: "not-found", noun: "agent", id: "bulider-1", nearest: "builder-1" } as const;
  expect(await world.call(sendMail, typo, { caller: builder })).toEqual({ ok: false, refusal });
  expect(await world.call(sendMail, { ...typo, strict: true })).toEqual({ ok: false, refusal });
  const sent = await world.must(sendMail, typo);
  expect(sent.recipients).toEqual(["bulider-1"]);
  expect(sent.warnings.join()).toContain('did you mean "builder-1"?');
});

test("mail to an agent that ended for good goes to its parent and says so", async () => {
  await using world = await mailWorld();
  await world.seat("lead-1", { capability: "lead" });
  await world.seat("dead-1", { parentName: "lead-1", state: "zombie", outcome: "crashed" });
  const sent = await world.must(sendMail, { ...words, to: "dead-1", type: "question" });
  expect(sent).toMatchObject({ address: "dead-1", recipients: ["lead-1"], woken: ["lead-1"] });
  expect(sent.warnings).toEqual(["dead-1 has ended, so the message goes to lead-1"]);
  const { message, deliveries } = await world.must(mailStatus, { id: sent.id ?? "" });
  expect(message.body).toContain("[forwarded: dead-1");
  expect(deliveries.map(({ toAgent, state }) => [toAgent, state])).toEqual([
    ["dead-1", "cancelled"],
    ["lead-1", "queued"],
  ]);
  const again = await world.must(sendMail, { ...words, to: "dead-1", type: "question" });
  expect(again).toMatchObject({ id: sent.id, duplicate: true, recipients: ["lead-1"] });
});

test("ordinary mail to a submitted agent is refused with what would reopen it; a question reopens it", async () => {
  await using world = await mailWorld();
  await world.seat("done-1", { state: "completed", outcome: "done" });
  const refused = await world.call(sendMail, { ...words, to: "done-1", type: "status" });
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "recipient-ended", state: "submitted" } });
  const sent = await world.must(sendMail, { ...words, to: "done-1", type: "question" });
  expect(sent).toMatchObject({ recipients: ["done-1"], woken: ["done-1"] });
  expect(await world.store.read((tx) => tx.agents.byName("done-1"))).toMatchObject({ generation: 2, revivals: 1 });
});

test("terminal mail to a parent that has ended reaches its nearest live ancestor without waking it", async () => {
  await using world = await mailWorld();
  await world.seat("coordinator", { capability: "coordinator" });
  await world.seat("lead-1", { capability: "lead", parentName: "coordinator", state: "completed", outcome: "done" });
  const builder = await world.seat("builder-1", { parentName: "lead-1", taskId: "T1" });
  const sent = await world.must(sendMail, { ...words, to: "lead-1", type: "worker_done" }, builder);
  expect(sent).toMatchObject({ recipients: ["coordinator"], woken: [] });
  expect(await world.queuedTurns()).toEqual([]);
});

test("a message belongs to the turn its sender is running, and to the sender's run", async () => {
  await using world = await mailWorld();
  const builder = await world.seat("builder-1");
  const turn = await world.beginTurn("builder-1");
  const { id } = await world.must(sendMail, { ...words, to: "operator" }, builder);
  const stored = await world.store.read((tx) => tx.messages.get(id ?? ""));
  expect(stored).toMatchObject({ turnId: turn.id, runId: "run-1", fromAgentId: "agent-builder-1" });
});

test("approving work of builders whom nobody reviewed warns, and does not block", async () => {
  await using world = await mailWorld();
  const lead = await world.seat("lead-1", { capability: "lead" });
  await world.seat("b1", { parentName: "lead-1" });
  await world.seat("b2", { parentName: "lead-1", state: "completed" });
  const ready = { ...words, to: "operator", type: "merge_ready", payload: '{"branch":"overstory/b1/T1"}' };
  const none = await world.must(sendMail, ready, lead);
  expect(none.warnings).toEqual([
    "REVIEW_SKIP: lead-1 had 2 builders and no reviewer; the work was reviewed only as far as lead-1 read it",
  ]);
  await world.seat("r1", { parentName: "lead-1", capability: "reviewer" });
  const few = await world.must(sendMail, { ...ready, body: "second" }, lead);
  expect(few.warnings).toEqual([
    "lead-1 had 2 builders but only 1 reviewer; some of the work may not have been reviewed",
  ]);
  await world.seat("r2", { parentName: "lead-1", capability: "reviewer" });
  expect((await world.must(sendMail, { ...ready, body: "third" }, lead)).warnings).toEqual([]);
});

test("a message that says nothing is refused and not stored", async () => {
  await using world = await mailWorld();
  for (const [field, empty] of [
    ["subject", ""],
    ["subject", " \n"],
    ["body", ""],
    ["body", "\t "],
  ] as const) {
    const refused = await world.call(sendMail, { ...words, to: "operator", [field]: empty });
    expect(refused).toMatchObject({ ok: false, refusal: { kind: "invalid", field } });
  }
  expect(await world.store.read((tx) => tx.messages.list({}))).toEqual([]);
});
