import { expect, test } from "bun:test";
import { builderBranch, mergeWorld } from "../../testkit/merge-queue-world.ts";
import { releaseForgotten } from "./housework.ts";

const day = 24 * 60 * 60_000;

test("an ended agent that is not taken up again for a day is released, but not while its branch is in the queue", async () => {
  await using world = await mergeWorld();
  await world.seat("b2", { state: "completed", outcome: "done", runId: "run-2", endedAt: world.clock.now });
  const { id } = await world.announce();
  world.clock.now += day + 1;
  const { ids } = await world.asEngine(async (_tx, context) => context);
  const clock = { now: () => world.clock.now, monotonic: () => 0 };
  const released = async (name: string) => (await world.agent(name)).releasedAt !== null;

  await releaseForgotten({ store: world.store, clock, ids });
  expect([await released("b1"), await released("b2")]).toEqual([false, true]);

  await world.store.transaction((tx) => tx.merges.change(id, ["pending"], { status: "superseded" }));
  expect(await world.store.read((tx) => tx.merges.openOf(builderBranch, "main"))).toBeUndefined();
  await releaseForgotten({ store: world.store, clock, ids });
  expect(await released("b1")).toBe(true);
});
