import { expect, test } from "bun:test";
import { desk } from "../../../../testkit/merge-desk.ts";
import { mergeWorld } from "../../../../testkit/merge-queue-world.ts";
import { ok } from "../../../domain/result.ts";
import { listMerges } from "../read-merges.ts";
import { addMerge } from "./add-entry.ts";
import { moveMerge } from "./move-entry.ts";
import { readQueue } from "./read-queue.ts";

async function queued(...branches: readonly string[]) {
  const world = await mergeWorld();
  const ids: number[] = [];
  for (const branch of branches) {
    const added = await world.call(addMerge, { branch, headCommit: `head of ${branch}`, approve: true });
    if (added.ok) ids.push(added.value.entry.id);
  }
  const order = async () => {
    const found = await world.call(listMerges, {});
    const ready = found.ok ? found.value.entries.filter(({ place }) => place !== null) : [];
    return ready.toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0)).map(({ entry }) => entry.branch);
  };
  return { world, ids, order };
}

test("a more urgent priority moves a branch before the others, and the change is on record", async () => {
  const { world, ids, order } = await queued("a", "b", "c");
  await using _ = world;
  expect(await order()).toEqual(["a", "b", "c"]);
  const moved = await world.call(moveMerge, { of: "c", priority: 0 });
  expect(moved).toMatchObject(ok({ entry: { id: ids[2], priority: 0 }, place: 1 }));
  expect(await order()).toEqual(["c", "a", "b"]);
  const events = await world.store.read((tx) => tx.events.after(0, 1000));
  const last = events.at(-1);
  expect(last?.type).toBe("merge_moved");
  expect(JSON.parse(String(last?.data))).toMatchObject({ queueId: ids[2], priority: 0, by: "operator" });
});

test("what must land first is replaced as a whole, can be none, and never goes in a circle", async () => {
  const { world, ids, order } = await queued("a", "b");
  await using _ = world;
  const [a = 0, b = 0] = ids;
  expect(await world.call(moveMerge, { of: "a", after: ["b"] })).toMatchObject(ok({ waitsFor: [b], place: null }));
  expect(await order()).toEqual(["b"]);
  expect(await world.call(moveMerge, { of: "b", after: [String(a)] })).toMatchObject({
    refusal: { kind: "invalid", problem: "waits for b itself" },
  });
  expect(await world.call(moveMerge, { of: "a", after: [] })).toMatchObject(ok({ waitsFor: [], place: 1 }));
});

test("a place that is no priority, a request without a place and an entry in a train are refused", async () => {
  const { world, ids } = await queued("a");
  await using _ = world;
  expect(await world.call(moveMerge, { of: "a", priority: 5 })).toMatchObject({ ok: false });
  expect(await world.call(moveMerge, { of: "a" })).toMatchObject({ ok: false });
  await world.store.transaction((tx) => tx.merges.change(ids[0] ?? 0, ["pending"], { status: "gating" }));
  expect(await world.call(moveMerge, { of: "a", priority: 1 })).toMatchObject({ refusal: { kind: "merge-status" } });
});

test("ov merge move says where the branch stands now, and --after none lets it wait for no other", async () => {
  const { world, ids } = await queued("a", "b");
  await using _ = world;
  const ov = desk(world);
  const moved = await ov.run("merge", "move", "b", "--priority", "0", "--after", "a");
  expect(moved.out).toContain(`Moved merge ${ids[1]}: b`);
  expect((await ov.json("merge", "move", "b", "--after", "none")).document).toMatchObject({
    entry: { id: ids[1], priority: 0, dependsOn: [], place: 1 },
  });
});

test("the queue shows what needs a person first, then what lands, in its order, with reasons and possible acts", async () => {
  const { world, ids } = await queued("a", "b");
  await using _ = world;
  const asked = await world.call(addMerge, { branch: "asks", headCommit: "head" });
  const failed = await world.call(addMerge, { branch: "failed", headCommit: "head", approve: true });
  if (!asked.ok || !failed.ok) throw new Error("not queued");
  const conflict = { status: "conflict", cause: "conflict", causeDetail: { message: "a.ts" } } as const;
  await world.store.transaction((tx) => tx.merges.change(failed.value.entry.id, ["pending"], conflict));
  await world.call(moveMerge, { of: "b", priority: 0 });
  const shown = await world.call(readQueue, {});
  if (!shown.ok) throw new Error("not shown");
  const rows = shown.value.merges.map(({ entry, standing: { why, can } }) => [entry.branch, why, can] as const);
  expect(rows).toEqual([
    ["asks", "it waits for the operator's approval", ["approve", "reject", "move", "cancel"]],
    ["failed", "conflict: a.ts", ["retry", "cancel"]],
    ["b", "lands next", ["reject", "move", "cancel"]],
    ["a", "lands as number 2", ["reject", "move", "cancel"]],
  ]);
  expect(ids).toHaveLength(2);
});
