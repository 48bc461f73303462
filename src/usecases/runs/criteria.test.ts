import { expect, test } from "bun:test";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { activeRun, agentCaller, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import type { Criterion } from "../../domain/run/checklist.ts";
import type { Run } from "../../domain/run/run.ts";
import { overview } from "../status/overview.ts";
import { createTask, updateTask } from "../tasks/change-tasks.ts";
import { closeTask } from "../tasks/close-task.ts";
import { endRun } from "./change-run.ts";
import { addCriteriaToRun, listCriteria, recordProof, unwaiveCriterionOfRun, waiveCriterionOfRun } from "./criteria.ts";
import { showRun } from "./read-runs.ts";

const coordinator = agentCaller("coordinator", "coordinator", { runId: "run-1" });

async function led(world: UseCaseWorld, facts: Partial<Run> = {}): Promise<void> {
  const run = { ...activeRun("run-1", world.now()), coordinatorName: "coordinator", objective: "Do it all" };
  await world.store.transaction((tx) => tx.runs.insert({ ...run, checklist: true, ...facts }));
}

const proof = (number: number) => ({
  runId: "run-1",
  number,
  evidence: { kind: "file", path: "a.ts" } as const,
  seen: { landed: "c1", unchanged: false },
});

test("L2: a run does not end before each criterion is proved or waived", async () => {
  await using world = useCaseWorld();
  await led(world);
  const texts = ["dates are parsed", "the changelog names it", "nothing else changed"];
  await world.must(addCriteriaToRun, { texts }, coordinator);
  await world.must(recordProof, proof(1), coordinator);
  const refused = await world.call(endRun, {}, coordinator);
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "run-open", criteria: [2, 3], tasks: [] } });
  await world.must(recordProof, proof(2), coordinator);
  await world.must(waiveCriterionOfRun, { number: 3, reason: "out of reach" });
  const lacks = [{ number: 2, problem: "does not exist on main now" }];
  expect(await world.call(endRun, { lacks }, coordinator)).toMatchObject({
    refusal: { criteria: [2], open: [{ what: expect.stringContaining("file a.ts does not exist on main now") }] },
  });
  expect(await world.must(endRun, { landed: null }, coordinator)).toMatchObject({ status: "completed", open: [] });
});

test("L2: when nobody splits the objective, the objective itself has to be shown", async () => {
  await using world = useCaseWorld();
  await led(world);
  expect(await world.call(endRun, {}, coordinator)).toMatchObject({
    refusal: { criteria: [1], open: [{ what: "criterion 1 has no proof: Do it all" }] },
  });
  await world.must(recordProof, proof(1), coordinator);
  expect((await world.must(listCriteria, {})).criteria).toMatchObject([{ criterion: { text: "Do it all" } }]);
  expect(await world.must(endRun, { landed: null }, coordinator)).toMatchObject({ status: "completed" });
});

test("a wish of the operator's does not take the objective off the checklist, and a split after it does neither", async () => {
  await using world = useCaseWorld();
  await led(world);
  const numbered = (reply: { criteria: readonly { criterion: Criterion }[] }) =>
    reply.criteria.map(({ criterion }) => `${criterion.number} ${criterion.text}`);
  const wished = await world.must(addCriteriaToRun, { texts: ["the changelog names it"] });
  expect(numbered(wished)).toEqual(["1 Do it all", "2 the changelog names it"]);
  expect(await world.call(addCriteriaToRun, { texts: ["Do it all"] })).toMatchObject({ refusal: { field: "text" } });
  await world.must(recordProof, proof(2), coordinator);
  expect(await world.call(endRun, {}, coordinator)).toMatchObject({ refusal: { criteria: [1] } });
  const split = await world.must(addCriteriaToRun, { texts: ["a part"] }, coordinator);
  expect(numbered(split)).toEqual(["1 Do it all", "2 the changelog names it", "3 a part"]);
});

test("a refused wish stores nothing, and the coordinator's split stands in the place of the objective", async () => {
  await using world = useCaseWorld();
  await led(world);
  expect(await world.call(addCriteriaToRun, { texts: [" "] })).toMatchObject({ refusal: { field: "text" } });
  await world.must(addCriteriaToRun, { texts: ["a part", "another"] }, coordinator);
  expect((await world.must(listCriteria, {})).criteria.map(({ criterion }) => criterion.text)).toEqual([
    "a part",
    "another",
  ]);
});

test("a task may serve an objective before it is split; parts that come later have other numbers", async () => {
  await using world = useCaseWorld();
  await led(world);
  const task = await world.must(createTask, { id: "T1", title: "x", criteria: [1] }, coordinator);
  expect(task).toMatchObject({ criteria: [{ number: 1, text: "Do it all" }], planning: [] });
  const split = await world.must(addCriteriaToRun, { texts: ["a part"] }, coordinator);
  expect(split).toMatchObject({ criteria: [{ tasks: ["T1"] }, { criterion: { number: 2 } }], unserved: [2] });
});

test.each([
  ["without an objective", { objective: null, checklist: false }],
  ["of an earlier version", { checklist: false }],
])("a run %s has no checklist and ends as before", async (_, facts) => {
  await using world = useCaseWorld();
  await led(world, facts);
  expect((await world.must(listCriteria, {})).criteria).toEqual([]);
  expect(await world.must(endRun, {}, coordinator)).toMatchObject({ status: "completed" });
});

test("the operator ends a run with criteria waived in the same breath, or by force; agents do neither", async () => {
  await using world = useCaseWorld();
  await led(world);
  await world.must(addCriteriaToRun, { texts: ["one", "two"] }, coordinator);
  const waive = { waive: [1], reason: "no need" };
  expect(await world.call(endRun, waive, coordinator)).toMatchObject({ refusal: { kind: "not-allowed" } });
  expect(await world.call(endRun, { waive: [1] })).toMatchObject({ refusal: { field: "reason" } });
  expect(await world.call(endRun, { waive: [9], reason: "r" })).toMatchObject({ refusal: { noun: "criterion" } });
  // A refused end waives nothing.
  expect(await world.call(endRun, waive)).toMatchObject({ refusal: { criteria: [2] } });
  expect((await world.must(listCriteria, {})).criteria[0]?.criterion.waivedAt).toBeNull();
  expect(await world.must(endRun, { waive: [1, 2], reason: "no need" })).toMatchObject({ open: [] });
  const { criteria } = await world.must(showRun, { id: "run-1" });
  expect(criteria.map(({ criterion }) => criterion.waiveReason)).toEqual(["no need", "no need"]);
  expect(await world.call(addCriteriaToRun, { texts: ["late"], runId: "run-1" })).toMatchObject({
    refusal: { field: "run" },
  });
});

test("the operator takes a waiver back, and evidence that the criterion had counts again", async () => {
  await using world = useCaseWorld();
  await led(world);
  await world.must(addCriteriaToRun, { texts: ["one", "two"] }, coordinator);
  await world.must(recordProof, proof(1), coordinator);
  const reason = "not needed";
  for (const number of [1, 2]) await world.must(waiveCriterionOfRun, { number, reason });
  for (const number of [1, 2]) await world.must(unwaiveCriterionOfRun, { number });
  expect(await world.call(unwaiveCriterionOfRun, { number: 2 })).toMatchObject({
    refusal: { problem: "is not waived" },
  });
  expect(await world.call(endRun, {}, coordinator)).toMatchObject({ refusal: { criteria: [2] } });
});

test("only the coordinator of the run and the operator keep its checklist", async () => {
  await using world = useCaseWorld();
  await led(world);
  for (const caller of [
    agentCaller("lea", "lead", { runId: "run-1" }),
    agentCaller("other", "coordinator", { runId: "run-2" }),
  ]) {
    expect(await world.call(addCriteriaToRun, { texts: ["x"], runId: "run-1" }, caller)).toMatchObject({
      refusal: { kind: "not-allowed" },
    });
    expect(await world.call(recordProof, proof(1), caller)).toMatchObject({ refusal: { kind: "not-allowed" } });
  }
  await world.must(addCriteriaToRun, { texts: ["mine"] });
  expect(await world.call(recordProof, proof(7), coordinator)).toMatchObject({
    refusal: { noun: "criterion", id: "7" },
  });
});

test("L2: tasks name criteria, and while the work is planned it is said which ones no task serves", async () => {
  await using world = useCaseWorld();
  await led(world);
  const early = await world.must(createTask, { id: "T0", title: "x" }, coordinator);
  expect(early.planning).toEqual([expect.stringContaining("is not split yet: ov run criteria add")]);
  expect(await world.call(createTask, { title: "x", criteria: [2] }, coordinator)).toMatchObject({
    refusal: { noun: "criterion", advice: "there is 1" },
  });
  await world.must(addCriteriaToRun, { texts: ["parse", "document", "log"] }, coordinator);
  const first = await world.must(createTask, { id: "T1", title: "y", criteria: [1] }, coordinator);
  expect(first).toMatchObject({ criteria: [{ number: 1, text: "parse" }] });
  expect(first.planning).toEqual([expect.stringContaining("No task serves yet: criterion 2 (document), 3 (log)")]);
  expect(await world.call(updateTask, { id: "T0", criteria: [4] }, coordinator)).toMatchObject({
    refusal: { noun: "criterion", advice: "there are 1, 2, 3" },
  });
  const both = await world.must(updateTask, { id: "T0", criteria: [2, 3] }, coordinator);
  expect(both.planning).toEqual([]);
  const lead = agentCaller("lea", "lead", { runId: "run-1" });
  expect((await world.must(createTask, { id: "T2", title: "z" }, lead)).planning).toEqual([]);
  // A task that was given up serves nothing any more.
  await world.store.transaction(async (tx) => {
    const task = await tx.tasks.get("T0");
    if (task !== undefined) await tx.tasks.update({ ...task, mergeState: "abandoned" });
  });
  await world.must(closeTask, { id: "T0", reason: "dropped" }, coordinator);
  expect((await world.must(listCriteria, {})).unserved).toEqual([2, 3]);
  const shown = await world.must(overview, { all: false, mailbox: "operator" });
  expect(shown.criteria.map(({ tasks }) => tasks)).toEqual([["T1"], [], []]);
});

test("a task without a run serves no criterion", async () => {
  await using world = useCaseWorld();
  await led(world);
  await world.store.transaction((tx) => tx.tasks.insert(aTask("loose", { runId: null })));
  expect(await world.call(updateTask, { id: "loose", criteria: [1] })).toMatchObject({
    refusal: { field: "criteria" },
  });
});

test("evidence that is older than the run, or comes before the work, is called so to the agent that gives it", async () => {
  await using world = useCaseWorld();
  await led(world);
  await world.must(addCriteriaToRun, { texts: ["the version is 1.1.0", "dates are parsed"] }, coordinator);
  await world.must(createTask, { title: "Raise the version", id: "T1", criteria: [1] }, coordinator);
  const proved = await world.must(recordProof, { ...proof(1), seen: { landed: "c1", unchanged: true } }, coordinator);
  expect(proved.remarks).toEqual([
    expect.stringContaining("was there before this run and is unchanged"),
    "work for this criterion is not done yet: T1",
  ]);
  expect((await world.must(recordProof, proof(2), coordinator)).remarks).toEqual([]);
  expect((await world.must(overview, { all: true, mailbox: "operator" })).criteria).toMatchObject([
    { criterion: { proofUnchanged: true } },
    { criterion: { proofUnchanged: false } },
  ]);
});

test("a list of an updated task that takes something away says so, with the command that keeps both", async () => {
  await using world = useCaseWorld();
  await led(world);
  await world.must(addCriteriaToRun, { texts: ["one", "two", "three"] }, coordinator);
  await world.must(createTask, { title: "A", id: "T1", criteria: [1, 2], files: ["a.ts"] }, coordinator);
  const change = { id: "T1", criteria: [2, 3], files: ["b.ts"] };
  expect((await world.must(updateTask, change, coordinator)).replaced).toEqual([
    'its criteria are 2, 3 now, no longer 1; to have both: ov task update T1 --criteria "1,2,3"',
    'its files are b.ts now, no longer a.ts; to have both: ov task update T1 --files "a.ts,b.ts"',
  ]);
  expect((await world.must(updateTask, { id: "T1", criteria: [1, 2, 3] }, coordinator)).replaced).toEqual([]);
  expect((await world.must(updateTask, { id: "T1", title: "B" }, coordinator)).replaced).toEqual([]);
});
