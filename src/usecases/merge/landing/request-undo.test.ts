import { expect, test } from "bun:test";
import { aTask } from "../../../../testkit/contracts/store/rows.ts";
import { builderBranch, type MergeWorld, mergeWorld } from "../../../../testkit/merge-queue-world.ts";
import { storedAgent } from "../../../../testkit/use-case.ts";
import type { MergeEntry } from "../../../domain/merge/entry.ts";
import { newOp } from "../merge-records.ts";
import { landed } from "../queue/settle-entry.ts";
import { mergeLog } from "../read-merges.ts";
import { requestPromote } from "./promotion.ts";
import { planUndo, requestUndo } from "./request-undo.ts";
import { undone } from "./settle-undo.ts";

/** Lands the builder's branch and another together, as one operation. */
async function landTwo(world: MergeWorld): Promise<{ opId: string; first: MergeEntry; second: MergeEntry }> {
  const first = await world.announce();
  const second = await world.announce({ branch: "overstory/ghost/T9" });
  return world.asEngine(async (tx, context) => {
    const queueIds = [first.id, second.id];
    const op = await newOp(tx, context, { kind: "land", ref: "refs/heads/main", queueIds, beforeCommit: "c0" });
    await tx.mergeOps.settle(op.id, { status: "done", afterCommit: "c2", updatedAt: context.now });
    const how = { tier: "clean-merge", strategy: null, verdict: "verified" } as const;
    const entries = [
      { entry: first, commit: "c1", ...how },
      { entry: second, commit: "c2", ...how },
    ];
    await landed(tx, context, { opId: op.id, entries });
    return { opId: op.id, first, second };
  });
}

const settle = (world: MergeWorld, id: string) =>
  world.asEngine(async (tx, context) => {
    const op = await tx.mergeOps.get(id);
    if (op === undefined) throw new Error(`no operation ${id}`);
    return undone(tx, context, { op, beforeCommit: "c2", afterCommit: "c3" });
  });

test("an undo opens the task of the lead above again, and what waits for it; an undo of the undo closes both", async () => {
  await using world = await mergeWorld();
  await world.store.transaction(async (tx) => {
    await tx.tasks.insert(aTask("P1", { status: "closed", runId: "run-1" }));
    const lead = { ...over, capability: "lead", taskId: "P1", runId: "run-1" } as const;
    await tx.agents.reserve(storedAgent("lead-2", lead));
    await tx.agents.reserve(storedAgent("b2", { ...over, parentName: "lead-2", taskId: "T1", runId: "run-1" }));
  });
  const { first } = await landTwo(world);
  const state = () =>
    world.store.read(async (tx) => [(await tx.tasks.get("T1"))?.status, (await tx.tasks.get("P1"))?.status]);
  const { undo } = await world.must(requestUndo, { of: String(first.id) });
  await settle(world, undo.id);
  expect(await state()).toEqual(["open", "in_review"]);
  const { undo: again } = await world.must(requestUndo, { of: undo.id });
  await settle(world, again.id);
  expect(await state()).toEqual(["closed", "closed"]);
});

const over = { state: "completed", outcome: "done", endedAt: 1 } as const;

const statuses = async (world: MergeWorld) => (await world.entries()).map(({ status }) => status);

test("the last landing is undone as a whole, one of its branches alone by name", async () => {
  await using world = await mergeWorld();
  const { opId, first, second } = await landTwo(world);
  expect(await world.must(planUndo, { last: true })).toMatchObject({
    op: { id: opId },
    entries: [{ id: first.id }, { id: second.id }],
    whole: true,
  });
  const one = await world.must(planUndo, { of: builderBranch });
  expect(one).toMatchObject({ op: { id: opId }, entries: [{ id: first.id }], whole: false });
});

test("asking for an undo records the intent once, for the engine to carry out", async () => {
  await using world = await mergeWorld();
  const { opId, first } = await landTwo(world);
  const { undo } = await world.must(requestUndo, { of: builderBranch, requeue: true });
  expect(undo).toMatchObject({
    kind: "undo",
    status: "intended",
    undoes: opId,
    ref: "refs/heads/main",
    queueIds: [first.id],
    request: { requeue: true },
    actor: "operator",
  });
  expect((await world.must(requestUndo, { of: builderBranch })).undo.id).toBe(undo.id);
  expect(await world.store.read((tx) => tx.merges.dueWork(world.clock.now, []))).toBe(true);
});

test("undone work is open again, in the queue again on request, and its owner is told once", async () => {
  await using world = await mergeWorld();
  const { opId } = await landTwo(world);
  const { undo } = await world.must(requestUndo, { of: builderBranch, requeue: true });
  expect([await settle(world, undo.id), await settle(world, undo.id)]).toEqual([true, false]);
  expect(await statuses(world)).toEqual(["reverted", "merged", "pending"]);
  expect((await world.entries())[2]).toMatchObject({
    branch: builderBranch,
    headCommit: "head-1",
    approval: "waiting",
  });
  expect(await world.store.read((tx) => tx.tasks.get("T1"))).toMatchObject({ status: "open", mergeState: "queued" });
  expect(await world.mailOf("lead-1", "status")).toHaveLength(1);
  // The other branch of the landing is still there to be undone.
  expect((await world.store.read((tx) => tx.mergeOps.get(opId)))?.undoneBy).toBeNull();
});

test("a landing can be undone once, and its undo can be undone", async () => {
  await using world = await mergeWorld();
  const { opId } = await landTwo(world);
  const { undo } = await world.must(requestUndo, { of: opId });
  await settle(world, undo.id);
  expect(await statuses(world)).toEqual(["reverted", "reverted"]);
  const [told] = await world.mailOf("lead-1", "status");
  expect(told?.body).toContain(
    `It will not land again by itself. The operator brings it back with: ov merge undo ${undo.id}`,
  );
  expect(await world.call(planUndo, { of: opId })).toMatchObject({ refusal: { kind: "nothing-to-undo", what: opId } });
  expect(await world.call(planUndo, { last: true })).toMatchObject({ refusal: { kind: "nothing-to-undo" } });

  const again = await world.must(requestUndo, { of: undo.id });
  await settle(world, again.undo.id);
  expect(await statuses(world)).toEqual(["merged", "merged"]);
  expect((await world.entries())[0]?.resultCommit).toBe("c1");
  expect(await world.store.read((tx) => tx.tasks.get("T1"))).toMatchObject({ status: "closed", mergeState: "merged" });
  expect(await world.must(planUndo, { last: true })).toMatchObject({ op: { id: opId } });
  const { operations } = await world.must(mergeLog, {});
  expect(operations.map(({ kind, undoneBy }) => [kind, undoneBy])).toEqual([
    ["undo", null],
    ["undo", again.undo.id],
    ["land", null],
  ]);
});

test("a landing whose branches retention has forgotten is refused, with what git can do", async () => {
  await using world = await mergeWorld();
  const opId = await world.asEngine(async (tx, context) => {
    const op = await newOp(tx, context, {
      kind: "land",
      ref: "refs/heads/main",
      queueIds: [98, 99],
      beforeCommit: "c0",
    });
    await tx.mergeOps.settle(op.id, { status: "done", afterCommit: "c2", updatedAt: context.now });
    return op.id;
  });
  expect(await world.call(planUndo, { of: opId })).toMatchObject({
    refusal: { kind: "nothing-to-undo", what: opId, next: expect.stringContaining("git revert") },
  });
});

test("a branch that never landed cannot be undone, and an unknown branch is not found", async () => {
  await using world = await mergeWorld();
  await world.announce();
  expect(await world.call(planUndo, { of: builderBranch })).toMatchObject({ refusal: { kind: "nothing-to-undo" } });
  expect(await world.call(planUndo, { of: "op-none" })).toMatchObject({
    refusal: { kind: "not-found", noun: "merge operation" },
  });
  expect(await world.call(planUndo, {})).toMatchObject({ refusal: { kind: "invalid" } });
});

test("a run is promoted from its landing branch to its target, asked for once", async () => {
  await using world = await mergeWorld();
  expect(await world.must(requestPromote, {})).toMatchObject({
    promote: null,
    nothing: expect.stringContaining("run-2"),
  });
  const set = (landingBranch: string) =>
    world.store.transaction((tx) => tx.runs.setBranches("run-2", { targetBranch: "main", landingBranch }));
  await set("main");
  expect(await world.must(requestPromote, {})).toMatchObject({ promote: null, target: "main" });
  await set("overstory/integration/run-2");
  const { promote } = await world.must(requestPromote, { runId: "run-2" });
  if (promote === null) throw new Error("nothing was asked for");
  expect(promote).toMatchObject({
    kind: "promote",
    status: "intended",
    ref: "refs/heads/main",
    request: { runId: "run-2", landing: "overstory/integration/run-2", target: "main" },
  });
  expect((await world.must(requestPromote, {})).promote?.id).toBe(promote.id);
  expect(await world.call(requestPromote, { runId: "run-9" })).toMatchObject({ refusal: { kind: "not-found" } });
});
