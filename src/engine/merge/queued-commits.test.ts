import { expect, test } from "bun:test";
import { landingWorld } from "../../../testkit/landing-world.ts";

test("what is planted in the place of one pin keeps only that branch from landing, and the operator is told", async () => {
  for (const [plant, heals] of [
    ["git symbolic-ref refs/overstory/queue/1 refs/heads/main", true],
    ["git symbolic-ref refs/overstory/queue/1 refs/heads/nowhere", true],
    ["git update-ref refs/overstory/queue/1/in-the-way main", false],
  ] as const) {
    await using world = await landingWorld({ gates: ["true"] });
    for (const name of ["a", "b"]) {
      world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
      await world.enqueue(name);
    }
    const before = world.tip("main");
    Bun.spawnSync({ cmd: ["sh", "-c", plant], cwd: world.root });
    await world.work();
    expect((await world.entry(2)).status).toBe("merged");
    expect((await world.entry(1)).status).toBe(heals ? "merged" : "blocked");
    expect(world.tip("main")).toBe(before);
    const told = await world.store.read((tx) => tx.messages.list({ to: "operator", type: "status" }));
    expect(told.map(({ body }) => body.includes("its commit could not be kept by a ref"))).toEqual(heals ? [] : [true]);
  }
}, 60_000);
