import { expect, test } from "bun:test";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import type { Run } from "../../domain/run/run.ts";
import { replyToMail } from "../mail/reply.ts";
import { sendMail } from "../mail/send.ts";
import { decide } from "../operator/decide.ts";
import { assignmentOf } from "../prompts/assignment.ts";
import { createTask } from "../tasks/change-tasks.ts";
import { amendCriterionOfRun, changeRun } from "./change-objective.ts";
import { endRun } from "./change-run.ts";
import { addCriteriaToRun, listCriteria, recordProof } from "./criteria.ts";
import { showRun } from "./read-runs.ts";

const coordinator = agentCaller("coordinator", "coordinator", { runId: "run-1" });

async function led(world: UseCaseWorld, facts: Partial<Run> = {}): Promise<void> {
  const run = { ...activeRun("run-1", world.now()), coordinatorName: "coordinator", objective: "Read CSV" };
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...run, checklist: true, ...facts });
    await tx.agents.reserve(storedAgent("coordinator", { capability: "coordinator", depth: 0 }));
    await tx.agents.reserve(storedAgent("l1", { capability: "lead", parentName: "coordinator" }));
  });
}

const mailTo = (world: UseCaseWorld, to: string) => world.store.read((tx) => tx.messages.list({ to }));
const words = "JSON instead of CSV";

test("L11: a change of mind amends the objective and the checklist, and the coordinator alone is told, once", async () => {
  await using world = useCaseWorld();
  await led(world);
  await world.must(addCriteriaToRun, { texts: ["it reads CSV", "it is documented"] }, coordinator);
  await world.must(createTask, { title: "CSV", id: "T1", criteria: [1] }, coordinator);
  const changed = await world.must(changeRun, { words, waive: [1] });
  expect(changed).toMatchObject({ changed: true, criterion: 3, told: "coordinator", unserved: [2, 3] });
  expect(changed.run.objective).toBe("Read CSV [change 1: JSON instead of CSV]");
  expect(changed.criteria.map(({ criterion }) => [criterion.number, criterion.text, criterion.waiveReason])).toEqual([
    [1, "it reads CSV", "the objective was changed: JSON instead of CSV"],
    [2, "it is documented", null],
    [3, words, null],
  ]);
  const [letter, ...more] = await mailTo(world, "coordinator");
  expect(more).toEqual([]);
  expect(letter).toMatchObject({ fromAgent: "operator", type: "dispatch", subject: `objective changed: ${words}` });
  expect(letter?.body).toContain("- 1 [waived; T1] it reads CSV");
  expect(letter?.body).toContain("- 3 [open; no task] JSON instead of CSV");
  expect(letter?.body).toContain("ov task drop <task-id>");
  expect(await mailTo(world, "l1")).toEqual([]);
  expect(await world.store.read((tx) => tx.turns.queuedFor("agent-coordinator"))).toBeDefined();
});

test("the same change said again changes nothing and tells nobody", async () => {
  await using world = useCaseWorld();
  await led(world);
  await world.must(changeRun, { words });
  const before = await world.must(listCriteria, {});
  expect(await world.must(changeRun, { words })).toMatchObject({ changed: false, told: null });
  expect(await world.must(listCriteria, {})).toEqual(before);
  expect(await mailTo(world, "coordinator")).toHaveLength(1);
});

test("until the objective is split, the changed objective itself has to be shown", async () => {
  await using world = useCaseWorld();
  await led(world);
  expect(await world.must(changeRun, { words })).toMatchObject({ criterion: null });
  const { criteria } = await world.must(listCriteria, {});
  expect(criteria).toMatchObject([{ criterion: { number: 1, text: "Read CSV [change 1: JSON instead of CSV]" } }]);
});

test("a run cannot end before the change was looked at; the operator can always end it", async () => {
  await using world = useCaseWorld();
  await led(world);
  await world.must(addCriteriaToRun, { texts: ["it reads CSV"] }, coordinator);
  const seen = { landed: "c1", unchanged: false };
  const proof = { runId: "run-1", number: 1, evidence: { kind: "file", path: "a.ts" } as const, seen };
  await world.must(recordProof, proof, coordinator);
  await world.must(changeRun, { words: "JSON too" });
  await world.store.transaction((tx) => tx.agents.release("agent-l1", 1));
  expect(await world.call(endRun, {}, coordinator)).toMatchObject({ refusal: { kind: "run-open", criteria: [2] } });
  expect(await world.must(endRun, { waive: [2], reason: "next time" })).toMatchObject({ status: "completed" });
  expect(await world.call(changeRun, { words })).toMatchObject({ refusal: { kind: "invalid", field: "run" } });
});

test("after a change the coordinator puts criteria into other words, once each; the older words are kept", async () => {
  await using world = useCaseWorld();
  await led(world);
  await world.must(addCriteriaToRun, { texts: ["it reads CSV"] }, coordinator);
  const amend = { number: 1, text: "it reads JSON" };
  expect(await world.call(amendCriterionOfRun, amend, coordinator)).toMatchObject({ refusal: { field: "number" } });
  await world.must(changeRun, { words });
  const { criteria } = await world.must(amendCriterionOfRun, amend, coordinator);
  expect(criteria[0]).toMatchObject({ criterion: { number: 1, text: "it reads JSON" } });
  const again = await world.call(amendCriterionOfRun, { ...amend, text: "it runs" }, coordinator);
  expect(again).toMatchObject({ ok: false });
  expect((await world.must(showRun, {})).changes).toMatchObject([
    { number: 1, criterion: null, wordsBefore: "Read CSV" },
    { number: 2, criterion: 1, words: "it reads JSON", wordsBefore: "it reads CSV", changedBy: "coordinator" },
  ]);
});

test("agents do not change the objective of a run, and leads not its checklist", async () => {
  await using world = useCaseWorld();
  await led(world);
  expect(changeRun.operatorOnly).toBe(true);
  const lead = agentCaller("l1", "lead", { runId: "run-1" });
  expect(await world.call(amendCriterionOfRun, { number: 1, text: "x" }, lead)).toMatchObject({
    refusal: { kind: "not-allowed" },
  });
});

test("L11: instructions order no criterion that was waived", async () => {
  await using world = useCaseWorld();
  await led(world);
  await world.must(addCriteriaToRun, { texts: ["it reads CSV", "it is documented"] }, coordinator);
  await world.must(changeRun, { words, waive: [1] });
  const assigned = await world.store.read(async (tx) => {
    const agent = await tx.agents.byName("coordinator");
    return agent === undefined ? undefined : assignmentOf(tx, agent);
  });
  expect(assigned?.objective).toContain("change 1: JSON instead of CSV");
  expect(assigned?.criteria.map(({ number }) => number)).toEqual([2, 3]);
});

/** The operator wants milliseconds, and takes that back. The coordinator asks whether the older criterion is void. */
async function takenBack(world: UseCaseWorld) {
  await led(world);
  await world.must(addCriteriaToRun, { texts: ["it reads CSV"] }, coordinator);
  await world.must(changeRun, { words: "Milliseconds" });
  const changed = await world.must(changeRun, { words: "Back to seconds" });
  const payload = JSON.stringify({ options: ["waive criterion 2", "keep criterion 2"], context: "seconds again" });
  const gate = { to: "operator", subject: "Is criterion 2 void?", body: "?", type: "decision_gate", payload };
  const { id } = await world.must(sendMail, gate, coordinator);
  return { changed, gate: id };
}

const waivedIn = async (world: UseCaseWorld): Promise<readonly (readonly [number, string | null])[]> =>
  (await world.must(listCriteria, {})).criteria.flatMap(({ criterion: { number, waivedAt, waiveReason } }) =>
    waivedAt === null ? [] : [[number, waiveReason] as const],
  );

test("a change that takes an earlier one back: all are told how the older criterion goes", async () => {
  await using world = useCaseWorld();
  const { changed } = await takenBack(world);
  expect(changed.earlier.map(({ number }) => number)).toEqual([2]);
  const [letter] = await mailTo(world, "coordinator");
  expect(letter?.body).toContain('"waive criterion 2"');
  expect(await world.call(amendCriterionOfRun, { number: 2, text: "seconds" }, coordinator)).toMatchObject({
    refusal: { problem: expect.stringMatching(/"waive criterion 2".*ov run criteria waive 2/) },
  });
  const { refusal } = (await world.call(endRun, {}, coordinator)) as { refusal: { open: readonly { fix: string }[] } };
  expect(refusal.open.map(({ fix }) => fix).join("\n")).toContain('"waive criterion 2"');
});

test("the operator's answer that waives a criterion does it, by either command, and another answer does not", async () => {
  for (const way of ["decide", "reply", "keep"] as const) {
    await using world = useCaseWorld();
    const { gate } = await takenBack(world);
    if (way === "reply") await world.must(replyToMail, { id: gate ?? "", body: "waive criterion 2" });
    else await world.must(decide, { id: gate ?? "", option: way === "keep" ? "2" : "1" });
    expect(await waivedIn(world)).toEqual(way === "keep" ? [] : [[2, `decided in ${gate}: Is criterion 2 void?`]]);
  }
});

/** The coordinator asks with this option, and the operator chooses it. */
async function chosen(world: UseCaseWorld, option: string): Promise<string> {
  const payload = JSON.stringify({ options: [option, "no"] });
  const gate = { to: "operator", subject: "Needless?", body: option, type: "decision_gate", payload };
  const { id } = await world.must(sendMail, gate, coordinator);
  await world.must(decide, { id: id ?? "", option });
  return (await mailTo(world, "coordinator")).find(({ type }) => type === "decision")?.body ?? "";
}

test("an objective that was not split is waived by an answer too", async () => {
  await using world = useCaseWorld();
  await led(world);
  expect(await chosen(world, "waive criterion 1")).toContain("Criterion 1 is waived by this answer.");
  expect((await waivedIn(world)).map(([number]) => number)).toEqual([1]);
});

test("an option may waive several criteria, and say why; one that only reads so is refused before the operator is asked", async () => {
  for (const [option, numbers] of [
    ["Waive criterion 2 (it cannot be met)", [2]],
    ["waive criterion 2.", [2]],
    ["waive criteria 1, 2 and 3: nothing of it can be built", [1, 2, 3]],
    ["waive criteria 1, 9", [1]],
  ] as const) {
    await using world = useCaseWorld();
    await led(world);
    await world.must(addCriteriaToRun, { texts: ["it reads CSV", "it writes CSV", "it is documented"] }, coordinator);
    expect(await chosen(world, option)).toContain(" waived by this answer.");
    expect((await waivedIn(world)).map(([number]) => number)).toEqual([...numbers]);
  }
  await using world = useCaseWorld();
  await led(world);
  await world.must(addCriteriaToRun, { texts: ["it reads CSV", "it writes CSV"] }, coordinator);
  for (const option of ["waive all criteria", "waive the criterion about CSV", "waive criterion 1 if 2 is met"]) {
    const payload = JSON.stringify({ options: [option, "no"] });
    const gate = { to: "operator", subject: "Needless?", body: option, type: "decision_gate", payload };
    expect(await world.call(sendMail, gate, coordinator)).toMatchObject({
      refusal: { problem: expect.stringContaining('"waive criterion <number>"') },
    });
  }
});

test("a change that only takes something back is no criterion; the coordinator is told to amend, or to ask for a waiver", async () => {
  await using world = useCaseWorld();
  await led(world);
  await world.must(addCriteriaToRun, { texts: ["it writes csv and xml", "it writes xml"] }, coordinator);
  const changed = await world.must(changeRun, { words: "No xml after all.", waive: [2] });
  expect(changed).toMatchObject({ changed: true, criterion: null, withdraws: true, told: "coordinator" });
  expect(changed.run.objective).toBe("Read CSV [change 1: No xml after all.]");
  expect(changed.criteria.map(({ criterion, status }) => [criterion.text, status])).toEqual([
    ["it writes csv and xml", "open"],
    ["it writes xml", "waived"],
  ]);
  const [letter] = await mailTo(world, "coordinator");
  expect(letter?.body).toContain("It only takes something back, so it is no criterion.");
  expect(letter?.body).toContain('the option "waive criterion <number>"');
  expect(letter?.body).toContain("- put criteria that are wrong now into other words, of 1: ov run criteria amend");
  await world.must(amendCriterionOfRun, { number: 1, text: "it writes csv" }, coordinator);
  // A change that also wants something stays a criterion, and so does any other.
  expect(await world.must(changeRun, { words: "no csv, but json" })).toMatchObject({ criterion: 3, withdraws: false });
  expect(await world.must(changeRun, { words: "skip empty lines" })).toMatchObject({ criterion: 4 });
  const bodies = (await mailTo(world, "coordinator")).map(({ body }) => body);
  expect(bodies.find((body) => body.includes(": skip empty lines"))).toContain(
    `- criterion 4 has the operator's own words too; if it only takes something back, ask with a decision_gate: the option "waive criterion 4"`,
  );
});
