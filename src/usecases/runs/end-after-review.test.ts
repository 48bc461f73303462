import { expect, test } from "bun:test";
import { anOp } from "../../../testkit/contracts/store/merges.ts";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { end, finishes, met, reads } from "../../../testkit/last-review-world.ts";
import { type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { changeState } from "../agents/reopen-agent.ts";
import { changeRun } from "./change-objective.ts";
import type { LandedLook } from "./end-after-review.ts";

/** The coordinator has asked for the end and waits for the verdict on this commit. */
async function waitsForVerdict(world: UseCaseWorld, commit: string): Promise<void> {
  await met(world, 2);
  await end(world, commit);
  await world.store.transaction(async (tx) => {
    const [head, reviewer] = [await tx.agents.byName("coordinator"), await tx.agents.byName("last-review-1")];
    if (head === undefined || reviewer === undefined) throw new Error("nobody leads or reads");
    await changeState(tx, head, { to: "between_turns", actor: "engine", reason: "test" }, world.now());
    await tx.agents.setBase(reviewer.id, commit);
  });
}

const passes = (world: UseCaseWorld, look: LandedLook) =>
  finishes(world, "last-review-1", { verdict: "pass" }, look).then(() =>
    world.store.read(async (tx) => ({
      run: (await tx.runs.get("run-1"))?.status,
      coordinator: (await tx.agents.byName("coordinator"))?.state,
      wakes: await tx.deliveries.hasWaking("coordinator"),
      told: (await tx.messages.list({ to: "operator" })).map(({ subject }) => subject),
    })),
  );

test("a pass ends the run that its coordinator wanted to end, without another turn, and the operator is told", async () => {
  await using world = useCaseWorld();
  await waitsForVerdict(world, "c1");
  expect(await passes(world, { landed: "c1", lacks: [] })).toEqual({
    run: "completed",
    coordinator: "completed",
    wakes: false,
    told: ["run-1 is complete"],
  });
  const [letter] = await world.store.read((tx) => tx.messages.list({ to: "operator" }));
  expect(letter?.body).toContain("1. criterion 1: file a.ts");
  expect(letter?.body).toContain("ov merge promote --run run-1");
});

/** Work lands after git was asked for the tip, and before what it said is used. */
const landsOnTop = (world: UseCaseWorld): Promise<unknown> => {
  const moves = { beforeCommit: "c1", afterCommit: "c2", ref: "refs/heads/overstory/integration/x" };
  return world.store.transaction((tx) => tx.mergeOps.insert(anOp("op-late", { ...moves, status: "done" })));
};

test("what lands while the end is asked for is read anew", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  await reads(world, "last-review-1", "c1", "pass");
  await landsOnTop(world);
  expect(await end(world)).toMatchObject({ status: "active", review: expect.stringContaining("last-review-2") });
  await reads(world, "last-review-2", "c2", "pass");
  expect(await end(world, "c2")).toMatchObject({ status: "completed" });
});

test("a verdict counts on a commit to which an undo has brought the branch back", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await landsOnTop(world);
  const back = {
    beforeCommit: "c2",
    afterCommit: "c1",
    ref: "refs/heads/overstory/integration/x",
    kind: "undo",
  } as const;
  await world.store.transaction((tx) => tx.mergeOps.insert(anOp("op-undo", { ...back, status: "done" })));
  await end(world);
  await reads(world, "last-review-1", "c1", "pass");
  expect(await end(world)).toMatchObject({ status: "completed" });
});

test("a pass wakes the coordinator when the run cannot end with it", async () => {
  const cases: readonly { readonly look: LandedLook; readonly before?: (world: UseCaseWorld) => Promise<unknown> }[] = [
    // Something has landed since, or the evidence is gone.
    { look: { landed: "c2", lacks: [] } },
    { look: { landed: "c1", lacks: [{ number: 1, problem: "does not exist" }] } },
    { look: { landed: "c1", lacks: [] }, before: (world) => world.must(changeRun, { words: "and JSON" }) },
    {
      look: { landed: "c1", lacks: [] },
      before: (world) => world.store.transaction((tx) => tx.tasks.insert(aTask("late", { runId: "run-1" }))),
    },
    { look: { landed: "c1", lacks: [] }, before: landsOnTop },
  ];
  for (const { look, before } of cases) {
    await using world = useCaseWorld();
    await waitsForVerdict(world, "c1");
    await before?.(world);
    expect(await passes(world, look)).toMatchObject({ run: "active", wakes: true, told: [] });
  }
});
