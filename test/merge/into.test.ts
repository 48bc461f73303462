import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { engineCaller } from "../../src/domain/caller/caller.ts";
import type { Run } from "../../src/domain/run/run.ts";
import { ensureLandingBranch } from "../../src/engine/merge/landing-branch.ts";
import { promotionDoubts, requestPromote } from "../../src/usecases/merge/landing/promotion.ts";
import { newOp } from "../../src/usecases/merge/merge-records.ts";
import { showMerge } from "../../src/usecases/merge/read-merges.ts";
import { overview } from "../../src/usecases/status/overview.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";

async function begin(world: LandingWorld, id: string): Promise<string> {
  const rest = {
    objective: null,
    targetBranch: null,
    landingBranch: null,
    coordinatorName: null,
    checklist: false,
    startCommit: null,
    completedAt: null,
  };
  const run: Run = { id, ...rest, status: "active", startedAt: world.ports.clock.now() };
  await world.store.transaction((tx) => tx.runs.insert(run));
  return (await ensureLandingBranch(world.ports, run)) ?? "";
}

test("work for a branch that another checkout holds is promoted to that branch and no other", async () => {
  await using world = await landingWorld();
  const own = await begin(world, "run-1");
  const other = join(world.root, "..", "release");
  world.git(world.root, "worktree", "add", "--quiet", "-b", "release/1.0", other);
  world.branch("enc", () => world.write(world.root, "enc.txt", "enc\n"));
  const id = await world.enqueue("enc", { runId: "run-1", targetBranch: "release/1.0" });
  await world.work();
  expect(await world.entry(id)).toMatchObject({
    status: "merged",
    targetBranch: "overstory/integration/release%2F1.0",
  });
  expect(await world.call(showMerge, { of: String(id) })).toMatchObject({
    meantFor: "release/1.0",
    promotion: { runId: null, target: "release/1.0" },
  });
  const { unpromoted } = await world.call(overview, { all: false, mailbox: "operator" });
  expect(unpromoted).toMatchObject([{ runId: null, target: "release/1.0", landings: 1 }]);
  const outlook = await world.call(promotionDoubts, {});
  expect(outlook.elsewhere).toMatchObject([{ target: "release/1.0" }]);

  const before = world.tip("main");
  const { promote } = await world.call(requestPromote, { target: "release/1.0" });
  await world.work();
  expect(await world.store.read((tx) => tx.mergeOps.get(promote?.id ?? ""))).toMatchObject({ status: "done" });
  expect(readFileSync(join(other, "enc.txt"), "utf8")).toBe("enc\n");
  expect(world.tip("main")).toBe(before);
  expect(world.tip(own)).toBe(before);
  expect(await world.call(requestPromote, { target: "release/1.0" })).toMatchObject({ promote: null });
});

test("work of a run and work for another branch of the same run are promoted apart", async () => {
  await using world = await landingWorld();
  const landing = await begin(world, "run-1");
  const other = join(world.root, "..", "release");
  world.git(world.root, "worktree", "add", "--quiet", "-b", "release/1.0", other);
  for (const name of ["a", "b"]) world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
  await world.enqueue("a", { runId: "run-1", targetBranch: landing });
  await world.enqueue("b", { runId: "run-1", targetBranch: "release/1.0" });
  await world.work();
  const { unpromoted } = await world.call(overview, { all: false, mailbox: "operator" });
  expect(unpromoted.map(({ target, runId }) => `${target} ${runId}`).toSorted()).toEqual([
    "main run-1",
    "release/1.0 null",
  ]);
  await world.promote("run-1");
  expect(world.show("main", "a.txt")).toBe("a");
  expect(() => world.show("main", "b.txt")).toThrow();
  await world.call(requestPromote, { target: "release/1.0" });
  await world.work();
  expect(world.show("release/1.0", "b.txt")).toBe("b");
  expect(() => world.show("release/1.0", "a.txt")).toThrow();
});

test("two targets whose names differ by a slash never share a landing branch", async () => {
  await using world = await landingWorld();
  for (const target of ["release/1.0", "release-1.0"]) {
    world.git(
      world.root,
      "worktree",
      "add",
      "--quiet",
      "-b",
      target,
      join(world.root, "..", encodeURIComponent(target)),
    );
  }
  for (const [name, targetBranch] of [
    ["a", "release/1.0"],
    ["b", "release-1.0"],
  ] as const) {
    world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
    await world.enqueue(name, { targetBranch });
  }
  await world.work();
  for (const target of ["release/1.0", "release-1.0"]) {
    await world.call(requestPromote, { target });
    await world.work();
  }
  expect(world.show("release/1.0", "a.txt")).toBe("a");
  expect(world.show("release-1.0", "b.txt")).toBe("b");
  expect(() => world.show("release/1.0", "b.txt")).toThrow();
  expect(() => world.show("release-1.0", "a.txt")).toThrow();
});

test("work that an earlier version landed under the shared name goes on there until it is promoted", async () => {
  await using world = await landingWorld();
  const former = "overstory/integration/release-1.0";
  world.git(world.root, "worktree", "add", "--quiet", "-b", "release/1.0", join(world.root, "..", "slash"));
  world.git(world.root, "worktree", "add", "--quiet", "-b", "release-1.0", join(world.root, "..", "dash"));
  for (const name of ["a", "b", "c"]) world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
  // As the earlier version left it: a branch that was begun for the target, and one landing on it.
  world.git(world.root, "branch", former, "release/1.0");
  const tip = world.tip("release/1.0");
  await world.store.transaction(async (tx) => {
    const context = { caller: engineCaller, ids: world.ports.ids, now: 1 };
    const request = { target: "release/1.0", base: tip };
    const about = { kind: "begin", ref: `refs/heads/${former}`, queueIds: [], request } as const;
    const { id } = await newOp(tx, context, { ...about, beforeCommit: null, afterCommit: tip });
    await tx.mergeOps.settle(id, { status: "done", updatedAt: 1 });
  });
  await world.enqueue("a", { targetBranch: former });
  await world.work();
  const [b, c] = [
    await world.enqueue("b", { targetBranch: "release/1.0" }),
    await world.enqueue("c", { targetBranch: "release-1.0" }),
  ];
  await world.work();
  expect((await world.entry(b)).targetBranch).toBe(former);
  expect((await world.entry(c)).targetBranch).not.toBe(former);
  const { promote } = await world.call(requestPromote, { target: "release/1.0" });
  await world.work();
  expect(await world.store.read((tx) => tx.mergeOps.get(promote?.id ?? ""))).toMatchObject({ status: "done" });
  expect([world.show("release/1.0", "a.txt"), world.show("release/1.0", "b.txt")]).toEqual(["a", "b"]);
  expect(() => world.show("release/1.0", "c.txt")).toThrow();
});
