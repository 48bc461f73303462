import { expect, test } from "bun:test";
import { mailWorld, provenReport } from "../../../testkit/mail-world.ts";
import { activeRun } from "../../../testkit/use-case.ts";
import { requestDone } from "../completions/checks.ts";
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

const finishing = { ...words, to: "operator", type: "worker_done" };

test("an agent that says by mail that it is done asks for its completion; nothing is sent yet, and a repetition attaches", async () => {
  await using world = await mailWorld();
  const builder = await world.seat("builder-1", { taskId: "T1", parentName: "operator" });
  const first = await world.must(sendMail, { ...finishing, priority: "high", payload: '{"note":1}' }, builder);
  expect(first).toMatchObject({ id: null, recipients: ["operator"], woken: [], finish: { attached: false } });
  const again = await world.must(sendMail, { ...finishing, type: "result", body: "it still works" }, builder);
  expect(again.finish).toEqual({ id: first.finish?.id ?? "", attached: true });
  expect(await world.store.read((tx) => tx.messages.list({}))).toEqual([]);
  const [check, ...more] = await world.store.read((tx) => tx.checks.completionsOf("agent-builder-1"));
  expect(more).toEqual([]);
  expect(check).toMatchObject({
    status: "queued",
    requestedBy: "builder-1",
    request: { kind: "completion", done: { summary: "it still works", noCode: false, mail: { subject: "news" } } },
  });
});

test("mail that attaches to ov done keeps what the mail has no words for", async () => {
  await using world = await mailWorld();
  const builder = await world.seat("builder-1", { parentName: "operator" });
  await world.must(requestDone, { summary: "none", noCode: true, reason: "it was there" }, builder);
  await world.must(sendMail, finishing, builder);
  const [check] = await world.store.read((tx) => tx.checks.completionsOf("agent-builder-1"));
  expect(check?.request).toMatchObject({ done: { summary: "it works", noCode: true, noCodeReason: "it was there" } });
});

test("a report to anybody but the parent is refused, and so is one of an agent that has ended", async () => {
  await using world = await mailWorld();
  await world.seat("lead-1", { capability: "lead" });
  const builder = await world.seat("builder-1", { parentName: "lead-1" });
  for (const to of ["operator", "@all"]) {
    expect(await world.call(sendMail, { ...finishing, to }, { caller: builder })).toMatchObject({
      refusal: { kind: "not-allowed", why: expect.stringContaining("--to lead-1") },
    });
  }
  const over = await world.seat("builder-2", { parentName: "lead-1", state: "completed", outcome: "done" });
  expect(await world.call(sendMail, { ...finishing, to: "lead-1" }, { caller: over })).toMatchObject({
    refusal: { kind: "not-allowed", why: "it has ended (done)" },
  });
  expect(await world.store.read((tx) => tx.checks.queued())).toEqual([]);
});

test("a merger that gives up says so by plain mail", async () => {
  await using world = await mailWorld();
  const merger = await world.seat("m1", { capability: "merger", parentName: "operator" });
  const payload = JSON.stringify({ branch: "overstory/b/T1" });
  const failed = await world.must(sendMail, { ...finishing, type: "merge_failed", payload }, merger);
  expect(failed).toMatchObject({ id: expect.any(String), finish: null });
  const merged = { ...finishing, type: "merged", payload: JSON.stringify({ branch: "b", tier: "clean-merge" }) };
  expect(await world.must(sendMail, merged, merger)).toMatchObject({ id: null, finish: { attached: false } });
});

test("what the store knows is filled into the payload, and a report in an agent's name is marked as unproven", async () => {
  await using world = await mailWorld();
  const branch = "overstory/builder-1/T1";
  await world.seat("builder-1", { taskId: "T1", branch });
  const done = await world.must(sendMail, { ...finishing, from: "builder-1" });
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
  const sent = await world.must(provenReport, { ...words, to: "lead-1" }, builder);
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

test("a lead verifies two builders by itself; handing over the work of three without a reviewer warns, and does not block", async () => {
  await using world = await mailWorld();
  const lead = await world.seat("lead-1", { capability: "lead" });
  for (const name of ["b1", "b2"]) await world.seat(name, { parentName: "lead-1", state: "completed" });
  // Neither of an earlier run of the same name, nor with anything to review.
  await world.store.transaction((tx) => tx.runs.insert(activeRun("run-0", 1)));
  await world.seat("old", { parentName: "lead-1", state: "completed", runId: "run-0" });
  await world.seat("b3", { parentName: "lead-1" });
  const ready = { ...words, to: "operator", type: "merge_ready", payload: '{"branch":"overstory/b1/T1"}' };
  expect((await world.must(sendMail, ready, lead)).warnings).toEqual([]);
  await world.seat("b4", { parentName: "lead-1", state: "completed" });
  expect((await world.must(sendMail, { ...ready, body: "second" }, lead)).warnings).toEqual([
    "lead-1 had 3 builders and no reviewer; where their parts meet, have one read it: ov sling <task-id> --capability reviewer",
  ]);
  await world.seat("r1", { parentName: "lead-1", capability: "reviewer" });
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
