import { expect, test } from "bun:test";
import { anEntry } from "../../../testkit/contracts/store/merges.ts";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { nothingChanged } from "../../../testkit/done-request.ts";
import { type MergeWorld, mergeWorld } from "../../../testkit/merge-queue-world.ts";
import { agentCaller } from "../../../testkit/use-case.ts";
import { type Caller, operator } from "../../domain/caller/caller.ts";
import type { Missing } from "../../domain/completion/check.ts";
import type { ReviewVerdict } from "../../domain/completion/request.ts";
import type { WorkSeen } from "../../domain/completion/rules.ts";
import { Rollback } from "../../ports/store.ts";
import { releaseAgentCommand } from "../agents/release-agent.ts";
import { checkMail } from "../mail/check.ts";
import { sendMail } from "../mail/send.ts";
import { decide } from "../operator/decide.ts";
import { addCriteriaToRun, listCriteria } from "../runs/criteria.ts";
import { closeTask } from "../tasks/close-task.ts";
import { recordDrop } from "../tasks/drop-task.ts";
import { acceptCompletion } from "./accept.ts";
import { checkStatus, requestDone } from "./checks.ts";

interface Finishing {
  readonly caller?: Caller;
  readonly agent?: string;
  readonly verdict?: ReviewVerdict;
  readonly branch?: string;
  readonly findings?: string;
  readonly work?: WorkSeen;
}

/** Asks for a completion and accepts it as the engine would, with nothing to prove. Answers what was missing. */
async function finish(world: MergeWorld, { caller = operator, work = nothingChanged, ...said }: Finishing) {
  world.clock.now += 1000;
  const { id } = await world.must(requestDone, { summary: "finished", findings: "a.ts:1: wrong", ...said }, caller);
  return accept(world, id, work);
}

async function accept(world: MergeWorld, id: string, work: WorkSeen = nothingChanged) {
  await world.store.transaction((tx) => tx.checks.change(id, ["queued"], { status: "running" }));
  const { check } = await world.must(checkStatus, { id });
  if (check.request.kind !== "completion") throw new Error("that is no completion");
  const proved = { check, request: check.request.done, work, unmerged: [], proved: null };
  try {
    await world.asEngine((tx, context) => acceptCompletion(tx, context, proved));
    return [];
  } catch (thrown) {
    if (!(thrown instanceof Rollback)) throw thrown;
    return (thrown.value as readonly Missing[]).map(({ kind }) => kind);
  }
}

const reviewer = (world: MergeWorld, name: string): Promise<Caller> =>
  world.seat(name, { capability: "reviewer", parentName: "lead-1", runId: "run-2", taskId: null });

test("a failed review reopens the builder; the third goes to the lead, to the agent above the lead, and to the operator", async () => {
  await using world = await mergeWorld();
  for (const round of [1, 2, 3]) {
    const caller = await reviewer(world, `r${round}`);
    await world.beginTurn(`r${round}`);
    expect(await finish(world, { caller, verdict: "fail" })).toEqual([]);
    const builder = await world.agent("b1");
    expect(builder.generation).toBe(Math.min(round + 1, 3));
    await world.asEngine((tx, { now }) =>
      tx.agents.move(
        builder,
        { state: "completed", stateVersion: builder.stateVersion + 1, outcome: "done", endedAt: now },
        { to: "completed", actor: "supervisor", reason: "clean" },
        now,
      ),
    );
  }
  expect(await world.mailOf("b1", "review")).toHaveLength(2);
  // The lead reads the verdict in the report, so it gets no second message.
  expect(await world.mailOf("lead-1", "review")).toEqual([]);
  expect(await world.mailOf("lead-1", "worker_done")).toHaveLength(3);
  expect(await world.mailOf("coordinator", "escalation")).toMatchObject([{ fromAgent: "system", priority: "high" }]);
  const [gate] = await world.mailOf("operator", "decision_gate");
  expect(await world.must(decide, { id: gate?.id ?? "", option: "give it up" })).toMatchObject({ to: "lead-1" });
  const [decision] = await world.mailOf("lead-1", "decision");
  expect(decision?.body).toStartWith("give it up\n\nIt is about this: overstory/b1/T1 of b1");
});

const found = [
  { file: "a.ts", line: 3, severity: "critical", text: "drops the last row", expected: "the last row is kept" },
  { text: "no test fails without the change" },
];

test("a verdict reaches builder and lead with all findings, each in one message; only the one that must act is woken", async () => {
  await using world = await mergeWorld();
  const caller = await reviewer(world, "r1");
  await world.beginTurn("r1");
  expect(await finish(world, { caller, verdict: "needs_changes", findings: JSON.stringify(found) })).toEqual([]);
  const said = [
    "- a.ts:3: critical: drops the last row",
    "  expected: the last row is kept",
    "- error: no test fails without the change",
  ].join("\n");
  const findings = [found[0], { file: "", severity: "error", text: "no test fails without the change" }];
  const [review, ...more] = await world.mailOf("b1", "review");
  expect(more).toEqual([]);
  expect(review?.body).toBe(`finished\n\n${said}`);
  expect(JSON.parse(review?.payload ?? "{}")).toMatchObject({ verdict: "needs_changes", findings });
  const [report, ...others] = await world.mailOf("lead-1", "worker_done");
  expect([...others, ...(await world.mailOf("lead-1", "review"))]).toEqual([]);
  expect(report?.subject).toBe("Review asks for changes: overstory/b1/T1");
  expect(report?.body).toBe(
    `finished\n\n${said}\n\nb1 was started again with these findings; you need not forward them.`,
  );
  expect(JSON.parse(report?.payload ?? "{}")).toMatchObject({
    verdict: "needs_changes",
    reviewedBranch: "overstory/b1/T1",
    reviewedCommit: "head-1",
    findings,
  });
  const deliveryTo = (message: typeof report, name: string) =>
    world.store.read((tx) => tx.deliveries.get(message?.seq ?? 0, name));
  expect(await deliveryTo(review, "b1")).toMatchObject({ wake: true });
  expect(await deliveryTo(report, "lead-1")).toMatchObject({ wake: false });
});

test("a branch that passed wakes its lead with one message, which says that the lead hands it over", async () => {
  await using world = await mergeWorld();
  const caller = await reviewer(world, "r1");
  await world.beginTurn("r1");
  expect(await finish(world, { caller, verdict: "pass", findings: "" })).toEqual([]);
  expect(await world.mailOf("lead-1", "review")).toEqual([]);
  const [report] = await world.mailOf("lead-1", "worker_done");
  expect(report?.body).toBe("finished\n\nIt passed. Hand the branch over with merge_ready; nobody else does.");
  expect(JSON.parse(report?.payload ?? "{}")).toMatchObject({ verdict: "pass", findings: [] });
  expect(await world.store.read((tx) => tx.deliveries.get(report?.seq ?? 0, "lead-1"))).toMatchObject({ wake: true });
  // The verdict is on record all the same: a later fail is the first in a row.
  expect(await world.store.read((tx) => tx.messages.list({ from: "r1", type: "review" }))).toHaveLength(1);
});

test("an accepted verdict stays: another one of the same reviewer is refused, the same once more is not", async () => {
  await using world = await mergeWorld();
  const caller = await reviewer(world, "r1");
  await world.beginTurn("r1");
  expect(await finish(world, { caller, verdict: "pass", findings: "" })).toEqual([]);
  const [report] = await world.mailOf("lead-1", "worker_done");
  const others = [
    { verdict: "needs_changes", findings: "a.ts:1: wrong" },
    { verdict: "pass", findings: "warning: odd" },
  ];
  for (const said of others) {
    expect(await world.call(requestDone, { summary: "on second thought", ...said }, { caller })).toMatchObject({
      refusal: {
        kind: "not-allowed",
        why: expect.stringContaining(
          `its verdict pass was accepted and reported to lead-1 (ov mail read ${report?.id}), and stays. If it was wrong, say so: ov mail send --to lead-1`,
        ),
      },
    });
  }
  expect(await world.store.read((tx) => tx.checks.completionsOf("agent-r1"))).toHaveLength(1);
  expect(await world.must(requestDone, { summary: "finished", verdict: "pass" }, caller)).toBeDefined();
});

test("a reviewer judges what it was given: its siblings' branches and those its assignment names, in its own run", async () => {
  await using world = await mergeWorld();
  const ended = { state: "completed", outcome: "done" } as const;
  await world.seat("b2", { ...ended, runId: "run-2", parentName: "lead-2", branch: "overstory/b2/T2" });
  await world.seat("b3", { ...ended, runId: "run-1", parentName: "lead-1", branch: "overstory/b3/T3" });
  const caller = await reviewer(world, "r1");
  for (const branch of ["b2", "overstory/b2/T2", "b3", "main"]) {
    expect(await finish(world, { caller, verdict: "fail", branch })).toEqual(["branch"]);
  }
  expect((await world.agent("b2")).generation).toBe(1);

  await world.seat("r2", {
    capability: "reviewer",
    parentName: "lead-1",
    runId: "run-2",
    taskId: null,
    instructions: "Judge overstory/b2/T2.",
  });
  expect(await finish(world, { agent: "r2", verdict: "fail", branch: "b2" })).toEqual([]);
  expect((await world.agent("b2")).generation).toBe(2);
});

test("a builder that was reopened as often as it may be is a decision for the operator at once", async () => {
  await using world = await mergeWorld();
  const ended = { state: "completed", outcome: "done", revivals: world.settings.agents.maxRevivals } as const;
  await world.seat("b2", { ...ended, runId: "run-2", parentName: "lead-1", branch: "overstory/b2/T2" });
  const caller = await reviewer(world, "r1");
  expect(await finish(world, { caller, verdict: "needs_changes", branch: "b2" })).toEqual([]);
  expect((await world.agent("b2")).generation).toBe(1);
  const [report] = await world.mailOf("lead-1", "worker_done");
  expect(report?.body).toEndWith("b2 was not started again; the operator was asked how to go on.");
  expect(await world.mailOf("coordinator", "escalation")).toHaveLength(1);
});

test("a lead is refused as a whole while a branch is open, and its task closes with those of its children", async () => {
  await using world = await mergeWorld();
  await world.asEngine((tx) => tx.tasks.insert(aTask("L1", { runId: "run-2", status: "in_progress" })));
  expect(await finish(world, { caller: world.lead })).toEqual(["unready-branch"]);
  expect(await world.mailOf("coordinator", "worker_done")).toEqual([]);
  await world.announce();
  expect(await finish(world, { caller: world.lead })).toEqual([]);
  const task = () => world.store.read((tx) => tx.tasks.get("L1"));
  expect(await task()).toMatchObject({ status: "in_review" });
  expect(await world.mailOf("coordinator", "worker_done")).toHaveLength(1);
  await world.must(closeTask, { id: "T1", reason: "landed" });
  expect(await task()).toMatchObject({ status: "closed" });
});

test("tasks that a completion makes ready are told to the agent that starts them, in the report where that agent reads it", async () => {
  await using world = await mergeWorld();
  await world.asEngine(async (tx) => {
    await tx.tasks.insert(aTask("L1", { runId: "run-2", status: "in_progress", claimedBy: "lead-1" }));
    for (const id of ["S1", "NEXT"]) await tx.tasks.insert(aTask(id, { runId: "run-2" }));
    await tx.tasks.insert(aTask("PART", { runId: "run-2", parentId: "L1" }));
    await tx.tasks.insert(aTask("AFTER", { runId: "run-2" }));
    await tx.tasks.addDependency({ taskId: "NEXT", dependsOn: "L1" });
    for (const taskId of ["PART", "AFTER"]) await tx.tasks.addDependency({ taskId, dependsOn: "S1" });
  });
  await world.seat("s1", { capability: "scout", parentName: "lead-1", runId: "run-2", taskId: "S1" });
  expect(await finish(world, { agent: "s1" })).toEqual([]);
  const ready = async (name: string, type: "worker_done" | "status") =>
    (await world.mailOf(name, type)).map(({ payload }) => JSON.parse(payload ?? "{}").readyTasks ?? []);
  expect(await ready("lead-1", "worker_done")).toEqual([["PART"]]);
  expect(await ready("coordinator", "status")).toEqual([["AFTER"]]);
  // The lead has read that, and finishes after its last branch has landed.
  await world.store.transaction(async (tx) => {
    for (const { delivery } of await tx.deliveries.inState("lead-1", ["queued"])) {
      await tx.deliveries.update({ ...delivery, state: "acked", ackedAt: 1 });
    }
  });
  await world.announce();
  await world.must(closeTask, { id: "PART" });
  await world.must(closeTask, { id: "T1", reason: "landed" });
  expect(await finish(world, { caller: world.lead })).toEqual([]);
  expect(await ready("coordinator", "worker_done")).toEqual([["NEXT"]]);
  expect((await world.mailOf("coordinator", "worker_done"))[0]?.body).toContain("Ready to be started now: NEXT");
});

test("who finishes outside of a turn has ended at once; a reader ends only a task that is its own", async () => {
  await using world = await mergeWorld();
  await world.asEngine((tx) => tx.tasks.insert(aTask("S1", { runId: "run-2" })));
  const seat = { capability: "scout", parentName: "lead-1", runId: "run-2" } as const;
  await world.seat("s1", { ...seat, taskId: "S1" });
  await world.seat("s2", { ...seat, taskId: "T1" });
  for (const agent of ["s1", "s2"]) {
    expect(await finish(world, { agent })).toEqual([]);
    expect(await world.agent(agent)).toMatchObject({ state: "completed", outcome: "done" });
  }
  expect(await world.store.read((tx) => tx.tasks.get("S1"))).toMatchObject({ status: "closed" });
  expect(await world.store.read((tx) => tx.tasks.get("T1"))).toMatchObject({ status: "in_review" });
  const [report] = await world.mailOf("lead-1", "worker_done");
  expect(JSON.parse(report?.payload ?? "{}")).toMatchObject({ verified: false, exitCode: null, branch: null });
  expect(report?.verified).toBe(false);
});

test("a reopened agent reports under the key of its earlier report, and its report is sent", async () => {
  await using world = await mergeWorld();
  const first = await world.seat("s1", { capability: "scout", parentName: "lead-1", runId: "run-2" });
  const report = { to: "lead-1", type: "worker_done", subject: "read", body: "all read", dedupeKey: "report" };
  const reportAs = async (caller: Caller) => {
    const asked = await world.must(sendMail, report, caller);
    expect(asked).toMatchObject({ duplicate: false, finish: { attached: false } });
    const id = asked.finish?.id ?? "";
    expect(await accept(world, id)).toEqual([]);
    return (await world.must(checkStatus, { id })).messageId;
  };
  const earlier = await reportAs(first);
  world.clock.now += 1000;
  await world.must(sendMail, { to: "s1", type: "question", subject: "more", body: "read the rest?" }, world.lead);
  await world.store.transaction(async (tx) => {
    const [question] = await tx.deliveries.inState("s1", ["queued"]);
    if (question !== undefined) await tx.deliveries.update({ ...question.delivery, state: "acked", ackedAt: 1 });
  });
  const again = { ...first, agentId: (await world.agent("s1")).id } as Caller;
  const later = await reportAs(again);
  const sent = (await world.mailOf("lead-1", "worker_done")).map(({ id }) => id);
  expect(sent.toSorted()).toEqual([earlier ?? "", later ?? ""].toSorted());
  expect(later).not.toBe(earlier);
});

test("a report under a key that the agent used for other mail is no copy of that mail", async () => {
  await using world = await mergeWorld();
  const caller = await world.seat("s1", { capability: "scout", parentName: "lead-1", runId: "run-2" });
  const words = { to: "lead-1", subject: "read", body: "half read", dedupeKey: "news" };
  await world.must(sendMail, { ...words, type: "status" }, caller);
  expect(await world.must(sendMail, { ...words, type: "status" }, caller)).toMatchObject({ duplicate: true });
  const asked = await world.must(sendMail, { ...words, type: "worker_done", body: "all read" }, caller);
  expect(asked).toMatchObject({ duplicate: false, finish: { attached: false } });
  expect(await accept(world, asked.finish?.id ?? "")).toEqual([]);
  expect(await world.mailOf("lead-1", "worker_done")).toHaveLength(1);
});

test("a task that ends without code leaves its criteria open, and parent and coordinator are told which", async () => {
  await using world = await mergeWorld({}, { run: { objective: "Do it all", checklist: true } });
  await world.must(addCriteriaToRun, { texts: ["xml is written"], runId: "run-2" });
  await world.store.transaction(async (tx) => {
    await tx.tasks.insert(aTask("B2", { runId: "run-2", status: "in_progress", claimedBy: "b2" }));
    await tx.criteria.serve("B2", "run-2", [2]);
  });
  const branch = "overstory/b2/B2";
  const builder = await world.seat("b2", { parentName: "lead-1", runId: "run-2", taskId: "B2", branch });
  await world.beginTurn("b2");
  const said = { summary: "not needed", noCode: true, reason: "I think it works" };
  const { id } = await world.must(requestDone, said, builder);
  expect(await accept(world, id)).toEqual([]);
  expect(await world.store.read((tx) => tx.tasks.get("B2"))).toMatchObject({ status: "closed" });
  const { criteria } = await world.must(listCriteria, { runId: "run-2" });
  expect(criteria.map(({ status }) => status)).toEqual(["open", "open"]);
  for (const [name, type] of [
    ["lead-1", "worker_done"],
    ["coordinator", "status"],
  ] as const) {
    const [letter] = await world.mailOf(name, type);
    expect(letter?.body).toContain("because: I think it works");
    expect(letter?.body).toContain("stay open");
    expect(letter?.body).toContain("- criterion 2: xml is written");
    expect(JSON.parse(letter?.payload ?? "{}")).toMatchObject({ openCriteria: [2] });
  }
});

test("L1: a lead gives work up only with a reason, which its report tells; the operator needs none", async () => {
  await using world = await mergeWorld();
  const branch = "overstory/b2/T2";
  const submitted = { state: "completed", outcome: "done", ahead: 1, headCommit: "h2", endedAt: 1 } as const;
  await world.seat("b2", { ...submitted, parentName: "lead-1", branch, runId: "run-2", taskId: "T2" });
  await world.announce();
  expect(await finish(world, { caller: world.lead })).toEqual(["unready-branch"]);
  const give = (reason?: string) => world.call(releaseAgentCommand, { name: "b2", reason }, { caller: world.lead });
  for (const reason of [undefined, " "]) {
    expect(await give(reason)).toMatchObject({
      refusal: { kind: "invalid", field: "reason", problem: expect.stringContaining(`${branch} is given up`) },
    });
  }
  expect(await give("b1 does it too")).toMatchObject({ value: { released: ["b2"] } });
  // Released already: there is nothing more to give up.
  expect(await give()).toMatchObject({ value: { alreadyReleased: true } });
  expect(await finish(world, { caller: world.lead })).toEqual([]);
  const [report] = await world.mailOf("coordinator", "worker_done");
  expect(report?.body).toContain(`Given up, and not landed:\n- ${branch}: released by lead-1: b1 does it too`);

  await using other = await mergeWorld();
  await other.must(releaseAgentCommand, { name: "b1" });
  expect((await other.agent("b1")).releasedAt).not.toBeNull();
});

test("L1: the report of a lead names no work of an earlier run as given up, and none that its merger joined", async () => {
  await using world = await mergeWorld();
  const submitted = { state: "completed", outcome: "done", ahead: 1, headCommit: "h2", endedAt: 1 } as const;
  const [old, part, whole] = ["overstory/b0/T0", "overstory/b2/T2", "overstory/m1/T3"];
  await world.seat("b0", { ...submitted, parentName: "lead-1", branch: old, runId: "run-1", releasedAt: 1 });
  await world.seat("b2", { ...submitted, parentName: "lead-1", branch: part, runId: "run-2" });
  const joins = { capability: "merger", branch: whole, instructions: `Join ${part}.` } as const;
  await world.seat("m1", { ...submitted, ...joins, parentName: "lead-1", runId: "run-2" });
  await world.announce();
  await world.announce({ branch: whole });
  await world.must(releaseAgentCommand, { name: "b2", reason: "m1 has it" }, world.lead);
  expect(await finish(world, { caller: world.lead })).toEqual([]);
  const [report] = await world.mailOf("coordinator", "worker_done");
  expect(report?.body).not.toContain("Given up");
});

test("L1: a builder that found nothing to do, and did not say why, is nothing that its lead stands for", async () => {
  for (const reason of [undefined, "it was there already"]) {
    await using world = await mergeWorld();
    await world.must(recordDrop, { id: "T1", reason: "not wanted" });
    await world.seat("b3", { parentName: "lead-1", branch: "overstory/b3/T3", runId: "run-2", taskId: "T3" });
    const { id } = await world.must(
      requestDone,
      { summary: "none", noCode: true, reason },
      agentCaller("b3", "builder"),
    );
    expect(await accept(world, id)).toEqual([]);
    await world.must(checkMail, {}, world.lead);
    expect(await finish(world, { caller: world.lead })).toEqual(reason === undefined ? ["nothing-done"] : []);
  }
});

test("a lead that handed its work over starts no turn above while others are at work there; the last one does", async () => {
  for (const alone of [false, true]) {
    await using world = await mergeWorld();
    const team = { parentName: "coordinator", runId: "run-2", capability: "lead", taskId: null } as const;
    const over = { state: "completed", outcome: "done", endedAt: world.clock.now } as const;
    const caller = await world.seat("lead-2", team);
    const branch = "overstory/b2/T";
    await world.seat("b2", { ...team, capability: "builder", parentName: "lead-2", branch, ...over });
    await world.store.transaction((tx) => tx.merges.insert(anEntry(branch, { runId: "run-2", status: "merged" })));
    await world.beginTurn("lead-2");
    if (!alone) {
      await world.seat("lead-3", team);
      await world.beginTurn("lead-3");
    }
    expect(await finish(world, { caller })).toEqual([]);
    const [report] = await world.mailOf("coordinator", "worker_done");
    const delivery = await world.store.read((tx) => tx.deliveries.get(report?.seq ?? 0, "coordinator"));
    expect(delivery?.wake).toBe(alone);
  }
});
