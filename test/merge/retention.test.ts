import { expect, test } from "bun:test";
import { pruneMergeRefs } from "../../src/engine/retention/prune.ts";
import { gitWorktrees } from "../../src/host/git/worktrees.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";

const dayMs = 24 * 60 * 60_000;

async function prune({ ports, root }: LandingWorld, days: number): Promise<void> {
  const now = ports.clock.now();
  const when = { before: now - days * dayMs, hour: Math.floor(now / (60 * 60_000)) };
  await pruneMergeRefs({ ...ports, worktrees: gitWorktrees(root) }, when);
}

const refsOf = async ({ merging }: LandingWorld, kind: string): Promise<number> =>
  (await merging.refsBelow(`refs/overstory/${kind}/`)).length;

test("the refs of a landing go when their days are over, and the landing can be taken back all the same", async () => {
  await using world = await landingWorld({ gates: ["true"] });
  world.branch("feature", () => world.write(world.root, "b.txt", "b\n"));
  await world.enqueue("feature");
  await world.work();
  expect([await refsOf(world, "queue"), await refsOf(world, "backup")]).toEqual([1, 1]);

  world.later(13 * dayMs);
  await prune(world, 14);
  expect([await refsOf(world, "queue"), await refsOf(world, "backup")]).toEqual([1, 1]);

  world.later(2 * dayMs);
  await prune(world, 14);
  expect([await refsOf(world, "queue"), await refsOf(world, "backup")]).toEqual([0, 0]);
  const events = await world.store.read((tx) => tx.events.after(0, 1_000));
  expect(events.filter(({ type }) => type === "merge_refs_pruned")).toHaveLength(1);
  expect((await world.undo("feature")).status).toBe("done");
});

test("the head of a branch that did not land goes with its days while its branch holds it, and stays for ever without", async () => {
  await using world = await landingWorld({ gates: ["test ! -e b.txt"] });
  const ids: number[] = [];
  for (const name of ["held", "lost", "moved"]) {
    world.branch(name, () => world.write(world.root, "b.txt", name));
    ids.push(await world.enqueue(name));
  }
  await world.work();
  const [held = 0, lost = 0, moved = 0] = ids;
  const waiting = world.branch("waits", () => world.write(world.root, "c.txt", "c\n"));
  const waits = await world.enqueue("waits");
  world.git(world.root, "update-ref", `refs/overstory/queue/${waits}`, waiting);
  const heads = new Map((await Promise.all(ids.map((id) => world.entry(id)))).map((one) => [one.id, one.headCommit]));
  for (const id of [held, lost, moved]) expect((await world.entry(id)).status).toBe("failed");
  world.git(world.root, "branch", "--quiet", "-D", "lost");
  // A snapshot of ours goes some day as well, so it does not count.
  world.git(world.root, "update-ref", "refs/overstory/snap/b1/1/1", heads.get(lost) ?? "");
  world.git(world.root, "branch", "--quiet", "--force", "moved", "main");
  const left = async (): Promise<number[]> =>
    (await world.merging.refsBelow("refs/overstory/queue/")).map(({ ref }) => Number(ref.split("/").at(-1))).toSorted();

  world.later(13 * dayMs);
  await prune(world, 14);
  expect(await left()).toEqual([held, lost, moved, waits]);

  world.later(1_000 * dayMs);
  await prune(world, 14);
  expect(await left()).toEqual([lost, moved, waits]);
  expect(world.tip(`refs/overstory/queue/${lost}`)).toBe(heads.get(lost) ?? "");
});

test("a number that an earlier queue had used pins the new head, and the old one is kept", async () => {
  await using world = await landingWorld({ gates: ["test ! -e b.txt"] });
  const old = world.branch("old", () => world.write(world.root, "old.txt", "old\n"));
  const head = world.branch("feature", () => world.write(world.root, "b.txt", "b\n"));
  world.git(world.root, "update-ref", "refs/overstory/queue/1", old);
  expect(await world.enqueue("feature")).toBe(1);
  await world.work();
  expect(world.tip("refs/overstory/queue/1")).toBe(head);
  expect(world.tip(`refs/overstory/rescue/queue-1-${old}`)).toBe(old);
});
