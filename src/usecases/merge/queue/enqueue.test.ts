import { expect, test } from "bun:test";
import { aTask } from "../../../../testkit/contracts/store/rows.ts";
import { builderBranch, type MergeWorld, mergeWorld } from "../../../../testkit/merge-queue-world.ts";
import { type Caller, operator } from "../../../domain/caller/caller.ts";
import type { Approval } from "../../../domain/merge/entry.ts";
import { changeState } from "../../agents/reopen-agent.ts";
import { replyToMail } from "../../mail/reply.ts";
import { sendMail } from "../../mail/send.ts";
import { closeTask } from "../../tasks/close-task.ts";
import { addMerge } from "./add-entry.ts";
import { mergeCounts, readyMerges } from "./queue-state.ts";
import { landed } from "./settle-entry.ts";

const ready = (branch = builderBranch) => ({
  to: "coordinator",
  subject: "ready",
  body: "please land it",
  type: "merge_ready",
  payload: JSON.stringify({ branch }),
});

test("a merge_ready puts the branch into the queue together with the mail", async () => {
  await using world = await mergeWorld();
  const entry = await world.announce();
  expect(entry).toMatchObject({
    branch: builderBranch,
    headCommit: "head-1",
    targetBranch: "main",
    taskId: "T1",
    agentName: "b1",
    runId: "run-2",
    // Git says which they are; the message may say anything.
    filesModified: [],
    dependsOn: [],
    priority: 1,
    source: "mail",
    enqueuedBy: "lead-1",
    status: "pending",
    approval: "parent",
  });
  expect((await world.store.read((tx) => tx.tasks.get("T1")))?.mergeState).toBe("queued");
  const events = await world.store.read((tx) => tx.events.after(0, 100));
  expect(events.map(({ type }) => type)).toEqual(["mail_sent", "merge_queued"]);
});

test("the answer to a merge_ready names the merge", async () => {
  await using world = await mergeWorld();
  const sent = await world.must(sendMail, ready(), world.lead);
  const [entry] = await world.store.read((tx) => tx.merges.list({ branch: builderBranch }));
  expect(sent.queued).toBe(entry?.id ?? -1);
  const plain = await world.must(sendMail, { to: "coordinator", subject: "news", body: "b" }, world.lead);
  expect(plain.queued).toBeNull();
});

test("a merge_ready that is refused queues nothing", async () => {
  await using world = await mergeWorld();
  const refused = await world.call(sendMail, { ...ready(), to: "nobody" }, { caller: world.lead });
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "not-found" } });
  const wrong = await world.call(sendMail, ready(), { caller: world.builder });
  expect(wrong).toMatchObject({ ok: false, refusal: { kind: "type-not-yours" } });
  expect(await world.entries()).toEqual([]);
});

test("a reviewer's branch, though it starts from the one it judges, is nothing to land: the sender is told so", async () => {
  await using world = await mergeWorld();
  const branch = "overstory/rev/T1";
  const seat = { capability: "reviewer", parentName: "lead-1", runId: "run-2", taskId: "T1", branch } as const;
  await world.seat("rev", { ...seat, baseRef: builderBranch });
  await world.must(sendMail, ready(branch), world.lead);
  expect(await world.entries()).toEqual([]);
  const [answer, ...more] = await world.mailOf("lead-1", "merge_failed");
  expect(answer?.body).toContain(`Did you mean ${builderBranch}?`);
  expect(more).toEqual([]);
  expect(await world.store.read((tx) => tx.waits.of("lead-1"))).toEqual([]);
});

test("no outcome of a read-only agent's branch closes the task that the agent looked at", async () => {
  await using world = await mergeWorld();
  const branch = "overstory/rev/T1";
  await world.seat("rev", { capability: "reviewer", parentName: "lead-1", runId: "run-2", taskId: "T1", branch });
  const { entry } = await world.must(addMerge, { branch, headCommit: "h1", approve: true });
  const one = { entry, tier: "clean-merge", strategy: null, verdict: "verified", commit: "c1" } as const;
  await world.asEngine((tx, context) => landed(tx, context, { opId: null, entries: [one] }));
  expect(await world.store.read((tx) => tx.tasks.get("T1"))).toMatchObject({
    status: "in_review",
    mergeState: "pending",
  });
});

test("the same announcement twice, by its key or by its words, is one entry", async () => {
  await using world = await mergeWorld();
  await world.announce({ dedupeKey: "k1" });
  const again = await world.must(sendMail, { ...ready(), dedupeKey: "k1" }, world.lead);
  expect(again.duplicate).toBe(true);
  await world.announce();
  expect(await world.entries()).toHaveLength(1);
  const events = await world.store.read((tx) => tx.events.after(0, 100));
  expect(events.filter(({ type }) => type === "merge_queued")).toHaveLength(1);
});

test("announcing a commit that has landed is refused and wakes nobody; a newer commit is queued", async () => {
  await using world = await mergeWorld();
  const entry = await world.announce();
  const one = { entry, tier: "clean-merge", strategy: null, verdict: "verified", commit: "c1" } as const;
  await world.asEngine((tx, context) => landed(tx, context, { opId: null, entries: [one] }));
  const before = await world.store.read((tx) => tx.messages.list({}));
  const refused = await world.call(sendMail, ready(), { caller: world.lead });
  const byHand = await world.call(addMerge, { branch: builderBranch, headCommit: "head-1" }, { caller: world.lead });
  for (const answer of [refused, byHand])
    expect(answer).toMatchObject({ ok: false, refusal: { problem: expect.stringContaining("has landed already") } });
  expect(await world.entries()).toHaveLength(1);
  expect(await world.store.read((tx) => tx.messages.list({}))).toEqual(before);
  await world.store.transaction((tx) =>
    tx.agents.inspected("agent-b1", { headCommit: "head-2", ahead: 2, dirty: false }),
  );
  expect(await world.announce()).toMatchObject({ status: "pending", headCommit: "head-2" });
});

test("an answer of type merge_ready queues as well", async () => {
  await using world = await mergeWorld();
  const asked = await world.must(
    sendMail,
    { to: "lead-1", subject: "done?", body: "?", type: "question" },
    world.coordinator,
  );
  const { type, payload, body } = ready();
  await world.must(replyToMail, { id: asked.id ?? "", body, type, payload }, world.lead);
  expect(await world.entries()).toHaveLength(1);
});

test("a newer head takes the place of the older one, and so for those who wait", async () => {
  await using world = await mergeWorld();
  const first = await world.announce();
  await world.store.transaction(async (tx) => {
    await tx.merges.insert({ ...first, branch: "other", dependsOn: [first.id, 99] });
    await tx.agents.inspected("agent-b1", { headCommit: "head-2", ahead: 2, dirty: false });
  });
  const second = await world.announce();
  const [old, waiting] = await world.entries();
  expect(old).toMatchObject({ id: first.id, status: "superseded", headCommit: "head-1" });
  expect(second).toMatchObject({ status: "pending", headCommit: "head-2" });
  expect(waiting?.dependsOn).toEqual([second.id, 99]);
  const waits = await world.store.read((tx) => tx.waits.of("lead-1"));
  expect(waits.map(({ kind, ref }) => [kind, ref])).toEqual([["merge", `merge:${second.id}`]]);
});

test("who announces again after a failure is waited for in place of what failed", async () => {
  await using world = await mergeWorld();
  const first = await world.announce();
  await world.store.transaction(async (tx) => {
    await tx.merges.insert({ ...first, branch: "other", dependsOn: [first.id] });
    await tx.merges.change(first.id, ["pending"], { status: "failed", cause: "gate_failed" });
  });
  const second = await world.announce();
  expect(second.id).not.toBe(first.id);
  expect((await world.entries()).find(({ branch }) => branch === "other")?.dependsOn).toEqual([second.id]);
});

test("an entry waits for those of the tasks its own depends on, also through tasks without code", async () => {
  await using world = await mergeWorld();
  const first = await world.announce();
  await world.store.transaction(async (tx) => {
    await tx.tasks.insert(aTask("T3"));
    await tx.tasks.addDependency({ taskId: "T3", dependsOn: "T2" });
  });
  await world.seat("b3", { parentName: "lead-1", taskId: "T3", branch: "overstory/b3/T3", runId: "run-2" });
  const third = await world.announce({ branch: "overstory/b3/T3" });
  expect(third).toMatchObject({ dependsOn: [first.id], headCommit: "" });
});

test("a branch that brings a task anew is waited for in place of the one that was taken out", async () => {
  await using world = await mergeWorld();
  const first = await world.announce();
  await world.store.transaction(async (tx) => {
    await tx.merges.insert({ ...first, branch: "other", taskId: "T2", dependsOn: [first.id], approval: "operator" });
    await tx.merges.change(first.id, ["pending"], { status: "reverted" });
  });
  await world.seat("b3", { parentName: "lead-1", taskId: "T1", branch: "overstory/b3/T1", runId: "run-2" });
  const anew = await world.announce({ branch: "overstory/b3/T1" });
  expect((await world.entries()).find(({ branch }) => branch === "other")?.dependsOn).toEqual([anew.id]);
});

test("a branch waits no longer for one that was taken out, when the task of that one is closed", async () => {
  await using world = await mergeWorld();
  const first = await world.announce();
  const waiting = await world.store.transaction(async (tx) => {
    await tx.merges.change(first.id, ["pending"], { status: "reverted" });
    const other = { ...first, branch: "other", taskId: "T2", approval: "operator" } as const;
    const id = await tx.merges.insert({ ...other, status: "pending", dependsOn: [first.id] });
    const task = await tx.tasks.get("T1");
    if (task !== undefined) await tx.tasks.update({ ...task, status: "open", claimedBy: null });
    return id;
  });
  const look = () =>
    world.asEngine(async (tx, context) => ({
      ready: (await readyMerges(tx, context)).map(({ id }) => id),
      isDue: await tx.merges.dueWork(context.now, ["operator"]),
      blocked: (await mergeCounts(tx, {})).blocked,
    }));
  const before = await look();
  expect(before).toMatchObject({ ready: [], isDue: false, blocked: [{ id: waiting }] });
  for (const word of [`#${first.id}, which was taken out again`, "ov sling T1", "--ignore-dependencies"]) {
    expect(`${before.blocked[0]?.why} ${before.blocked[0]?.next}`).toContain(word);
  }
  await world.must(closeTask, { id: "T1", reason: "done elsewhere" }, operator);
  expect(await look()).toEqual({ ready: [waiting], isDue: true, blocked: [] });
});

test("a branch of no agent is queued in nobody's name and waits for a person, unless the operator names a task", async () => {
  await using world = await mergeWorld();
  const waits = { agentName: null, taskId: null, headCommit: "", approval: "waiting" };
  expect(await world.announce({ branch: "overstory/ghost/T9" })).toMatchObject(waits);
  await world.must(sendMail, ready("overstory/ghost/T8"), operator);
  expect((await world.entries())[1]).toMatchObject({ agentName: "ghost", taskId: "T8", approval: "operator" });
});

test("whose task lands is on record, whatever the message says", async () => {
  await using world = await mergeWorld();
  const payload = JSON.stringify({ branch: builderBranch, taskId: "T2", agentName: "lead-1" });
  await world.must(sendMail, { ...ready(), payload }, world.lead);
  expect((await world.entries())[0]).toMatchObject({ taskId: "T1", agentName: "b1" });
});

const approvals: readonly [string, () => Promise<MergeWorld>, (world: MergeWorld) => Caller, Approval][] = [
  ["the recorded parent, with gates", () => mergeWorld(), ({ lead }) => lead, "parent"],
  ["the recorded parent, without gates", () => mergeWorld({}, { gated: false }), ({ lead }) => lead, "waiting"],
  [
    "the parent, where unverified work may land",
    () => mergeWorld({ unverified: "land" }, { gated: false }),
    ({ lead }) => lead,
    "parent",
  ],
  ["the parent, where each needs a decision", () => mergeWorld({ mode: "approve" }), ({ lead }) => lead, "waiting"],
  ["the parent, where a person says when", () => mergeWorld({ mode: "manual" }), ({ lead }) => lead, "parent"],
  ["the coordinator above a live parent", () => mergeWorld(), ({ coordinator }) => coordinator, "waiting"],
  ["the operator", () => mergeWorld({ mode: "approve" }, { gated: false }), () => operator, "operator"],
];

for (const [who, make, caller, expected] of approvals) {
  test(`announced by ${who}, a branch is ${expected}`, async () => {
    await using world = await make();
    const entry = await world.announce({ caller: caller(world) });
    expect(entry.approval).toBe(expected);
    const asked = await world.mailOf("operator", "decision_gate");
    expect(asked).toHaveLength(expected === "waiting" ? 1 : 0);
    const waits = await world.store.read((tx) => tx.waits.of("b1"));
    expect(waits.filter(({ kind }) => kind === "approval")).toHaveLength(expected === "waiting" ? 1 : 0);
  });
}

test("the coordinator speaks for a lead that has ended", async () => {
  await using world = await mergeWorld();
  await world.asEngine(async (tx) => {
    const lead = await tx.agents.byName("lead-1");
    if (lead === undefined) throw new Error("no lead");
    const end = { to: "zombie", actor: "engine", reason: "it crashed", outcome: "crashed" } as const;
    expect(await changeState(tx, lead, end, world.clock.now)).toBe(true);
  });
  expect((await world.announce({ caller: world.coordinator })).approval).toBe("parent");
});

test("no agent approves its own branch, nor a branch of another agent's child", async () => {
  await using world = await mergeWorld();
  const lead2 = await world.seat("lead-2", { capability: "lead", parentName: "coordinator", runId: "run-2" });
  await world.seat("b2", { parentName: "operator", branch: "overstory/b2/T2", taskId: "T2", runId: "run-2" });
  expect((await world.announce({ caller: lead2 })).approval).toBe("waiting");
  expect((await world.announce({ branch: "overstory/b2/T2" })).approval).toBe("waiting");
  const own = await world.seat("lead-3", { capability: "lead", branch: "overstory/lead-3/L3", runId: "run-2" });
  expect((await world.announce({ branch: "overstory/lead-3/L3", caller: own })).approval).toBe("waiting");
});

test("an approval that comes later is added to the place the branch has", async () => {
  await using world = await mergeWorld();
  const waiting = await world.announce({ caller: world.coordinator });
  const approved = await world.announce();
  expect(approved).toMatchObject({ id: waiting.id, approval: "parent" });
  expect(await world.store.read((tx) => tx.waits.of("b1"))).toEqual([]);
  expect((await world.announce({ caller: world.coordinator })).approval).toBe("parent");
});
