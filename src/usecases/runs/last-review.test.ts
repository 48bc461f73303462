import { expect, test } from "bun:test";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { coordinator, end, met, reads } from "../../../testkit/last-review-world.ts";
import { agentCaller, storedAgent, useCaseWorld } from "../../../testkit/use-case.ts";
import { engineCaller } from "../../domain/caller/caller.ts";
import { renderOverlay } from "../../domain/role/render/overlay.ts";
import { renderReviewed } from "../../domain/role/render/reviewed.ts";
import { changeState } from "../agents/reopen-agent.ts";
import { requestStop } from "../agents/stop.ts";
import { checkTriggers } from "../coordinators/check-complete.ts";
import { checkMail } from "../mail/check.ts";
import { fromEngine, post } from "../mail/post.ts";
import { replyToMail } from "../mail/reply.ts";
import { sendMail } from "../mail/send.ts";
import { decide } from "../operator/decide.ts";
import { openDecisions } from "../operator/decisions.ts";
import { operatorInbox } from "../operator/inbox.ts";
import { assignmentOf } from "../prompts/assignment.ts";
import { updateTask } from "../tasks/change-tasks.ts";
import { closeTask } from "../tasks/close-task.ts";
import { changeRun } from "./change-objective.ts";
import { endRun } from "./change-run.ts";
import { addCriteriaToRun, recordProof } from "./criteria.ts";

test("a coordinator does not stop the reading of its own run; the operator may", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  const why = expect.stringContaining("nobody whose work is read has a say in it");
  const stop = { name: "last-review-1", tree: false };
  expect(await world.call(requestStop, stop, coordinator)).toMatchObject({ refusal: { kind: "not-allowed", why } });
  expect(await world.call(requestStop, stop)).toMatchObject({ ok: true });
});

test("a run of more than one task ends when a reviewer has read what landed and passed it", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  expect(await end(world)).toMatchObject({ status: "active", review: expect.stringContaining("last-review-1") });
  const [reviewer, task, served] = await world.store.read(async (tx) => [
    await tx.agents.byName("last-review-1"),
    await tx.tasks.get("last-review-1"),
    await tx.criteria.ofTask("last-review-1"),
  ]);
  const seat = { capability: "reviewer", parentName: "coordinator", baseRef: "overstory/integration/x" };
  expect(reviewer).toMatchObject(seat);
  expect(task?.description).toContain("git diff main...overstory/integration/x");
  expect(served.map(({ number }) => number)).toEqual([1, 2]);
  // While it reads, the run is open, and no second reviewer is started.
  expect(await world.call(endRun, { landed: "c1" }, coordinator)).toMatchObject({
    refusal: { kind: "run-open", agents: ["last-review-1"] },
  });
  await reads(world, "last-review-1", "c1", "pass");
  expect(await end(world)).toMatchObject({ status: "completed", review: null });
});

test("a run of one task, of which some evidence is older than the run, ends when a reviewer has judged it", async () => {
  await using world = useCaseWorld();
  await met(world, 1);
  await world.store.transaction(async (tx) => {
    const [first] = await tx.criteria.of("run-1");
    if (first !== undefined) await tx.criteria.put({ ...first, proofUnchanged: true });
  });
  expect(await end(world)).toMatchObject({ status: "active", review: expect.stringContaining("last-review-1") });
  await reads(world, "last-review-1", "c1", "pass");
  expect(await end(world)).toMatchObject({ status: "completed", review: null });
  const [letter] = await world.store.read((tx) => tx.messages.list({ to: "operator", type: "status" }));
  expect(letter?.body).toContain("Nothing has landed in this run.");
});

test("the last reviewer is told that a later change counts over an earlier one, where there was a change", async () => {
  for (const isChanged of [false, true]) {
    await using world = useCaseWorld();
    await met(world, 2);
    if (isChanged) await world.must(changeRun, { words: "criterion 1" });
    await end(world);
    const task = await world.store.read((tx) => tx.tasks.get("last-review-1"));
    expect(task?.description?.includes("A later change counts over an earlier one")).toBe(isChanged);
  }
});

test("a coordinator ends no run over words of the operator that it has not read", async () => {
  await using world = useCaseWorld();
  await met(world, 1);
  const { told } = await world.must(changeRun, { words: "an empty list throws" });
  expect(told).toBe("coordinator");
  const proof = { evidence: { kind: "file", path: "a.ts" }, seen: { landed: "c1", unchanged: false } } as const;
  await world.must(recordProof, { runId: "run-1", number: 3, ...proof }, coordinator);
  const complete = () => world.call(endRun, { landed: "c1" }, coordinator);
  expect(await complete()).toMatchObject({
    refusal: { open: [{ what: expect.stringContaining("objective changed: an empty list throws") }] },
  });
  // The news of the engine is no word of the operator.
  await world.store.transaction((tx) =>
    post(tx, world.context(engineCaller), {
      ...fromEngine,
      runId: "run-1",
      address: "coordinator",
      recipients: [{ name: "coordinator", wake: true, reason: "news" }],
      subject: "news",
      body: "news",
      type: "status",
      priority: "normal",
    }),
  );
  await world.must(checkMail, { types: ["dispatch"] }, coordinator);
  expect(await complete()).toMatchObject({ value: { status: "completed" } });
});

test("a last review that cannot be done is a decision of the operator, not a block", async () => {
  for (const option of ["complete without it", "have it read again"]) {
    await using world = useCaseWorld();
    await met(world, 2);
    await end(world);
    await reads(world, "last-review-1", "c1", null);
    const [death] = await world.store.read((tx) => tx.messages.list({ type: "worker_died" }));
    expect(death?.body).toContain("ov release last-review-1, then ov run complete");
    expect(await end(world)).toMatchObject({
      status: "active",
      review: expect.stringContaining("the operator is asked"),
    });
    const [asked] = await world.store.read((tx) => openDecisions(tx, { runId: "run-1" }));
    expect(asked).toMatchObject({ from: "coordinator", options: ["complete without it", "have it read again"] });
    expect(await world.call(endRun, { landed: "c1" }, coordinator)).toMatchObject({ refusal: { kind: "run-open" } });
    const { messageId } = await world.must(decide, { id: asked?.id ?? "", option });
    const answer = await world.store.read((tx) => tx.messages.get(messageId ?? ""));
    if (option === "have it read again") expect(answer?.body).toContain("Start another reviewer with: ov run complete");
    const then = await end(world);
    if (option === "have it read again")
      expect(then).toMatchObject({ status: "active", review: expect.stringContaining("last-review-2") });
    else expect(then).toMatchObject({ status: "completed" });
    // What the dead reviewer should have read is over with the run.
    if (option === "have it read again") continue;
    expect(await world.store.read((tx) => tx.tasks.list({ unclosed: true }))).toEqual([]);
    // Its reviewer went with the answer, so that nothing is marked that no command is left for.
    const dead = await world.store.read((tx) => tx.agents.byName("last-review-1"));
    expect(dead?.releasedAt).not.toBeNull();
    expect((await world.must(operatorInbox, {})).troubled).toEqual([]);
  }
});

test("agents of a run cannot change the task of its last reviewer", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  const id = "last-review-1";
  const why = expect.stringContaining("reading of the whole run");
  for (const caller of [coordinator, agentCaller("lea", "lead", { runId: "run-1" })]) {
    expect(await world.call(updateTask, { id, title: "Formal end" }, caller)).toMatchObject({ refusal: { why } });
    expect(await world.call(updateTask, { id, criteria: [] }, caller)).toMatchObject({ refusal: { why } });
    expect(await world.call(closeTask, { id }, caller)).toMatchObject({ refusal: { why } });
  }
});

test("only the engine's own question lets a run end without its last review, and only for that answer", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  const payload = JSON.stringify({ options: ["x", "complete without it"], lastReview: "run-1", context: "a name" });
  const forged = { to: "operator", subject: "A name?", body: "?", type: "decision_gate", payload } as const;
  const { id } = await world.must(sendMail, forged, coordinator);
  await world.must(decide, { id: id ?? "", option: "complete without it" });
  expect(await end(world)).toMatchObject({ status: "active", review: expect.stringContaining("last-review-1") });
  await reads(world, "last-review-1", "c1", null);
  await end(world);
  const asked = (await world.store.read((tx) => openDecisions(tx, { runId: "run-1" }))).at(-1);
  await world.must(decide, { id: asked?.id ?? "", option: "have it read again", note: "do not complete without it" });
  expect(await end(world)).toMatchObject({ status: "active", review: expect.stringContaining("last-review-2") });
});

test("every run has a last review, with a name that no run before it has used", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  await reads(world, "last-review-1", "c1", "pass");
  expect(await end(world)).toMatchObject({ runId: "run-1", status: "completed" });
  await met(world, 2, "run-2");
  const second = agentCaller("coordinator", "coordinator", { runId: "run-2" });
  expect(await world.must(endRun, { landed: "c2" }, second)).toMatchObject({
    runId: "run-2",
    status: "active",
    review: expect.stringContaining("last-review-2 reads the whole difference"),
  });
});

test("a coordinator that asks for the end or a proof itself, and not by the operations that look into git, is refused", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  const refused = { refusal: { kind: "not-allowed" } };
  expect(await world.call(endRun, {}, coordinator)).toMatchObject(refused);
  const evidence = { kind: "file", path: "no/such/file" } as const;
  expect(await world.call(recordProof, { runId: "run-1", number: 1, evidence }, coordinator)).toMatchObject(refused);
  // A request from outside cannot say that somebody looked.
  for (const { request } of [endRun, recordProof]) expect(JSON.stringify(request)).not.toMatch(/landed|seen/);
});

test("a run of one task, and one without a checklist, ends without a last review", async () => {
  await using world = useCaseWorld();
  await met(world, 1);
  expect(await end(world)).toMatchObject({ status: "completed", review: null });
});

test("tasks that are older than the run, or that no list knows, count when its agents worked on them", async () => {
  await using world = useCaseWorld();
  await met(world, 0);
  await world.store.transaction(async (tx) => {
    await tx.tasks.insert(aTask("older", { status: "closed" }));
    for (const [name, taskId] of [
      ["b1", "older"],
      ["b2", "unknown"],
    ] as const) {
      const agent = storedAgent(name, { runId: "run-1", parentName: "coordinator", taskId });
      await tx.agents.reserve({ ...agent, state: "completed", outcome: "done", releasedAt: 1 });
    }
  });
  expect(await end(world)).toMatchObject({ status: "active", review: expect.stringContaining("last-review-1") });
});

test("a coordinator does not end its run over a question that the operator has not answered", async () => {
  await using world = useCaseWorld();
  await met(world, 1);
  const ask = { to: "operator", subject: "Which name?", body: "?" };
  const gate = { ...ask, type: "decision_gate", payload: JSON.stringify({ options: ["a", "b"], context: "a name" }) };
  const { id } = await world.must(sendMail, gate, coordinator);
  expect(await world.call(endRun, { landed: "c1" }, coordinator)).toMatchObject({
    refusal: { kind: "run-open", open: [{ what: expect.stringContaining('has not answered "Which name?"') }] },
  });
  await world.must(decide, { id: id ?? "", option: "a" });
  const question = await world.must(sendMail, { ...ask, type: "question" }, coordinator);
  expect(await world.call(endRun, { landed: "c1" }, coordinator)).toMatchObject({ refusal: { kind: "run-open" } });
  await world.must(replyToMail, { id: question.id ?? "", body: "b" });
  expect(await end(world)).toMatchObject({ status: "completed" });
});

test("an answer to an agent that has ended is refused, and not taken for delivered", async () => {
  await using world = useCaseWorld();
  await met(world, 1);
  const payload = JSON.stringify({ options: ["a", "b"], context: "a name" });
  const gate = { to: "operator", subject: "Which?", body: "?", type: "decision_gate", payload };
  const { id } = await world.must(sendMail, gate, coordinator);
  await world.store.transaction(async (tx) => {
    const head = await tx.agents.byName("coordinator");
    if (head === undefined) throw new Error("nobody leads");
    await changeState(tx, head, { to: "between_turns", actor: "engine", reason: "test" }, world.now());
  });
  await world.must(endRun, { landed: "c1" });
  expect(await world.call(decide, { id: id ?? "", option: "a" })).toMatchObject({
    refusal: { kind: "invalid", problem: expect.stringContaining("coordinator of run-1, which asked, has ended") },
  });
});

test("coordinator.lastReview: false ends a run without one", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  const context = world.context(coordinator);
  const settings = { ...context.settings, coordinator: { ...context.settings.coordinator, lastReview: false } };
  const ended = await world.store.transaction((tx) => endRun.run(tx, { ...context, settings }, { landed: "c1" }));
  expect(ended).toMatchObject({ ok: true, value: { status: "completed" } });
});

test("check-complete names a last review that found something", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  await reads(world, "last-review-1", "c1", "needs_changes");
  const facts = { capability: "coordinator", tracker: { kind: "native" } } as const;
  const check = (landed: string) => world.must(checkTriggers, { ...facts, landed }, coordinator);
  expect((await check("c1")).open).toMatchObject([{ what: expect.stringContaining("its verdict is needs_changes") }]);
  expect((await check("c2")).open).toEqual([]);
});

test("a coordinator that is idle when the operator ends its run goes with the run", async () => {
  await using world = useCaseWorld();
  await met(world, 1);
  await world.store.transaction(async (tx) => {
    const head = await tx.agents.byName("coordinator");
    if (head === undefined) throw new Error("nobody leads");
    await changeState(tx, head, { to: "between_turns", actor: "engine", reason: "test" }, world.now());
  });
  await world.must(endRun, { landed: "c1" });
  expect(await world.store.read((tx) => tx.agents.byName("coordinator"))).toMatchObject({
    state: "completed",
    outcome: "done",
    releasedAt: expect.any(Number),
  });
});

test("a second last reviewer is shown what the first found, and judges the whole all the same", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  await reads(world, "last-review-1", "c1", "fail", "a.ts:3: error: the second part is missing");
  await end(world, "c2");
  const second = await world.store.read((tx) => tx.agents.byName("last-review-2"));
  if (second === undefined) throw new Error("nobody reads anew");
  const given = await world.store.read((tx) => assignmentOf(tx, second));
  expect(given.reviewBefore).toMatchObject({ by: "last-review-1", verdict: "fail" });
  expect(given.reviewBefore?.findings).toContain("the second part is missing");
  const shown = renderReviewed(given);
  expect(shown).toContain("the second part is missing");
  expect(shown).not.toContain("A new wish that the first review did not have");
});

test("the last reviewer is shown the whole objective beside the criteria, and reports clauses that no criterion covers", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  const objective = `Do it all, ${"in every case, ".repeat(40)}and name it in the changelog`;
  await world.store.transaction((tx) => tx.runs.setObjective("run-1", objective));
  await world.must(addCriteriaToRun, { texts: ["a wish of the operator"] });
  await world.must(recordProof, {
    runId: "run-1",
    number: 3,
    evidence: { kind: "file", path: "a.ts" },
    seen: { landed: "c1", unchanged: false },
  });
  await end(world);
  const reviewer = await world.store.read((tx) => tx.agents.byName("last-review-1"));
  if (reviewer === undefined) throw new Error("nobody reads");
  const given = await world.store.read((tx) => assignmentOf(tx, reviewer));
  const terms = { gates: [], instructionFile: "CLAUDE.md", maxAgentsPerLead: 0, expertise: false };
  const shown = renderOverlay(given, terms);
  expect(shown).toContain(`objective: ${objective}`);
  expect(shown).toContain("criterion 3: a wish of the operator");
  expect(shown).toContain("the objective asks for <clause>, and no criterion covers it");
  expect(shown).toContain('"not run: <what>, because <why>"');
  // One form of findings, in every text that it is shown.
  expect(shown).not.toContain('"severity"');
});
