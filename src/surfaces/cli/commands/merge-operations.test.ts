import { expect, test } from "bun:test";
import { aCriterion } from "../../../../testkit/contracts/store/rows.ts";
import { desk, lands, landsOn } from "../../../../testkit/merge-desk.ts";
import { type MergeWorld, mergeWorld } from "../../../../testkit/merge-queue-world.ts";
import { settlePromotion } from "../../../usecases/merge/landing/promotion.ts";
import { undone } from "../../../usecases/merge/landing/settle-undo.ts";

test("undo shows what it takes back, needs a yes, and waits for the engine", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  expect((await ov.json("merge", "undo", "--last", "--yes")).exit).toBe(7);
  expect((await ov.json("merge", "undo")).exit).toBe(2);
  ov.engine = lands(world);
  await ov.json("merge", "--branch", "feature");
  ov.engine = undefined;
  expect((await ov.json("merge", "undo", "feature")).exit).toBe(2);
  ov.answer = false;
  const refused = await ov.run("merge", "undo", "feature");
  expect(refused).toMatchObject({ exit: 0, out: "Nothing was changed.\n" });
  expect(refused.err).toContain("- feature verified");
  expect((await world.entries()).map(({ status }) => status)).toEqual(["merged"]);
  ov.engine = () => takesBack(world);
  ov.answer = true;
  const { exit, out } = await ov.run("merge", "undo", "feature");
  expect({ exit, out }).toMatchObject({ exit: 0, out: expect.stringContaining("Took feature out of main") });
  expect(out).toContain("1 file changed by this:\n    a.ts\n");
  expect((await world.entries()).map(({ status }) => status)).toEqual(["reverted"]);
  const log = await ov.run("merge", "log");
  expect(log.out).toMatch(/undid +\S+\n +on main/);
  expect(log.out).toContain("taken back by");
  expect(log.out.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(log.out).not.toMatch(/\d{4}-\d\d-\d\dT/);
  const undoId = /ov merge undo (op-\S+)/.exec(out)?.[1] ?? "";
  const back = await ov.run("merge", "undo", undoId, "--yes");
  expect(back.err).toContain("Brings back to main");
  expect(back.out).toContain("Brought feature back to main");
  const whole = (await ov.run("merge", "log")).out;
  expect(whole).toMatch(/redid +\S+\n +on main/);
  expect(whole.match(/undid/g)).toHaveLength(1);
  expect((await ov.run("merge", "show", "1")).out).toContain("redid");
});

test("an undo that would conflict ends with exit code 4 and the problem", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  ov.engine = lands(world);
  await ov.json("merge", "--branch", "feature");
  const problem = "what came later touches the same lines as feature: a.ts";
  ov.engine = () =>
    world.asEngine(async (tx, { now }) => {
      const [op] = await tx.mergeOps.list({ kind: "undo", status: "intended" });
      if (op !== undefined) await tx.mergeOps.settle(op.id, { status: "dropped", problem, updatedAt: now });
    });
  const { exit, document } = await ov.json("merge", "undo", "--last", "--yes");
  expect({ exit, document }).toMatchObject({ exit: 4, document: { success: false, errorMessage: problem } });
});

const takesBack = (world: MergeWorld): Promise<void> =>
  world.asEngine(async (tx, context) => {
    const [op] = await tx.mergeOps.list({ kind: "undo", status: "intended" });
    if (op !== undefined) await undone(tx, context, { op, beforeCommit: "m1", afterCommit: "m0" });
  });

test("promote waits for the engine and tells which files are in the way", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  const nothing = await ov.json("merge", "promote");
  expect(nothing).toMatchObject({ exit: 0, document: { success: true, promote: null, moved: false } });
  const landingBranch = "overstory/integration/run-2";
  await world.store.transaction((tx) => tx.runs.setBranches("run-2", { targetBranch: "main", landingBranch }));
  const problem = "local_changes: these files in the checkout of main are in the way: a.ts";
  const settles = (end: Parameters<typeof settlePromotion>[3]) => () =>
    world.asEngine(async (tx, context) => {
      const [op] = await tx.mergeOps.list({ kind: "promote", status: "intended" });
      if (op !== undefined) await settlePromotion(tx, context, op, end);
    });
  ov.engine = settles({ status: "dropped", problem });
  expect(await ov.json("merge", "promote")).toMatchObject({
    exit: 4,
    document: { success: false, errorMessage: problem, targetBranch: "main" },
  });
  const request = { landing: landingBranch, target: "main", cause: "disk_full" } as const;
  ov.engine = settles({ status: "dropped", problem: "there is no room for its new files", request });
  expect(await ov.json("merge", "promote")).toMatchObject({
    exit: 6,
    document: { success: false, cause: "disk_full" },
  });
  ov.engine = settles({ status: "done", problem: null, beforeCommit: "m0", afterCommit: "m1" });
  expect(await ov.json("merge", "promote", "--run", "run-2")).toMatchObject({
    exit: 0,
    document: { success: true, moved: true, landingBranch },
  });
  ov.engine = () => takesBack(world);
  const promoted = (await world.store.read((tx) => tx.mergeOps.list({ kind: "promote", status: "done" })))[0]?.id ?? "";
  const undo = (await ov.json("merge", "undo", promoted, "--yes")).document.undo as { readonly id: string };
  const again = await ov.run("merge", "undo", undo.id, "--yes");
  expect(again.err).toContain("Moves main to m1 again, with its files");
  expect(again.out).toContain("Moved main to m1 again");
  ov.engine = () =>
    world.asEngine(async (tx, context) => {
      const [op] = await tx.mergeOps.list({ kind: "undo", status: "intended" });
      if (op === undefined) return;
      const stopped = { status: "dropped", problem: "a lock is held", request: { cause: "locked" } } as const;
      await tx.mergeOps.settle(op.id, { ...stopped, updatedAt: context.now });
    });
  expect(await ov.json("merge", "undo", promoted, "--yes")).toMatchObject({
    exit: 6,
    document: { success: false, cause: "locked", errorMessage: "a lock is held" },
  });
});

test("promote warns of criteria that an ended run left open, and moves the target all the same", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  const landingBranch = "overstory/integration/run-2";
  await world.store.transaction(async (tx) => {
    await tx.runs.setBranches("run-2", { targetBranch: "main", landingBranch });
    await tx.criteria.put(aCriterion(1, { runId: "run-2" }));
    await tx.runs.complete("run-2", "completed", 5, []);
  });
  ov.engine = () => promotes(world);
  const { exit, err } = await ov.run("merge", "promote", "--run", "run-2");
  expect({ exit, err }).toMatchObject({
    exit: 0,
    err: expect.stringContaining("not shown to be met: criterion 1: ov run criteria --run run-2"),
  });
});

const promotes = (world: MergeWorld): Promise<void> =>
  world.asEngine(async (tx, context) => {
    const [op] = await tx.mergeOps.list({ kind: "promote", status: "intended" });
    const end = { status: "done", problem: null, beforeCommit: "m0", afterCommit: "m1" } as const;
    if (op !== undefined) await settlePromotion(tx, context, op, end);
  });

test("the promotion that an undo advises does something when typed, also while another run is current", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  ov.engine = landsOn(world, "overstory/integration/main");
  await ov.json("merge", "--branch", "feature");
  ov.engine = () => promotes(world);
  expect(await ov.json("merge", "promote", "--target", "main")).toMatchObject({ exit: 0, document: { moved: true } });
  ov.engine = () => takesBack(world);
  const { out } = await ov.run("merge", "undo", "feature", "--yes");
  const [, advised = ""] = /to change it there too: ov (merge promote.*)/.exec(out) ?? [];
  ov.engine = () => promotes(world);
  expect(await ov.json(...advised.split(" "))).toMatchObject({ exit: 0, document: { moved: true } });
});

test("an undo with --requeue says that the branch waits for approval, with the command that lets it land", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  ov.engine = landsOn(world, "overstory/integration/main");
  await ov.json("merge", "--branch", "feature");
  ov.engine = () => takesBack(world);
  const { out } = await ov.run("merge", "undo", "feature", "--requeue", "--yes");
  expect(out).toContain(
    "feature is in the queue again and waits for approval; to let it land: ov merge approve feature",
  );
  expect((await world.entries()).at(-1)).toMatchObject({ branch: "feature", status: "pending", approval: "waiting" });
});

test("nothing is said about what a deleted branch still has", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  ov.engine = landsOn(world, "overstory/integration/main");
  await ov.json("merge", "--branch", "feature");
  ov.engine = () => promotes(world);
  await ov.json("merge", "promote", "--target", "main");
  ov.gone.add("main");
  ov.engine = () => takesBack(world);
  expect((await ov.run("merge", "undo", "feature", "--yes")).out).not.toContain("still has it");
  expect((await ov.run("status")).out).not.toContain("had taken it over");
});

test("a target that is no branch is not found, and an empty one is a mistake of usage", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  expect((await ov.json("merge", "promote", "--target", "nope")).exit).toBe(7);
  expect((await ov.json("merge", "promote", "--target", "")).exit).toBe(2);
  expect(await ov.json("merge", "promote", "--target", "main")).toMatchObject({ exit: 0, document: { moved: false } });
});
