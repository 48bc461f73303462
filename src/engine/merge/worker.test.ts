import { expect, test } from "bun:test";
import { landingWorld } from "../../../testkit/landing-world.ts";
import { Slots } from "./slots.ts";
import { MergeWorker } from "./worker.ts";

test("a failed pass is followed by another one without a wake", async () => {
  await using world = await landingWorld({ gates: ["true"] });
  world.branch("work", () => world.write(world.root, "b.txt", "b\n"));
  const id = await world.enqueue("work");
  const reported: unknown[] = [];
  let failures = 2;
  const ports = {
    ...world.ports,
    report: (error: unknown) => reported.push(error),
    merging: {
      ...world.ports.merging,
      checkoutsOf: async (branch: string) => {
        if (failures-- > 0) throw new Error("git could not be started");
        return world.ports.merging.checkoutsOf(branch);
      },
    },
  };
  const worker = new MergeWorker(ports, { slots: new Slots(1), stop: new AbortController().signal });
  const look = (): void => worker.look(look);
  look();
  while ((await world.entry(id)).status !== "merged") await Bun.sleep(20);
  expect(reported).toHaveLength(2);
  await worker.settled();
}, 60_000);
