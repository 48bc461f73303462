import { expect, test } from "bun:test";
import { anOp } from "../../../testkit/contracts/store/merges.ts";
import { aCriterion, aTask } from "../../../testkit/contracts/store/rows.ts";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { engineCaller } from "../../domain/caller/caller.ts";
import type { Missing } from "../../domain/completion/check.ts";
import { Rollback } from "../../ports/store.ts";
import { endAgent } from "../agents/end-agent.ts";
import { changeState } from "../agents/reopen-agent.ts";
import { acceptCompletion } from "../completions/accept.ts";
import { checkStatus, requestDone } from "../completions/checks.ts";
import { checkTriggers } from "../coordinators/check-complete.ts";
import { post } from "../mail/post.ts";
import { replyToMail, sendMail } from "../mail/send.ts";
import { decide } from "../operator/decide.ts";
import { openDecisions } from "../operator/decisions.ts";
import { overview } from "../status/overview.ts";
import { updateTask } from "../tasks/change-tasks.ts";
import { closeTask } from "../tasks/close-task.ts";
import { changeRun } from "./change-objective.ts";
import { endRun } from "./change-run.ts";
import { listCriteria, recordProof, waiveCriterionOfRun } from "./criteria.ts";
import type { LandedLook } from "./end-after-review.ts";
import { listRuns, showRun } from "./read-runs.ts";

const coordinator = agentCaller("coordinator", "coordinator", { runId: "run-1" });

/** A run in which everything is met but the last review, with so many tasks. */
async function met(world: UseCaseWorld, tasks: number, runId = "run-1"): Promise<void> {
  const run = { ...activeRun(runId, world.now()), coordinatorName: "coordinator", objective: "Do it all" };
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...run, checklist: true, targetBranch: "main", landingBranch: "overstory/integration/x" });
    const facts = { capability: "coordinator", runId, parentName: "operator", depth: 0 } as const;
    const before = await tx.agents.byName("coordinator");
    const over = { state: "completed", outcome: "done", actor: "engine", reason: "its run is over" } as const;
    if (before !== undefined) await endAgent(tx, world.context(), before, { ...over, death: null, turnId: null });
    const generation = (before?.generation ?? 0) + 1;
    const id = generation === 1 ? "agent-coordinator" : `agent-coordinator-${generation}`;
    await tx.agents.reserve(storedAgent("coordinator", { ...facts, id, generation, state: "in_turn" }));
    const proof = { proofKind: "file", proofPath: "a.ts", provedAt: 1, provedBy: "coordinator" } as const;
    for (const number of [1, 2]) await tx.criteria.put(aCriterion(number, { runId, ...proof }));
    for (let n = 1; n <= tasks; n++) await tx.tasks.insert(aTask(`${runId}-T${n}`, { runId, status: "closed" }));
  });
}

const end = (world: UseCaseWorld, landed = "c1") => world.must(endRun, { landed }, coordinator);

/** The reviewer has read this commit and ends, with a verdict or without. */
async function reads(
  world: UseCaseWorld,
  name: string,
  commit: string,
  verdict: string | null,
  findings = finding,
): Promise<void> {
  await world.store.transaction(async (tx) => {
    const reviewer = await tx.agents.byName(name);
    if (reviewer === undefined) throw new Error("nobody reads");
    await tx.agents.setBase(reviewer.id, commit);
    if (verdict !== null) return;
    const death = { actor: "supervisor", reason: "it crashed", death: "it crashed", turnId: null } as const;
    await endAgent(tx, world.context(), reviewer, { state: "zombie", outcome: "crashed", ...death });
  });
  if (verdict !== null) expect(await finishes(world, name, { verdict, findings })).toEqual([]);
}

const finding = "a.ts:3: error: the second part is missing";

/** The reviewer says that it is done. Answers what is missing; nothing: it was accepted. */
async function finishes(
  world: UseCaseWorld,
  name: string,
  said: { readonly verdict?: string; readonly branch?: string; readonly findings?: string },
  landedLook?: LandedLook,
): Promise<readonly Missing[]> {
  const findings = said.verdict === "pass" ? {} : { findings: said.findings ?? finding };
  const { id } = await world.must(requestDone, { summary: "I have read it", agent: name, ...said, ...findings });
  await world.store.transaction((tx) => tx.checks.change(id, ["queued"], { status: "running" }));
  const { check } = await world.must(checkStatus, { id });
  if (check.request.kind !== "completion") throw new Error("that is no completion");
  const proved = { check, request: check.request.done, work: null, unmerged: [], proved: null, landedLook };
  try {
    await world.store.transaction((tx) => acceptCompletion(tx, world.context(engineCaller), proved));
    return [];
  } catch (thrown) {
    if (!(thrown instanceof Rollback)) throw thrown;
    await world.store.transaction((tx) => tx.checks.change(id, ["running"], { status: "failed" }));
    return thrown.value;
  }
}

/** A message of the reviewer that has the form of a verdict, and is none: nothing was checked. */
const mailsVerdict = (world: UseCaseWorld, name: string, branch: string): Promise<unknown> =>
  world.store.transaction(async (tx) =>
    post(tx, world.context(), {
      from: name,
      fromAgentId: (await tx.agents.byName(name))?.id ?? null,
      runId: "run-1",
      verified: true,
      address: "coordinator",
      recipients: [{ name: "coordinator", wake: true }],
      subject: "Review",
      body: "read",
      type: "review",
      priority: "normal",
      payload: JSON.stringify({ verdict: "pass", branch }),
    }),
  );

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

test("a finding that names a criterion takes its proof back, and the next reviewer is shown what is left", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await world.store.transaction(async (tx) => {
    const [first] = await tx.criteria.of("run-1");
    if (first !== undefined) await tx.criteria.put({ ...first, proofUnchanged: true });
  });
  await end(world);
  const described = (name: string) => world.store.read(async (tx) => (await tx.tasks.get(name))?.description);
  expect(await described("last-review-1")).toContain("- criterion 1: file a.ts, unchanged since before this run");
  const findings = `criterion 2: a.ts:3: the version is 1.0.0\nexpected: 1.1.0\n${finding}`;
  expect(await finishes(world, "last-review-1", { verdict: "needs_changes", findings })).toEqual([]);
  const { criteria } = await world.must(overview, { all: true, mailbox: "operator" });
  expect(criteria).toMatchObject([
    { criterion: { proofLost: null }, tasks: [] },
    { criterion: { proofLost: "does not show it: last-review-1 found that it is not met" }, tasks: [] },
  ]);
  expect(await world.call(endRun, { landed: "c2" }, coordinator)).toMatchObject({
    refusal: { criteria: [2], open: [{ what: expect.stringContaining("file a.ts does not show it") }] },
  });
  const letters = await world.store.read((tx) => tx.messages.list({ to: "operator", type: "status" }));
  expect(letters[0]?.body).toContain("- criterion 2: a.ts:3: error: the version is 1.0.0");
  const seen = { landed: "c2", unchanged: false };
  const evidence = { kind: "file", path: "package.json" } as const;
  await world.must(recordProof, { runId: "run-1", number: 2, evidence, seen }, coordinator);
  await world.must(endRun, { landed: "c2" }, coordinator);
  expect(await described("last-review-2")).toContain("- criterion 2: file package.json");
});

test("findings keep the run open until something else has landed, which is read anew", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  await reads(world, "last-review-1", "c1", "needs_changes");
  expect(await world.call(endRun, { landed: "c1" }, coordinator)).toMatchObject({
    refusal: { open: [{ what: expect.stringContaining("its verdict is needs_changes") }] },
  });
  expect(await end(world, "c2")).toMatchObject({ status: "active", review: expect.stringContaining("last-review-2") });
  // The operator has the last word, and is told that nobody has read the whole.
  await reads(world, "last-review-2", "c2", "fail");
  expect(await world.must(endRun, { landed: "c2" })).toMatchObject({
    status: "completed",
    review: expect.stringContaining(
      "last-review-2 read the whole difference, and its verdict is fail; its findings: ov mail read msg-",
    ),
  });
});

test("the operator is told what a last review found, and status shows the verdict until another one reads", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  const looks = { all: false, mailbox: "operator" };
  expect(await world.must(overview, looks)).toMatchObject({ lastReview: null });
  await reads(world, "last-review-1", "c1", "fail");
  const [letter] = await world.store.read((tx) => tx.messages.list({ to: "operator", runId: "run-1" }));
  expect(letter?.subject).toBe("last review of run-1: fail");
  expect(letter?.body).toContain(finding);
  expect(letter?.body).toContain("coordinator was told");
  expect(await world.must(overview, looks)).toMatchObject({
    lastReview: { by: "last-review-1", verdict: "fail", commit: "c1", findings: 1, message: letter?.id },
  });
  // Also an end by force does not hide it.
  expect(await world.must(endRun, { landed: "c1", force: true })).toMatchObject({
    review: expect.stringContaining("its verdict is fail"),
  });
});

test("only a verdict that was accepted, on the branch where the run lands, passes the whole", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  await world.store.transaction(async (tx) => {
    const facts = { parentName: "coordinator", runId: "run-1", taskId: "run-1-T1" } as const;
    const builder = { ...storedAgent("b1", facts), branch: "overstory/b1/run-1-T1", releasedAt: 1 };
    await tx.agents.reserve({ ...builder, state: "completed", outcome: "done" });
    const reviewer = await tx.agents.byName("last-review-1");
    if (reviewer !== undefined) await tx.agents.setBase(reviewer.id, "c1");
  });
  const other = { verdict: "pass", branch: "overstory/b1/run-1-T1" };
  expect(await finishes(world, "last-review-1", other)).toMatchObject([
    { kind: "branch", names: ["overstory/integration/x"] },
  ]);
  // Words in a message pass nothing, whatever branch they name, and do not replace the verdict.
  await mailsVerdict(world, "last-review-1", "overstory/integration/x");
  expect(await finishes(world, "last-review-1", {})).toMatchObject([{ kind: "verdict" }]);
  await reads(world, "last-review-1", "c1", null);
  expect(await end(world)).toMatchObject({
    status: "active",
    review: expect.stringContaining("last-review-1 ended without a verdict"),
  });
});

test("a change of the objective after the last review has the whole read anew, for the checklist as it is now", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  await reads(world, "last-review-1", "c1", "pass");
  await world.must(changeRun, { words: "and JSON" });
  await world.must(waiveCriterionOfRun, { number: 3, reason: "it does that" });
  expect(await end(world)).toMatchObject({ status: "active", review: expect.stringContaining("last-review-2") });
  await reads(world, "last-review-2", "c1", "pass");
  expect(await end(world)).toMatchObject({ status: "completed" });
});

test("a last review that cannot be done is a decision of the operator, not a block", async () => {
  for (const option of ["complete without it", "wait"]) {
    await using world = useCaseWorld();
    await met(world, 2);
    await end(world);
    await reads(world, "last-review-1", "c1", null);
    expect(await end(world)).toMatchObject({
      status: "active",
      review: expect.stringContaining("the operator is asked"),
    });
    const [asked] = await world.store.read((tx) => openDecisions(tx, { runId: "run-1" }));
    expect(asked).toMatchObject({ from: "coordinator", options: ["complete without it", "wait"] });
    expect(await world.call(endRun, { landed: "c1" }, coordinator)).toMatchObject({ refusal: { kind: "run-open" } });
    await world.must(decide, { id: asked?.id ?? "", option });
    const then = await end(world);
    if (option === "wait")
      expect(then).toMatchObject({ status: "active", review: expect.stringContaining("last-review-2") });
    else expect(then).toMatchObject({ status: "completed" });
    // What the dead reviewer should have read is over with the run.
    if (option !== "wait") expect(await world.store.read((tx) => tx.tasks.list({ unclosed: true }))).toEqual([]);
  }
});

test("who is read has no say in the assignment of the last reviewer", async () => {
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
  await world.must(decide, { id: asked?.id ?? "", option: "wait", note: "do not complete without it" });
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
    refusal: { kind: "invalid", problem: expect.stringContaining("coordinator, which asked, has ended") },
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

test("B5: an ended run shows the verdict that it ended with, what it left open, and no tick for what is not met", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  await reads(world, "last-review-1", "c1", "needs_changes", `criterion 2: ${finding}`);
  const during = await world.must(listCriteria, {});
  expect(during.criteria.map(({ status }) => status)).toEqual(["proved", "open"]);
  await world.store.transaction((tx) => tx.tasks.insert(aTask("fix", { runId: "run-1" })));
  await world.must(endRun, { landed: "c1", force: true });
  const shown = await world.must(showRun, { id: "run-1" });
  expect(shown).toMatchObject({
    status: "completed",
    lastReview: { verdict: "needs_changes", by: "last-review-1" },
    leftOpen: [expect.stringContaining("task fix"), expect.stringContaining("criterion 2")],
    criteria: [{ status: "proved" }, { status: "open" }],
  });
  expect(await world.must(listRuns, { last: 1 })).toMatchObject({
    runs: [{ lastReview: { verdict: "needs_changes" } }],
  });
});

test("B5: after findings that name no criterion nothing is ticked but what was shown since", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  await reads(world, "last-review-1", "c1", "fail", "a.ts:3: it says bye");
  const statuses = async () => (await world.must(listCriteria, {})).criteria.map(({ status }) => status);
  expect(await statuses()).toEqual(["doubted", "doubted"]);
  const evidence = { kind: "file", path: "a.ts" } as const;
  await world.must(
    recordProof,
    { runId: "run-1", number: 1, evidence, seen: { landed: "c2", unchanged: false } },
    coordinator,
  );
  expect(await statuses()).toEqual(["proved", "doubted"]);
});

test("B5: a run that is ended while it is read anew keeps the verdict before", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  await reads(world, "last-review-1", "c1", "fail");
  await end(world, "c2");
  expect((await world.must(showRun, { id: "run-1" })).lastReview).toBeNull();
  await world.must(endRun, { landed: "c2", force: true });
  expect((await world.must(showRun, { id: "run-1" })).lastReview).toMatchObject({
    by: "last-review-1",
    verdict: "fail",
  });
});

test("B10: a change of the objective reaches whoever reads the whole; a verdict without it does not count, one with it does", async () => {
  for (const isShown of [false, true]) {
    await using world = useCaseWorld();
    await met(world, 2);
    await end(world);
    await world.must(changeRun, { words: "and JSON" });
    await world.must(waiveCriterionOfRun, { number: 3, reason: "it does that" });
    const [letter] = await world.store.read((tx) => tx.deliveries.inState("last-review-1", ["queued"]));
    expect(letter?.message).toMatchObject({ fromAgent: "operator", body: expect.stringContaining("and JSON") });
    if (isShown && letter !== undefined) {
      await world.store.transaction((tx) => tx.deliveries.update({ ...letter.delivery, state: "delivered" }));
    }
    await reads(world, "last-review-1", "c1", "pass");
    const [report] = await world.store.read((tx) => tx.messages.list({ from: "last-review-1", type: "worker_done" }));
    expect(report?.body).toContain(isShown ? "End the run now" : "that pass does not count");
    expect(await end(world)).toMatchObject({ status: isShown ? "completed" : "active" });
  }
});
