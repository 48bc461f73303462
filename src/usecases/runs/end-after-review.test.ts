import { expect, test } from "bun:test";
import { anEntry, anOp } from "../../../testkit/contracts/store/merges.ts";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { coordinator, end, finishes, met, reads } from "../../../testkit/last-review-world.ts";
import { storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { engineCaller } from "../../domain/caller/caller.ts";
import { changeState } from "../agents/reopen-agent.ts";
import { checkMail } from "../mail/check.ts";
import { changeRun } from "./change-objective.ts";
import { endRun } from "./change-run.ts";
import type { LandedLook } from "./end-after-review.ts";
import { keepGoing } from "./keep-going.ts";
import { showRun } from "./read-runs.ts";

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
  await world.store.transaction((tx) => tx.merges.insert(anEntry("b/T1", { runId: "run-1", status: "merged" })));
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

test("what a last review remarks beside a pass stands in the letter that ends the run, and in no later one", async () => {
  await using world = useCaseWorld();
  await waitsForVerdict(world, "c1");
  const remark = { verdict: "pass", findings: "a.ts:3: warning: the name is odd\nexpected: count" };
  expect(await finishes(world, "last-review-1", remark, { landed: "c1", lacks: [] })).toEqual([]);
  const [letter, ...others] = await world.store.read((tx) => tx.messages.list({ to: "operator" }));
  expect(others).toEqual([]);
  expect(letter?.body).toContain("a.ts:3: warning: the name is odd\n  expected: count");
  expect(await world.must(showRun, { id: "run-1" })).toMatchObject({
    lastReview: { findings: 1, message: letter?.id },
  });
  // A run that begins later hands unread mail of the coordinator's earlier run to the operator.
  expect(await world.store.read((tx) => tx.deliveries.inState("coordinator", ["queued"]))).toEqual([]);
});

test("what a last review could not run stands in the letter that ends the run", async () => {
  await using world = useCaseWorld();
  await waitsForVerdict(world, "c1");
  const read = {
    verdict: "pass",
    summary: "All met.\nThe page: not run: a browser, because there is none here.\nFine.",
  };
  expect(await finishes(world, "last-review-1", read, { landed: "c1", lacks: [] })).toEqual([]);
  const [letter] = await world.store.read((tx) => tx.messages.list({ to: "operator" }));
  expect(letter?.body).toContain(
    "last-review-1 judged a part by reading alone; not run: a browser, because there is none here.\n",
  );
});

test("an operator who ends a run that passed with remarks is told where they are", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  await reads(world, "last-review-1", "c1", "pass", "a.ts:3: warning: the name is odd");
  expect(await world.must(endRun, { landed: "c1" })).toMatchObject({
    status: "completed",
    review: "the last review passed with 1 remark: ov mail list --from last-review-1",
  });
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

/** A builder of the run is at work. */
const builds = (world: UseCaseWorld): Promise<unknown> =>
  world.store.transaction((tx) =>
    tx.agents.reserve(storedAgent("b9", { runId: "run-1", parentName: "coordinator", state: "in_turn" })),
  );

/** What the coordinator is told by the reviewer. */
const report = async (world: UseCaseWorld): Promise<string> =>
  (await world.store.read((tx) => tx.messages.list({ to: "coordinator", type: "worker_done" })))[0]?.body ?? "";

test("B7: a pass of a run that is not all done says what is open, and starts no turn while other work goes on", async () => {
  await using idle = useCaseWorld();
  await waitsForVerdict(idle, "c1");
  await idle.store.transaction((tx) => tx.tasks.insert(aTask("late", { runId: "run-1" })));
  expect(await passes(idle, { landed: "c1", lacks: [] })).toMatchObject({ run: "active", wakes: true });
  expect(await report(idle)).toContain("It passed. Before the run can end:\n- task late is open");
  expect(await report(idle)).not.toContain("End the run now");
  await using busy = useCaseWorld();
  await waitsForVerdict(busy, "c1");
  await builds(busy);
  expect(await passes(busy, { landed: "c1", lacks: [] })).toMatchObject({ run: "active", wakes: false });
  expect(await report(busy)).toContain("- builder b9 is not released (working)");
});

test("B5: findings about a change of the objective start no turn while the coordinator has it built", async () => {
  for (const { findings, wakes, before } of [
    { findings: "criterion 3: no JSON yet", wakes: false, before: builds },
    { findings: "criterion 3: no JSON yet", wakes: true, before: async () => undefined },
    { findings: "criterion 2: it is missing", wakes: true, before: builds },
  ]) {
    await using world = useCaseWorld();
    await waitsForVerdict(world, "c1");
    await world.must(changeRun, { words: "and JSON" });
    await world.must(checkMail, {}, coordinator);
    await before(world);
    expect(await finishes(world, "last-review-1", { verdict: "needs_changes", findings })).toEqual([]);
    expect(await world.store.read((tx) => tx.deliveries.hasWaking("coordinator"))).toBe(wakes);
  }
});

test("B7: the notice of a standstill names the standing findings of the last review", async () => {
  await using world = useCaseWorld();
  await waitsForVerdict(world, "c1");
  await finishes(world, "last-review-1", { verdict: "fail" });
  await world.must(checkMail, {}, coordinator);
  await world.store.transaction(async (tx) => {
    const reviewer = await tx.agents.byName("last-review-1");
    if (reviewer === undefined) throw new Error("nobody read");
    await tx.agents.release(reviewer.id, world.now());
    await keepGoing(tx, world.context(engineCaller), "run-1");
  });
  const [notice] = await world.store.read((tx) => tx.messages.list({ to: "coordinator", from: "system" }));
  expect(notice?.subject).toContain("nobody works for run run-1");
  expect(notice?.body).toContain("- last-review-1 read the whole difference, and its verdict is fail");
  expect(notice?.body).not.toContain("If the objective is reached, end the run");
});

test("the notice of a standstill says once how criteria are shown, for any number of open ones", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await world.store.transaction(async (tx) => {
    for (const criterion of await tx.criteria.of("run-1")) await tx.criteria.put({ ...criterion, proofKind: null });
    const builder = storedAgent("b1", {
      runId: "run-1",
      parentName: "coordinator",
      state: "completed",
      outcome: "done",
    });
    await tx.agents.reserve({ ...builder, releasedAt: world.now() });
    const head = await tx.agents.byName("coordinator");
    if (head === undefined) throw new Error("nobody leads");
    await changeState(tx, head, { to: "between_turns", actor: "engine", reason: "test" }, world.now());
    await keepGoing(tx, world.context(engineCaller), "run-1");
  });
  const [notice] = await world.store.read((tx) => tx.messages.list({ to: "coordinator", from: "system" }));
  expect(notice?.body).toContain("- criterion 1 has no proof: criterion 1\n- criterion 2 has no proof: criterion 2\n");
  expect(notice?.body.match(/ov run criteria prove/g)).toHaveLength(1);
  expect(notice?.body).not.toContain("ov run criteria waive");
});

test("a last reviewer is released with the end of its run, although its coordinator never read the report", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  await reads(world, "last-review-1", "c1", "pass");
  const reviewer = () => world.store.read((tx) => tx.agents.byName("last-review-1"));
  expect(await reviewer()).toMatchObject({ state: "completed", outcome: "done", releasedAt: null });
  await world.must(endRun, { landed: "c1" });
  expect((await reviewer())?.releasedAt).toBeNumber();
});
