import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Run } from "../../src/domain/run/run.ts";
import { ensureLandingBranch } from "../../src/engine/merge/landing-branch.ts";
import { showMerge } from "../../src/usecases/merge/read-merges.ts";
import { promotionDoubts, requestPromote } from "../../src/usecases/merge/request-promote.ts";
import { overview } from "../../src/usecases/status/overview.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";

async function begin(world: LandingWorld, id: string): Promise<string> {
  const rest = { objective: null, targetBranch: null, landingBranch: null, coordinatorName: null, completedAt: null };
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
    targetBranch: "overstory/integration/release-1.0",
  });
  expect(await world.call(showMerge, { of: String(id) })).toMatchObject({
    meantFor: "release/1.0",
    promoteFlags: ["--target", "release/1.0"],
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
