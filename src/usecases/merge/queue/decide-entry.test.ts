import { expect, test } from "bun:test";
import { builderBranch, mergeWorld } from "../../../../testkit/merge-queue-world.ts";
import { type Caller, operator } from "../../../domain/caller/caller.ts";
import { ok } from "../../../domain/result.ts";
import type { OperationName } from "../../catalog.ts";
import { endRun } from "../../runs/change-run.ts";
import { showRun } from "../../runs/read-runs.ts";
import { overview } from "../../status/overview.ts";
import { closeTask } from "../../tasks/close-task.ts";
import { listMerges, showMerge } from "../read-merges.ts";
import { addMerge } from "./add-entry.ts";
import { approveMerge, rejectMerge, resumeMerge, retryMerge } from "./decide-entry.ts";

const decisions: readonly [OperationName, unknown][] = [
  ["merge.recordApproval", { of: builderBranch }],
  ["merge.recordApproval", { all: true }],
  ["merge.reject", { of: builderBranch, reason: "no" }],
  ["merge.cancel", { of: builderBranch }],
  ["merge.requestUndo", { last: true }],
  ["merge.requestPromotion", {}],
];

for (const [name, request] of decisions) {
  test(`no agent may ${name} ${JSON.stringify(request)}, and who tries is on record`, async () => {
    await using world = await mergeWorld({ mode: "approve" });
    const entry = await world.announce();
    for (const agent of ["lead-1", "coordinator"]) {
      expect(await world.callAs(agent, name, request)).toMatchObject({
        ok: false,
        refusal: { kind: "not-allowed", caller: agent },
      });
      const [audited] = await world.store.read((tx) => tx.audit.list(1));
      expect(audited).toMatchObject({ caller: agent, action: name, refused: true });
    }
    expect(await world.entries()).toEqual([entry]);
  });
}

test("a builder cannot approve, add or retry its own branch", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const builder = await world.seat("b2", { parentName: "lead-1", branch: "overstory/b2/T2", runId: "run-2" });
  const entry = await world.announce({ branch: "overstory/b2/T2" });
  const refused = { ok: false, refusal: { kind: "not-allowed", caller: "b2" } };
  expect(await world.callAs("b2", "merge.recordApproval", { of: entry.branch })).toMatchObject(refused);
  const add = { branch: entry.branch, headCommit: "abc", approve: true };
  expect(await world.call(addMerge, add, { caller: builder })).toMatchObject(refused);
  await world.store.transaction((tx) => tx.merges.change(entry.id, ["pending"], { status: "failed" }));
  expect(await world.call(retryMerge, { of: entry.branch }, { caller: builder })).toMatchObject(refused);
  expect((await world.store.read((tx) => tx.audit.list(1)))[0]).toMatchObject({ caller: "b2", refused: true });
});

test("a lead adds and retries the branches of its own children only", async () => {
  await using world = await mergeWorld();
  const other = await world.seat("lead-2", { capability: "lead", parentName: "coordinator", runId: "run-2" });
  const add = (caller: Caller) => world.call(addMerge, { branch: builderBranch, headCommit: "abc" }, { caller });
  expect(await add(other)).toMatchObject({ ok: false, refusal: { kind: "not-allowed" } });
  expect(await add(world.lead)).toMatchObject(ok({ added: true, entry: { approval: "parent", source: "cli" } }));
  expect(await add(world.lead)).toMatchObject(ok({ added: false }));
});

test("what the operator adds waits, unless they say in the same breath that it may land", async () => {
  await using world = await mergeWorld();
  const request = { branch: "feature", headCommit: "abc", taskId: "T2", priority: 0 };
  const { entry } = await world.must(addMerge, request);
  expect(entry).toMatchObject({
    approval: "waiting",
    taskId: "T2",
    agentName: null,
    priority: 0,
    enqueuedBy: "operator",
  });
  expect((await world.must(addMerge, { ...request, approve: true })).entry).toMatchObject({
    id: entry.id,
    approval: "operator",
  });
  const bad = await world.call(addMerge, { ...request, priority: 5 });
  expect(bad).toMatchObject({ ok: false, refusal: { kind: "invalid", field: "priority" } });
});

test("while a branch waits for approval its run needs the operator; approving ends that", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { id } = await world.announce();
  expect(await world.must(showRun, { id: "run-2" })).toMatchObject({ status: "needs operator", approvals: [id] });
  expect(await world.must(overview, { all: false, mailbox: "operator" })).toMatchObject({
    openMerges: 1,
    approvals: [id],
  });
  const waits = () =>
    world.store.read(async (tx) => [...(await tx.waits.of("b1")), ...(await tx.waits.of("coordinator"))]);
  expect((await waits()).map(({ kind }) => kind)).toEqual(["approval", "approval"]);
  const { approved } = await world.must(approveMerge, { of: `#${id}` });
  expect(approved).toMatchObject([{ id, approval: "operator" }]);
  expect(await waits()).toEqual([]);
  expect(await world.must(showRun, { id: "run-2" })).toMatchObject({ status: "active", approvals: [] });
});

test("a run with a branch on its way does not complete", async () => {
  await using world = await mergeWorld();
  const { id } = await world.announce();
  await world.store.transaction(async (tx) => {
    await tx.agents.release("agent-b1", 1);
    await tx.agents.release("agent-lead-1", 1);
  });
  expect(await world.call(endRun, {})).toMatchObject({
    ok: false,
    refusal: { kind: "run-open", agents: [], branches: [builderBranch] },
  });
  await world.store.transaction((tx) => tx.merges.change(id, ["pending"], { status: "merged" }));
  for (const task of ["T1", "T2"]) await world.must(closeTask, { id: task });
  expect(await world.must(endRun, {})).toMatchObject({ status: "completed" });
});

test("approving all approves what is open, and in manual mode that is what starts it", async () => {
  await using world = await mergeWorld({ mode: "manual" });
  await world.announce();
  const places = async () => (await world.must(listMerges, {})).entries.map(({ place }) => place);
  expect(await places()).toEqual([null]);
  expect((await world.must(approveMerge, { all: true })).approved).toHaveLength(1);
  expect(await places()).toEqual([1]);
});

test("an ended entry cannot be approved, and an unknown entry is not found", async () => {
  await using world = await mergeWorld();
  const { id } = await world.announce();
  await world.store.transaction((tx) => tx.merges.change(id, ["pending"], { status: "merged" }));
  const refused = await world.call(approveMerge, { of: String(id) });
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "merge-status", status: "merged" } });
  const missing = await world.call(approveMerge, { of: "overstory/b1/T2" });
  expect(missing).toMatchObject({
    ok: false,
    refusal: { kind: "not-found", noun: "merge entry", nearest: builderBranch },
  });
});

test("a failed branch is tried again with its history and without its cause", async () => {
  await using world = await mergeWorld();
  const { id } = await world.announce();
  const failed = { status: "failed", attempts: 2, cause: "gate_failed", causeDetail: { message: "no" } } as const;
  await world.store.transaction((tx) => tx.merges.change(id, ["pending"], failed));
  const { entry } = await world.must(retryMerge, { of: String(id) }, world.lead);
  expect(entry).toMatchObject({ status: "pending", attempts: 2, cause: null, causeDetail: null, approval: "parent" });
  const again = await world.call(retryMerge, { of: String(id) });
  expect(again).toMatchObject({ ok: false, refusal: { kind: "merge-status", status: "pending" } });
});

test("a parent cannot overrule the operator's no; asking again asks the operator", async () => {
  await using world = await mergeWorld();
  const { id } = await world.announce();
  await world.must(rejectMerge, { of: String(id), reason: "no" });
  expect((await world.must(retryMerge, { of: String(id) }, world.lead)).entry.approval).toBe("waiting");
  expect(await world.mailOf("operator", "decision_gate")).toHaveLength(1);
  await world.store.transaction((tx) => tx.merges.change(id, ["pending"], { status: "failed" }));
  expect((await world.must(retryMerge, { of: String(id) }, operator)).entry.approval).toBe("operator");
});

test("a branch that was announced anew is not tried again under its old number", async () => {
  await using world = await mergeWorld();
  const { id } = await world.announce();
  await world.store.transaction((tx) => tx.merges.change(id, ["pending"], { status: "failed" }));
  const { id: instead } = await world.announce();
  const refused = await world.call(retryMerge, { of: String(id) });
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "merge-queued", entry: id, instead } });
});

test("a blocked branch is looked at again at once when asked for", async () => {
  await using world = await mergeWorld();
  const { id } = await world.announce();
  const later = world.clock.now + 60_000;
  const blocked = { status: "blocked", cause: "local_changes", notBefore: later } as const;
  await world.store.transaction((tx) => tx.merges.change(id, ["pending"], blocked));
  expect((await world.must(resumeMerge, { of: builderBranch })).entry).toMatchObject({
    status: "pending",
    notBefore: 0,
  });
});

test("an entry shows what it waits for, its attempts, gates, receipts and operations", async () => {
  await using world = await mergeWorld();
  const { id } = await world.announce();
  const waiting = await world.store.transaction(async (tx) => {
    const entry = await tx.merges.get(id);
    if (entry === undefined) throw new Error("no entry");
    return tx.merges.insert({ ...entry, branch: "other", dependsOn: [id] });
  });
  expect(await world.must(showMerge, { of: "other" })).toMatchObject({
    entry: { id: waiting },
    waitsFor: [id],
    place: null,
    attempts: [],
    gates: [],
    receipts: [],
    operations: [],
  });
  expect((await world.must(listMerges, { branch: builderBranch })).entries).toMatchObject([{ place: 1, waitsFor: [] }]);
  expect(await world.call(listMerges, { status: "pendign" })).toMatchObject({
    refusal: { kind: "invalid", nearest: "pending" },
  });
});
