import { expect, test } from "bun:test";
import { aCheck } from "../../../../testkit/contracts/store/checks.ts";
import { aTask } from "../../../../testkit/contracts/store/rows.ts";
import { builderBranch, type MergeWorld, mergeWorld } from "../../../../testkit/merge-queue-world.ts";
import { payloadFields } from "../../../domain/mail/payload.ts";
import type { MergeEntry } from "../../../domain/merge/entry.ts";
import { releaseAgentCommand, releaseIfDue } from "../../agents/release-agent.ts";
import { changeState } from "../../agents/reopen-agent.ts";
import { changedSince } from "../../mail/fold-mail.ts";
import { handOn } from "../../mail/hand-on.ts";
import { overview } from "../../status/overview.ts";
import { closeTask } from "../../tasks/close-task.ts";
import { newOp } from "../merge-records.ts";
import { notify } from "../notify.ts";
import { addMerge } from "./add-entry.ts";
import { cancelMerge, rejectMerge } from "./decide-entry.ts";
import { landed, rejected } from "./settle-entry.ts";

const land = (world: MergeWorld, entry: MergeEntry) =>
  world.asEngine((tx, context) =>
    landed(tx, context, {
      opId: "op-1",
      entries: [{ entry, tier: "clean-merge", strategy: null, verdict: "verified", commit: "c".repeat(40) }],
    }),
  );

const failure = {
  status: "failed",
  cause: "gate_failed",
  detail: { message: "Tests failed", gate: "Tests", logTail: "1 fail\n" },
} as const;

test("landing closes the task, lets the builder go and tells parent and coordinator, exactly once", async () => {
  await using world = await mergeWorld();
  const entry = await world.announce();
  expect(await land(world, entry)).toEqual([entry.id]);
  expect(await land(world, entry)).toEqual([]);

  expect((await world.entries())[0]).toMatchObject({
    status: "merged",
    tier: "clean-merge",
    verdict: "verified",
    resultCommit: "c".repeat(40),
  });
  const task = await world.store.read((tx) => tx.tasks.get("T1"));
  expect(task).toMatchObject({ status: "closed", mergeState: "merged" });
  expect((await world.agent("b1")).releasedAt).not.toBeNull();
  expect((await world.agent("lead-1")).releasedAt).toBeNull();

  const toLead = await world.mailOf("lead-1", "merged");
  const toCoordinator = await world.mailOf("coordinator", "merged");
  expect([toLead.length, toCoordinator.length, (await world.mailOf("b1", "merged")).length]).toEqual([1, 1, 0]);
  expect(payloadFields(toCoordinator[0]?.payload ?? null)).toMatchObject({
    branch: builderBranch,
    taskId: "T1",
    tier: "clean-merge",
    opId: "op-1",
    queueId: entry.id,
    readyTasks: ["T2"],
  });
  expect(await world.queuedTurns()).toEqual(["coordinator", "lead-1"]);
  const events = (await world.store.read((tx) => tx.events.after(0, 200))).map(({ type }) => type);
  expect(events.filter((type) => type === "merge_landed")).toHaveLength(1);
  expect(await world.store.read((tx) => tx.waits.of("lead-1"))).toEqual([]);
});

test("L6: tasks that can be started are told to the lead whose task they are part of, and not to the coordinator", async () => {
  await using world = await mergeWorld();
  await world.asEngine(async (tx) => {
    await tx.tasks.insert(aTask("L1", { runId: "run-2", status: "in_progress", claimedBy: "lead-1" }));
    const task = await tx.tasks.get("T2");
    if (task !== undefined) await tx.tasks.update({ ...task, parentId: "L1" });
  });
  await land(world, await world.announce());
  expect(await world.mailOf("coordinator", "merged")).toEqual([]);
  const [news, ...more] = await world.mailOf("lead-1", "merged");
  expect(more).toEqual([]);
  expect(news?.body).toContain("Ready to be started now: T2");
  expect(await world.queuedTurns()).toEqual(["lead-1"]);
});

test("L5: that a branch landed starts no turn of a parent that has others at work or landing", async () => {
  await using world = await mergeWorld();
  const beside = { capability: "builder", parentName: "lead-1", runId: "run-2" } as const;
  await world.seat("b2", { ...beside, branch: "overstory/b2/T9", taskId: "T9", state: "in_turn" });
  await world.asEngine(async (tx) => {
    for (const { taskId, dependsOn } of await tx.tasks.dependencies()) {
      await tx.tasks.removeDependency({ taskId, dependsOn });
    }
  });
  await land(world, await world.announce());
  const [news] = await world.mailOf("lead-1", "merged");
  const told = await world.store.read((tx) => tx.deliveries.get(news?.seq ?? 0, "lead-1"));
  expect(told).toMatchObject({ state: "queued", wake: false, wakeReason: null });
});

test("the mail to an ended owner is on record as forwarded to who reads it", async () => {
  await using world = await mergeWorld();
  await land(world, await world.announce());
  const [message] = await world.mailOf("lead-1", "merged");
  const deliveries = await world.store.read((tx) => tx.deliveries.ofMessage(message?.seq ?? 0));
  expect(deliveries.map(({ toAgent, state, wake }) => [toAgent, state, wake])).toEqual([
    ["b1", "cancelled", false],
    ["lead-1", "queued", true],
  ]);
});

test("a branch whose agent works again lands without taking its worktree away", async () => {
  await using world = await mergeWorld();
  const entry = await world.announce();
  await world.seat("b1", { ...(await world.agent("b1")), id: "agent-b1-2", generation: 2, state: "between_turns" });
  await land(world, entry);
  expect((await world.agent("b1")).releasedAt).toBeNull();
  expect(await world.mailOf("b1", "merged")).toHaveLength(1);
});

test("tasks stay open where landing is not to close them", async () => {
  await using world = await mergeWorld({ closeTask: false });
  await land(world, await world.announce());
  const task = await world.store.read((tx) => tx.tasks.get("T1"));
  expect(task).toMatchObject({ status: "in_review", mergeState: "merged" });
});

test("a task that a person closed before its branch landed says that it has landed", async () => {
  await using world = await mergeWorld();
  const entry = await world.announce();
  await world.must(closeTask, { id: "T1", reason: "it will land" });
  expect(await world.store.read((tx) => tx.tasks.get("T1"))).toMatchObject({ status: "closed", mergeState: "queued" });
  await land(world, entry);
  const task = await world.store.read((tx) => tx.tasks.get("T1"));
  expect(task).toMatchObject({ status: "closed", mergeState: "merged", closeReason: "it will land" });
});

test("a task with another branch on its way stays open", async () => {
  await using world = await mergeWorld();
  const entry = await world.announce();
  await world.store.transaction((tx) => tx.merges.insert({ ...entry, branch: "overstory/b9/T1" }));
  await land(world, entry);
  expect(await world.store.read((tx) => tx.tasks.get("T1"))).toMatchObject({ status: "in_review" });
});

test("what became visible counts as merged, whatever happened to the entry meanwhile", async () => {
  await using world = await mergeWorld();
  const entry = await world.announce();
  await world.store.transaction((tx) => tx.merges.change(entry.id, ["pending"], { status: "superseded" }));
  expect(await land(world, entry)).toEqual([entry.id]);
});

test("a failure brings the builder back to work with the cause, and tells its parent, once", async () => {
  await using world = await mergeWorld();
  const entry = await world.announce();
  const reject = () => world.asEngine((tx, context) => rejected(tx, context, entry, failure));
  expect([await reject(), await reject()]).toEqual([{ agentName: "b1", isBack: true }, undefined]);

  expect(await world.agent("b1")).toMatchObject({ generation: 2, state: "between_turns", revivals: 1 });
  const [mail, ...more] = await world.mailOf("b1", "merge_failed");
  expect(more).toEqual([]);
  expect(mail?.body).toContain("1 fail");
  expect(payloadFields(mail?.payload ?? null)).toMatchObject({
    branch: builderBranch,
    taskId: "T1",
    conflictFiles: [],
    errorMessage: "Tests failed",
    cause: "gate_failed",
    gate: "Tests",
    suggestion: expect.stringContaining("gate"),
  });
  expect(mail?.body).toContain(
    "Who acts: b1 is at work on it and finishes again; then lead-1 hands the branch over again",
  );
  const [told, ...again] = await world.mailOf("lead-1", "merge_failed");
  expect(again).toEqual([]);
  expect(told?.body).toBe(mail?.body ?? "");
  // The builder acts, so nobody else has something to do.
  expect(await world.queuedTurns()).toEqual(["b1"]);
  expect((await world.store.read((tx) => tx.tasks.get("T1")))?.mergeState).toBe("failed");
  expect((await world.entries())[0]).toMatchObject({ status: "failed", cause: "gate_failed" });
});

test("a failure does not start a stopped agent", async () => {
  await using world = await mergeWorld();
  const branch = "overstory/b9/T9";
  const facts = { id: "agent-b9", name: "b9", branch, taskId: "T9", outcome: "stopped" } as const;
  await world.seat("b9", { ...(await world.agent("b1")), ...facts });
  const { entry } = await world.must(addMerge, { branch, headCommit: "head-1", approve: true });
  await world.asEngine((tx, context) => rejected(tx, context, entry, failure));
  expect(await world.agent("b9")).toMatchObject({ generation: 1, state: "completed", outcome: "stopped" });
  expect(await world.queuedTurns()).toEqual(["lead-1"]);
  const [told] = await world.mailOf("lead-1", "merge_failed");
  expect(told?.body).toContain("Who acts: lead-1 decides; b9 was not started again");
});

test("if builder and parent have both ended, the agent above them gets the failure and a turn for it", async () => {
  await using world = await mergeWorld();
  const entry = await world.announce();
  await world.store.transaction((tx) => tx.agents.release("agent-b1", 1));
  await world.asEngine(async (tx, context) => {
    const lead = await tx.agents.byName("lead-1");
    if (lead === undefined) throw new Error("lead-1 is gone");
    await changeState(tx, lead, { to: "completed", outcome: "done", actor: "test", reason: "done" }, context.now);
    await rejected(tx, context, entry, failure);
  });
  expect(await world.queuedTurns()).toEqual(["coordinator"]);
  const [told, ...more] = await world.mailOf("coordinator", "merge_failed");
  expect(more).toEqual([]);
  expect(told?.body).toContain("Who acts: coordinator decides; b1 was not started again");
});

test("a lead whose completion was accepted hands nothing over again, though its last turn still runs", async () => {
  await using world = await mergeWorld();
  const entry = await world.announce();
  const { id } = await world.agent("lead-1");
  const accepted = aCheck("check-1", { kind: "completion", agentId: id, agentName: "lead-1", status: "done" });
  await world.store.transaction((tx) => tx.checks.insert(accepted));
  await world.asEngine((tx, context) => rejected(tx, context, entry, failure));
  const [mail] = await world.mailOf("b1", "merge_failed");
  expect(mail?.body).toContain("then coordinator hands the branch over again");
  expect(await world.mailOf("coordinator", "merge_failed")).toHaveLength(1);
});

test("an announcement that is read late says what became of the branch", async () => {
  await using world = await mergeWorld();
  const entry = await world.announce();
  const [ready] = await world.store.read((tx) => tx.messages.list({ type: "merge_ready" }));
  const since = (message = ready) =>
    world.store.read(async (tx) => (message === undefined ? "no message" : changedSince(tx, message)));
  expect(await since()).toBeUndefined();
  await world.asEngine((tx, context) => rejected(tx, context, entry, failure));
  expect(await since()).toBe("it did not land (merge 1)");
  const [failed] = await world.mailOf("lead-1", "merge_failed");
  expect(await since(failed)).toBeUndefined();
  const receipt = {
    id: "receipt-1",
    kind: "completion",
    subject: "b1#2",
    baseCommit: null,
    headCommit: "head-2",
    tree: "tree-2",
    verdict: "verified",
    results: [],
    gaps: [],
    createdAt: world.clock.now,
  } as const;
  await world.store.transaction((tx) => tx.receipts.add(receipt));
  expect(await since(failed)).toBe("b1 has finished again; the branch is not handed over yet");
  await land(world, entry);
  expect(await since()).toBe("it has landed (merge 1)");
});

test("where the builder cannot come back, its parent gets the failure once, and the builder goes when it may", async () => {
  await using world = await mergeWorld();
  const entry = await world.announce();
  await world.store.transaction((tx) => tx.agents.release("agent-b1", 1));
  await world.asEngine((tx, context) => rejected(tx, context, entry, failure));
  expect((await world.agent("b1")).generation).toBe(1);
  expect(await world.mailOf("lead-1", "merge_failed")).toHaveLength(1);
});

test("a failure of a branch nobody owns goes back to who announced it", async () => {
  await using world = await mergeWorld();
  const entry = await world.announce({ branch: "overstory/ghost/T9" });
  const missing = { status: "failed", cause: "missing_ref", detail: { message: "no such branch" } } as const;
  await world.asEngine((tx, context) => rejected(tx, context, entry, missing));
  expect(await world.mailOf("lead-1", "merge_failed")).toHaveLength(1);
});

test("the operator's no sends the builder back with the reason", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  await world.announce();
  const { entry } = await world.must(rejectMerge, { of: builderBranch, reason: "wrong approach" });
  expect(entry).toMatchObject({ status: "failed", approval: "denied", cause: "approval_denied" });
  expect(await world.agent("b1")).toMatchObject({ generation: 2 });
  expect((await world.mailOf("b1", "merge_failed"))[0]?.body).toContain("wrong approach");
  expect(await world.store.read((tx) => tx.waits.of("coordinator"))).toEqual([]);
  const again = await world.call(rejectMerge, { of: builderBranch, reason: "once more" });
  expect(again).toMatchObject({ ok: false, refusal: { kind: "merge-status", status: "failed" } });
});

test("a landing that may be visible already can be neither rejected nor cancelled", async () => {
  await using world = await mergeWorld();
  const { id } = await world.announce();
  await world.asEngine((tx, context) => newOp(tx, context, { kind: "land", ref: "refs/heads/main", queueIds: [id] }));
  const busy = { ok: false, refusal: { kind: "busy" } };
  expect(await world.call(rejectMerge, { of: String(id), reason: "no" })).toMatchObject(busy);
  expect(await world.call(cancelMerge, { of: String(id) })).toMatchObject(busy);
});

test("a cancelled branch reopens nobody, and wakes who waited for it", async () => {
  await using world = await mergeWorld();
  await world.announce();
  const { entry } = await world.must(cancelMerge, { of: builderBranch });
  expect(entry.status).toBe("cancelled");
  expect((await world.agent("b1")).generation).toBe(1);
  expect(await world.mailOf("lead-1", "status")).toHaveLength(1);
  expect(await world.queuedTurns()).toContain("lead-1");
  expect((await world.store.read((tx) => tx.tasks.get("T1")))?.mergeState).toBe("abandoned");
});

test("the task of a cancelled or released branch is ready again, and the record says who gave it up", async () => {
  for (const end of ["cancel", "release"] as const) {
    await using world = await mergeWorld();
    const task = () => world.store.read((tx) => tx.tasks.get("T1"));
    await world.store.transaction(async (tx) => {
      const held = await tx.tasks.get("T1");
      if (held !== undefined) await tx.tasks.update({ ...held, claimedBy: "b1" });
    });
    if (end === "cancel") await world.announce();
    if (end === "cancel") await world.must(cancelMerge, { of: builderBranch });
    else await world.must(releaseAgentCommand, { name: "b1" });
    expect(await task()).toMatchObject({ status: "open", claimedBy: null, mergeState: "abandoned" });
    const events = await world.store.read((tx) => tx.events.after(0, 999));
    const returned = events.filter(({ type }) => type === "task_returned");
    expect(returned.map(({ data }) => data ?? "").join()).toContain("operator");
    const { agents } = await world.must(overview, { all: true, mailbox: "operator" });
    expect(agents.find(({ agent }) => agent.name === "b1")).toMatchObject({ landedNowhere: true });
  }
});

test("releasing an agent leaves its task alone while its branch may land", async () => {
  await using world = await mergeWorld();
  await world.announce();
  await world.must(releaseAgentCommand, { name: "b1" });
  expect(await world.store.read((tx) => tx.tasks.get("T1"))).toMatchObject({ status: "in_review" });
});

test("a submitted builder stays while its branch may land, and goes when that is decided", async () => {
  await using world = await mergeWorld();
  const branch = "overstory/b2/T2";
  const submitted = { state: "completed", outcome: "done", ahead: 1, headCommit: "h2" } as const;
  await world.seat("b2", { ...submitted, branch, runId: "run-2", startedAt: world.clock.now });
  const goes = () =>
    world.asEngine(async (tx, context) => {
      const agent = await tx.agents.byName("b2");
      return agent === undefined ? [] : releaseIfDue(tx, context, agent);
    });
  expect(await goes()).toEqual([]);
  await world.must(addMerge, { branch, headCommit: "h2", approve: true });
  expect(await goes()).toEqual([]);
  await world.must(cancelMerge, { of: branch });
  expect((await world.agent("b2")).releasedAt).not.toBeNull();
});

test("called back after a failure, a builder stays until it has announced its work again", async () => {
  await using world = await mergeWorld();
  const branch = "overstory/b2/T2";
  const submitted = { state: "completed", outcome: "done", ahead: 1, headCommit: "h2" } as const;
  await world.seat("b2", { ...submitted, branch, runId: "run-2", startedAt: world.clock.now });
  const { entry } = await world.must(addMerge, { branch, headCommit: "h2", approve: true });
  world.clock.now += 1000;
  await world.asEngine((tx, context) => rejected(tx, context, entry, failure));
  await world.asEngine(async (tx, context) => {
    const agent = await tx.agents.byName("b2");
    if (agent === undefined) throw new Error("b2 is gone");
    await changeState(tx, agent, { to: "completed", outcome: "done", actor: "test", reason: "done" }, context.now);
    const done = await tx.agents.byName("b2");
    expect(done === undefined ? [] : await releaseIfDue(tx, context, done)).toEqual([]);
  });
  expect(await world.agent("b2")).toMatchObject({ generation: 2, releasedAt: null });
});

test("unread mail of an ended agent is not handed on to an agent that was told the same", async () => {
  await using world = await mergeWorld();
  const notice = { subject: "branches collide", body: "in a.ts", payload: "{}", type: "status" } as const;
  const tell = () =>
    world.asEngine((tx, context) =>
      notify(tx, context, ["lead-1", "coordinator", "operator"], { ...notice, priority: "normal", runId: "run-2" }),
    );
  const handOnAll = () =>
    world.asEngine(async (tx, context) => {
      for (const name of ["lead-1", "coordinator"]) {
        for (const mail of await tx.deliveries.inState(name, ["queued"])) await handOn(tx, context, mail, "operator");
      }
    });
  await tell();
  await handOnAll();
  expect(await world.mailOf("operator", "status")).toHaveLength(1);
  world.clock.now += 1000;
  await tell();
  await handOnAll();
  expect(await world.mailOf("operator", "status")).toHaveLength(2);
});
