import { expect, test } from "bun:test";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { coordinator, end, finding, finishes, met, reads } from "../../../testkit/last-review-world.ts";
import { storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { post } from "../mail/post.ts";
import { promotionDoubts } from "../merge/landing/promotion.ts";
import { overview } from "../status/overview.ts";
import { changeRun } from "./change-objective.ts";
import { endRun } from "./change-run.ts";
import { listCriteria, recordProof, waiveCriterionOfRun } from "./criteria.ts";
import { listRuns, showRun } from "./read-runs.ts";

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

test("a pass that names a criterion, an error or something critical is refused with what to do", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  const contradictions = [
    "criterion 2: warning: the version is missing",
    "a.ts:3: critical: it deletes the data",
    "the objective asks for a quiet mode, and no criterion covers it",
    "error: the objective asks for a quiet mode, and no criterion covers it",
  ];
  for (const findings of contradictions) {
    expect(await finishes(world, "last-review-1", { verdict: "pass", findings })).toMatchObject([
      {
        kind: "findings",
        message: expect.stringContaining("the verdict is pass, but"),
        fix: expect.stringContaining("ov done --verdict fail"),
      },
    ]);
  }
  expect(await world.must(showRun, { id: "run-1" })).toMatchObject({ run: { status: "active" } });
  const remark = { verdict: "pass", findings: "a.ts:3: warning: the name is odd" };
  expect(await finishes(world, "last-review-1", remark)).toEqual([]);
});

test("a promotion says what the last review of the run has against it, and which criteria are not shown", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  const doubted = async () => (await world.must(promotionDoubts, { runId: "run-1" })).doubted;
  expect(await doubted()).toEqual([]);
  await end(world);
  await reads(world, "last-review-1", "c1", "needs_changes");
  await world.must(endRun, { landed: "c1" });
  const { lastReview } = await world.must(showRun, { id: "run-1" });
  expect(await doubted()).toEqual([
    `the last review of run-1 says needs_changes: ov mail read ${lastReview?.message}`,
    "not shown to be met: criteria 1, 2: ov run criteria --run run-1",
  ]);
});

test("the verdict of a reviewer is the one that was reported, also after a repetition without a verdict", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  await reads(world, "last-review-1", "c1", "needs_changes");
  await world.store.transaction(async (tx) => {
    const reviewer = await tx.agents.byName("last-review-1");
    const [first] = await tx.checks.completionsOf(reviewer?.id ?? "");
    if (first?.request.kind !== "completion") throw new Error("nothing was reported");
    const request = { ...first.request, done: { ...first.request.done, verdict: null } };
    await tx.checks.insert({ ...first, id: "check-again", request });
  });
  expect(await world.must(showRun, { id: "run-1" })).toMatchObject({ lastReview: { verdict: "needs_changes" } });
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

test("waivers of all that a last review found let the run end, and other evidence has it read anew", async () => {
  for (const way of ["waive", "prove"] as const) {
    await using world = useCaseWorld();
    await met(world, 2);
    await end(world);
    await reads(world, "last-review-1", "c1", "fail", "criterion 2: the version is missing");
    expect(await world.call(endRun, { landed: "c1" }, coordinator)).toMatchObject({ refusal: { criteria: [2] } });
    if (way === "waive") {
      await world.must(waiveCriterionOfRun, { number: 2, reason: "no version this time" });
      const [told] = await world.store.read((tx) => tx.messages.list({ to: "coordinator", from: "operator" }));
      expect(told).toMatchObject({ subject: "criterion 2 is waived", body: expect.stringContaining("no version") });
      expect(await world.store.read((tx) => tx.turns.queuedFor("agent-coordinator"))).toBeDefined();
      expect(await end(world)).toMatchObject({ status: "completed" });
      continue;
    }
    for (let number = 2; number <= 4; number++) {
      const evidence = { kind: "file", path: `${number}.json` } as const;
      const seen = { landed: "c1", unchanged: false };
      await world.must(recordProof, { runId: "run-1", number: 2, evidence, seen }, coordinator);
      // A coordinator that only names other files has the same commit read three times.
      if (number === 4) break;
      expect(await end(world)).toMatchObject({ review: expect.stringContaining(`last-review-${number}`) });
      await reads(world, `last-review-${number}`, "c1", "fail", "criterion 2: the version is missing");
    }
    expect(await world.call(endRun, { landed: "c1" }, coordinator)).toMatchObject({
      refusal: { open: [{ what: expect.stringContaining("its verdict is fail") }] },
    });
  }
});

test("a waiver after a verdict that names no criterion has the run read anew", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  await reads(world, "last-review-1", "c1", "fail");
  await world.must(waiveCriterionOfRun, { number: 2, reason: "not this time" });
  expect(await end(world)).toMatchObject({ status: "active", review: expect.stringContaining("last-review-2") });
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

test("B5: after findings that name no criterion, only criteria shown since are ticked", async () => {
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

test("B10: a change of the objective reaches a last reviewer at work; a pass without it does not count, one with it does", async () => {
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
