import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { retargetRun } from "../../src/usecases/runs/change-run.ts";
import { landingWorld } from "../../testkit/landing-world.ts";
import { begin, land, make } from "./runs.world.ts";

test("a run whose target was renamed is given the new name, and promotes to it", async () => {
  await using world = await landingWorld();
  make(world, "a");
  const target = await begin(world, "run-1");
  await land(world, "a", "run-1", target);
  world.git(world.root, "branch", "-m", "main", "trunk");
  expect((await world.promote("run-1")).problem).toContain("ov run retarget <branch> --run run-1");
  const changed = await world.call(retargetRun, { runId: "run-1", target: "trunk" });
  expect(changed).toMatchObject({ run: { targetBranch: "trunk", landingBranch: target }, before: "main", waiting: 1 });
  expect(await world.promote("run-1")).toMatchObject({ status: "done" });
  expect(await world.call(retargetRun, { runId: "run-1", target: "trunk" })).toMatchObject({ waiting: 0 });
  expect(world.tip("trunk")).toBe(world.tip(target));
  expect(readFileSync(join(world.root, "a.txt"), "utf8")).toBe("a\n");
});

test("a run that shares its landing branch is given another target only when nothing of others waits there, and leaves it", async () => {
  await using world = await landingWorld();
  make(world, "a");
  make(world, "b");
  world.git(world.root, "branch", "release");
  const shared = await begin(world, "run-1");
  await land(world, "a", "run-1", shared);
  expect(await begin(world, "run-2")).toBe(shared);
  const order = { runId: "run-2", target: "release" };
  await expect(world.call(retargetRun, order)).rejects.toThrow("take that over first: ov merge promote --run run-1");
  expect(await world.promote("run-1")).toMatchObject({ status: "done" });
  const changed = await world.call(retargetRun, order);
  expect(changed).toMatchObject({ run: { targetBranch: "release", landingBranch: null } });
  const id = await land(world, "b", "run-2", "release");
  expect(await world.entry(id)).toMatchObject({ status: "merged", targetBranch: "release" });
  expect(world.tip("main")).toBe(world.tip(shared));
});

test("with a renamed target every run moves that lands in the same place", async () => {
  await using world = await landingWorld();
  make(world, "a");
  const shared = await begin(world, "run-1");
  await land(world, "a", "run-1", shared);
  await begin(world, "run-2");
  world.git(world.root, "branch", "-m", "main", "trunk");
  await world.call(retargetRun, { runId: "run-2", target: "trunk", wasRenamed: true });
  for (const id of ["run-1", "run-2"]) {
    expect(await world.store.read((tx) => tx.runs.get(id))).toMatchObject({
      targetBranch: "trunk",
      landingBranch: shared,
    });
  }
  expect(await world.promote("run-1")).toMatchObject({ status: "done" });
});

test("a run that lands on its target directly takes what waits along to the new one", async () => {
  await using world = await landingWorld();
  make(world, "a");
  world.git(world.root, "checkout", "--quiet", "-b", "elsewhere");
  expect(await begin(world, "run-1")).toBe("main");
  world.git(world.root, "branch", "-m", "main", "trunk");
  const id = await land(world, "a", "run-1", "main");
  const waits = await world.entry(id);
  expect(waits).toMatchObject({ status: "blocked", cause: "missing_ref" });
  expect(waits.causeDetail?.message).toContain("ov run retarget <branch> --run run-1");
  await world.call(retargetRun, { target: "trunk" });
  world.later(60_000);
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged", targetBranch: "trunk" });
  expect(world.show("trunk", "a.txt")).toBe("a");
});
