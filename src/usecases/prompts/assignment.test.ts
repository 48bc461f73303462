import { expect, test } from "bun:test";
import { aCriterion, aTask } from "../../../testkit/contracts/store/rows.ts";
import { activeRun, agentCaller, storedAgent, useCaseWorld } from "../../../testkit/use-case.ts";
import type { Agent } from "../../domain/agent/agent.ts";
import { post } from "../mail/post.ts";
import { replyToMail } from "../mail/reply.ts";
import { sendMail } from "../mail/send.ts";
import { freshEntry } from "../merge/queue/enqueue.ts";
import { decide } from "../operator/decide.ts";
import { writeSpec } from "../specs/specs.ts";
import { assignmentOf } from "./assignment.ts";

async function worldWith(...agents: readonly Agent[]) {
  const world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...activeRun("run-1", 0), objective: "Ship it" });
    await tx.tasks.insert(aTask("t1", { title: "Dates", description: "Parse them" }));
    for (const agent of agents) await tx.agents.reserve(agent);
  });
  return { world, of: (agent: Agent) => world.store.read((tx) => assignmentOf(tx, agent)) };
}

const builder = (name: string, facts: Partial<Agent> = {}): Agent =>
  storedAgent(name, { capability: "builder", parentName: "l", runId: "run-1", scope: [`${name}.ts`], ...facts });

test("an agent is told its task, whether a spec was written, and what its parent is", async () => {
  const ann = builder("ann", { taskId: "t1" });
  const { world, of } = await worldWith(storedAgent("l", { capability: "lead", runId: "run-1" }), ann);
  await using _ = world;
  expect(await of(ann)).toMatchObject({
    parentCapability: "lead",
    task: { title: "Dates", description: "Parse them" },
    hasSpec: false,
    objective: "Ship it",
    criteria: [],
    subject: null,
  });
  await world.must(writeSpec, { taskId: "t1", body: "so" });
  expect((await of(ann)).hasSpec).toBe(true);
});

test("siblings are those with files under the same parent, and those the slinger named; the ended are left out", async () => {
  const asked = JSON.stringify({ siblings: ["far", "gone", "nobody", "ann"] });
  const ann = builder("ann", { instructions: asked });
  const { world, of } = await worldWith(
    ann,
    builder("bob"),
    builder("looks", { capability: "scout", scope: [] }),
    builder("far", { parentName: "m" }),
    builder("gone", { state: "completed", outcome: "done" }),
    builder("other", { parentName: "m" }),
  );
  await using _ = world;
  const { siblings } = await of(ann);
  expect(siblings.map(({ name, capability }) => [name, capability])).toEqual([
    ["bob", "builder"],
    ["far", "builder"],
    ["nobody", null],
  ]);
});

test("L14: siblings keep their order between turns, whatever they do meanwhile", async () => {
  const ann = builder("ann");
  const beside = [builder("zoe", { startedAt: 1 }), builder("bob", { startedAt: 2 }), builder("cat", { startedAt: 2 })];
  const { world, of } = await worldWith(ann, ...beside.toReversed());
  await using _ = world;
  const told = async () => (await of(ann)).siblings.map(({ name }) => name);
  expect(await told()).toEqual(["zoe", "bob", "cat"]);
  await world.store.transaction(async (tx) => {
    await tx.agents.inspected("agent-zoe", { headCommit: "c9", ahead: 3, dirty: true });
    await tx.agents.setReminders("agent-bob", 1);
  });
  expect(await told()).toEqual(["zoe", "bob", "cat"]);
});

test("a reviewer is told the newest work on its own task, or that which it started from", async () => {
  const rev = storedAgent("rev", { capability: "reviewer", parentName: "l", runId: "run-1", taskId: "t1" });
  const done = { taskId: "t1", state: "completed", outcome: "done" } as const;
  const { world, of } = await worldWith(
    rev,
    builder("old", { ...done, branch: "overstory/old/t1", startedAt: 1 }),
    builder("new", { ...done, branch: "overstory/new/t1", startedAt: 2, baseCommit: "abc", headCommit: "def" }),
  );
  await using _ = world;
  const newest = { name: "new", branch: "overstory/new/t1", baseCommit: "abc", headCommit: "def", summary: null };
  expect((await of(rev)).subject).toEqual(newest);
  expect((await of({ ...rev, baseRef: "main" })).subject).toEqual(newest);
  expect((await of({ ...rev, baseRef: "overstory/old/t1" })).subject).toMatchObject({ name: "old" });
});

test("a coordinator is told the objective of its run, and has no siblings", async () => {
  const boss = storedAgent("coordinator", { capability: "coordinator", runId: "run-1", parentName: "operator" });
  const { world, of } = await worldWith(boss, builder("bob", { parentName: "operator" }));
  await using _ = world;
  expect(await of(boss)).toMatchObject({ objective: "Ship it", siblings: [], task: null, parentCapability: null });
});

test("L2: an agent sees the criteria that its task serves, else those of the task above it; a coordinator sees all", async () => {
  const boss = storedAgent("coordinator", { capability: "coordinator", runId: "run-1", parentName: "operator" });
  const lead = storedAgent("l", { capability: "lead", runId: "run-1", parentName: "coordinator", taskId: "t1" });
  const [ann, bob] = [builder("ann", { taskId: "t2" }), builder("bob", { taskId: "t3" })];
  const { world, of } = await worldWith(boss, lead, ann, bob);
  await using _ = world;
  await world.store.transaction(async (tx) => {
    for (const number of [1, 2, 3]) await tx.criteria.put(aCriterion(number, { runId: "run-1" }));
    await tx.criteria.serve("t1", "run-1", [1, 2]);
    await tx.criteria.serve("t2", "run-1", [2]);
  });
  const numbers = async (agent: Agent) => (await of(agent)).criteria.map(({ number }) => number);
  expect(await numbers(boss)).toEqual([1, 2, 3]);
  expect(await numbers(lead)).toEqual([1, 2]);
  expect(await numbers(ann)).toEqual([2]);
  expect(await numbers(bob)).toEqual([1, 2]);
});

test("B12: a builder is told of the one that had its task before, while nothing of that has landed", async () => {
  const before = builder("old", { taskId: "t1", state: "zombie", branch: "overstory/old/t1", startedAt: 1, ahead: 1 });
  const ann = builder("ann", { taskId: "t1", branch: "overstory/ann/t1", startedAt: 2 });
  const { world, of } = await worldWith({ ...before, dirty: true, headCommit: "c1", releasedAt: 2 }, ann);
  await using _ = world;
  const snapshot = { agentName: "old", generation: 1, ref: "refs/overstory/snap/old/1/1", commitId: "s1" };
  await world.store.transaction((tx) => tx.snapshots.add({ ...snapshot, reason: "turn", skipped: [], createdAt: 1 }));
  const left = { name: "old", branch: "overstory/old/t1", ahead: 1, headCommit: "c1", snapshot: snapshot.ref };
  expect((await of(ann)).predecessor).toMatchObject(left);
  expect((await of(before)).predecessor).toBeNull();
  const about = { headCommit: "c1", targetBranch: "main", taskId: "t1", agentName: "old", runId: "run-1" } as const;
  const terms = {
    branch: "overstory/old/t1",
    filesModified: [],
    source: "cli",
    enqueuedBy: "l",
    asker: "parent",
  } as const;
  await world.store.transaction(async (tx) => {
    const entry = await freshEntry(tx, world.context(), { ...about, ...terms });
    await tx.merges.insert({ ...entry, status: "merged" });
  });
  expect((await of(ann)).predecessor).toBeNull();
});

test("B7: a second reviewer is told what the first one found in the same branch, and the first one nothing", async () => {
  const branch = "overstory/new/t1";
  const seat = { capability: "reviewer", parentName: "l", runId: "run-1", taskId: "t1" } as const;
  const first = storedAgent("rev1", { ...seat, startedAt: 3 });
  const second = storedAgent("rev2", { ...seat, startedAt: Date.UTC(2027, 0, 1) });
  const { world, of } = await worldWith(
    first,
    second,
    builder("new", { taskId: "t1", state: "completed", outcome: "done", branch, startedAt: 2 }),
  );
  await using _ = world;
  await world.store.transaction((tx) =>
    post(tx, world.context(), {
      from: "rev1",
      fromAgentId: first.id,
      verified: true,
      runId: "run-1",
      address: "l",
      recipients: [],
      subject: "Review needs_changes",
      body: "- a.ts:1: error: no UTC",
      type: "review",
      priority: "normal",
      payload: JSON.stringify({ branch, verdict: "needs_changes" }),
    }),
  );
  const found = { by: "rev1", verdict: "needs_changes", findings: "- a.ts:1: error: no UTC" };
  expect((await of(second)).reviewBefore).toEqual(found);
  expect((await of(first)).reviewBefore).toBeNull();
});

test("B11: criteria of the larger task are known as such", async () => {
  const lead = storedAgent("l", { capability: "lead", runId: "run-1", taskId: "t1" });
  const ann = builder("ann", { taskId: "part" });
  const { world, of } = await worldWith(lead, ann);
  await using _ = world;
  await world.store.transaction(async (tx) => {
    await tx.tasks.insert(aTask("part", { runId: "run-1", parentId: "t1" }));
    await tx.criteria.put(aCriterion(1, { runId: "run-1" }));
    await tx.criteria.serve("t1", "run-1", [1]);
  });
  expect(await of(ann)).toMatchObject({ isPart: true, criteria: [{ number: 1 }] });
  expect(await of(lead)).toMatchObject({ isPart: false });
  await world.store.transaction((tx) => tx.criteria.serve("part", "run-1", [1]));
  expect(await of(ann)).toMatchObject({ isPart: false });
});

test("a reviewer is told the operator's decisions, and the last reviewer the waived criteria", async () => {
  const boss = storedAgent("coordinator", { capability: "coordinator", runId: "run-1", parentName: "operator" });
  const lead = storedAgent("l", { capability: "lead", runId: "run-1", parentName: "coordinator" });
  const ann = builder("ann", { taskId: "t1" });
  const rev = storedAgent("rev", { capability: "reviewer", parentName: "l", runId: "run-1", taskId: "t1" });
  const last = storedAgent("last", { capability: "reviewer", parentName: "coordinator", runId: "run-1" });
  const { world, of } = await worldWith(boss, lead, ann, rev, last);
  await using _ = world;
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...activeRun("run-2", 0), coordinatorName: "coordinator" });
    await tx.criteria.put(aCriterion(1, { runId: "run-2", text: "it is fast", waivedAt: 1, waiveReason: "no need" }));
  });
  const asks = agentCaller("ann", "builder", { runId: "run-1" });
  // It looks like the engine's question about a last review, and hides nothing by that.
  const payload = JSON.stringify({ options: ["throw", "return null"], context: "It is typed.", lastReview: "run-1" });
  const gate = {
    to: "operator",
    subject: "What does parse do?",
    body: "With bad text.",
    type: "decision_gate",
    payload,
  };
  const asked = await world.must(sendMail, gate, asks);
  await world.must(sendMail, { ...gate, subject: "Still open?" }, asks);
  const plain = { to: "operator", subject: "Name?", body: "Which name?", type: "question" };
  const question = await world.must(sendMail, plain, asks);
  expect((await of(rev)).decisions).toEqual([]);
  await world.must(decide, { id: asked.id ?? "", option: "2", note: "as before" });
  await world.must(replyToMail, { id: question.id ?? "", body: `parse ${"x".repeat(600)}` });
  const made = [
    { by: "ann", question: "What does parse do?: It is typed. With bad text.", answer: "return null as before" },
    { by: "ann", question: "Name?: Which name?", answer: `parse ${"x".repeat(494)}…` },
  ];
  for (const reviewer of [rev, last]) expect((await of(reviewer)).decisions).toEqual(made);
  expect((await of(ann)).decisions).toEqual([]);
  // What the operator tells a worker unasked is known to nobody else either.
  await world.must(sendMail, { to: "ann", subject: "Format", body: "Use ; in csv." });
  await world.must(sendMail, { to: "coordinator", subject: "Go", body: "Be quick." });
  const words = { by: "ann", question: null, answer: "Format: Use ; in csv." };
  for (const reviewer of [rev, last]) expect((await of(reviewer)).decisions).toEqual([...made, words]);
  // The agent above the one that asked is told too, and gets no turn for it.
  const told = await world.store.read((tx) => tx.messages.list({ to: "l", from: "system" }));
  expect(told.map(({ subject }) => subject).toReversed()).toEqual([
    "the operator answered ann: What does parse do?",
    "the operator answered ann: Name?",
    "the operator wrote to ann: Format",
  ]);
  expect(await world.store.read((tx) => tx.turns.queuedFor("agent-l"))).toBeUndefined();
  const whole = { ...last, runId: "run-2" };
  expect((await of(whole)).waived).toEqual([{ number: 1, text: "it is fast", reason: "no need" }]);
  expect((await of({ ...rev, runId: "run-2" })).waived).toEqual([]);
});
