import { expect, test } from "bun:test";
import { desk } from "../../../../testkit/merge-desk.ts";
import { mergeWorld } from "../../../../testkit/merge-queue-world.ts";
import { ok } from "../../../domain/result.ts";
import { operatorInbox } from "../../operator/inbox.ts";
import { readAttention } from "../../operator/read-attention.ts";
import { addMerge } from "./add-entry.ts";
import { pauseQueue, resumeQueue } from "./pause-queue.ts";
import { readQueue } from "./read-queue.ts";

async function queued(branch: string) {
  const world = await mergeWorld();
  const added = await world.call(addMerge, { branch, headCommit: "head", approve: true });
  if (!added.ok) throw new Error("not queued");
  return { world, id: added.value.entry.id };
}

test("a paused queue says so at each branch, in the inbox and on record, and is not an obstacle of the branch", async () => {
  const { world } = await queued("a");
  await using _ = world;
  const before = await world.call(readQueue, {});
  expect(before).toMatchObject(ok({ merges: [{ isHeld: false, standing: { why: "lands next" } }] }));
  expect(await world.call(pauseQueue, { reason: " release day " })).toMatchObject(
    ok({ paused: { pausedBy: "operator", reason: "release day" }, changed: true, underWay: 0 }),
  );
  const why = "the queue is paused; let it go on: ov merge resume";
  expect(await world.call(readQueue, {})).toMatchObject(
    ok({
      merges: [
        { isHeld: true, place: 1, standing: { why, isStuck: false, can: expect.not.arrayContaining(["approve"]) } },
      ],
    }),
  );
  expect(await world.call(operatorInbox, {})).toMatchObject(ok({ pauses: [{ reason: "release day" }] }));
  expect(await world.call(readAttention, {})).toMatchObject(
    ok({ items: [{ id: "queue-paused", kind: "target", sentence: "The merge queue is paused: release day" }] }),
  );
  const types = (await world.store.read((tx) => tx.events.after(0, 1000))).map(({ type }) => type);
  expect(types.filter((type) => type.startsWith("merge_queue_"))).toEqual(["merge_queue_paused"]);
});

test("pausing twice keeps since when it is paused, and a resume ends it once", async () => {
  const { world } = await queued("a");
  await using _ = world;
  const first = await world.call(pauseQueue, { reason: "release day" });
  world.clock.now += 60_000;
  const again = await world.call(pauseQueue, {});
  if (!first.ok || !again.ok) throw new Error("not paused");
  expect(again.value).toEqual({ ...first.value, changed: false });
  expect(await world.call(resumeQueue, {})).toEqual(ok({ changed: true }));
  expect(await world.call(resumeQueue, {})).toEqual(ok({ changed: false }));
  expect(await world.call(operatorInbox, {})).toMatchObject(ok({ pauses: [] }));
});

test("ov merge pause and resume say what they do, and ov status and ov inbox name the way back", async () => {
  const { world, id } = await queued("a");
  await using _ = world;
  const ov = desk(world);
  await world.store.transaction((tx) => tx.merges.change(id, ["pending"], { status: "gating" }));
  const paused = await ov.run("merge", "pause", "--reason", "release day");
  expect(paused.out).toContain("1 in a train that is under way may still land.");
  expect(paused.out).toContain("ov merge resume");
  for (const command of ["status", "inbox"]) {
    const { out } = await ov.run(command);
    expect([command, out]).toEqual([command, expect.stringContaining("the merge queue is paused: release day")]);
    expect(out).toContain("ov merge resume");
  }
  expect((await ov.json("status")).document).toMatchObject({
    needsOperator: true,
    merges: { paused: { by: "operator", reason: "release day" } },
  });
  expect((await ov.run("merge", "pause")).out).toContain("was paused already");
  expect((await ov.json("merge", "resume")).document).toMatchObject({ changed: true });
  expect((await ov.run("merge", "resume")).out).toContain("was not paused");
});
