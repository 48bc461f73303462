import { expect, test } from "bun:test";
import { mergeWorld } from "../../../testkit/merge-queue-world.ts";
import { checkMail } from "../mail/check.ts";
import { askOperator, closeQuestion } from "../merge/landing/branch-questions.ts";
import { addMerge } from "../merge/queue/add-entry.ts";
import { askToLand } from "../merge/queue/ask-to-land.ts";
import { approveMerge, cancelMerge, rejectMerge } from "../merge/queue/decide-entry.ts";
import { showMerge } from "../merge/read-merges.ts";
import { decide } from "./decide.ts";
import { operatorInbox } from "./inbox.ts";

test("a branch that waits for approval is one decision, however it is asked for", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { id, branch } = await world.announce();
  const { decisions } = await world.must(operatorInbox, {});
  expect(decisions).toMatchObject([
    { id: `merge:${id}`, kind: "merge", from: "lead-1", subject: `land ${branch}?`, options: ["approve", "reject"] },
  ]);
  expect(await world.must(decide, { id: `merge:${id}`, option: "approve" })).toMatchObject({ kind: "merge" });
  expect(await world.entries()).toMatchObject([{ id, approval: "operator" }]);
  expect((await world.must(operatorInbox, {})).decisions).toEqual([]);
});

test("a rejected branch goes back to its agent with the note, also by the id of the message that asked", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { id } = await world.announce();
  const [gate] = await world.store.read((tx) => tx.messages.list({ to: "operator", type: "decision_gate" }));
  expect(await world.call(decide, { id: gate?.id ?? "", option: "perhaps" })).toMatchObject({
    refusal: { field: "option", allowed: ["approve", "reject"] },
  });
  await world.must(decide, { id: gate?.id ?? "", option: "reject", note: "the name is wrong" });
  expect(await world.entries()).toMatchObject([{ id, status: "failed", approval: "denied" }]);
  const [failed] = await world.mailOf("b1", "merge_failed");
  expect(failed?.body).toContain("the name is wrong");
  expect((await world.must(operatorInbox, {})).decisions).toEqual([]);
});

test("no agent decides, not even a coordinator", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { id } = await world.announce();
  for (const name of ["lead-1", "coordinator"]) {
    expect(await world.callAs(name, "operator.recordDecision", { id: `merge:${id}`, option: "approve" })).toMatchObject(
      {
        refusal: { kind: "not-allowed", caller: name },
      },
    );
  }
  expect(await world.entries()).toMatchObject([{ id, approval: "waiting" }]);
});

test("no agent looks into the operator's inbox", async () => {
  await using world = await mergeWorld();
  expect(await world.callAs("lead-1", "operator.inbox", {})).toMatchObject({ refusal: { kind: "not-allowed" } });
});

test("the question says when the branch changed after its agent reported it", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const receipt = { id: "r-1", kind: "completion", subject: "b1#1", baseCommit: null, tree: "t" } as const;
  await world.asEngine((tx) =>
    tx.receipts.add({ ...receipt, headCommit: "reported", verdict: "verified", results: [], gaps: [], createdAt: 1 }),
  );
  const { headCommit } = await world.announce();
  const words = `Before you approve: it changed after the report: reported was reported, ${headCommit} is queued.`;
  expect((await world.must(operatorInbox, {})).decisions[0]?.context).toContain(words);
  const [question] = await world.mailOf("operator", "decision_gate");
  expect(question?.body).toContain(words);
});

test("the decision says what the gates of its agent's report found, or that none was asked", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { headCommit } = await world.announce();
  const context = async () => (await world.must(operatorInbox, {})).decisions[0]?.context;
  expect(await context()).toContain("No gate has looked at this commit yet.");
  const receipt = { id: "r-1", kind: "completion", subject: "b1#1", baseCommit: null, headCommit, tree: "t" } as const;
  await world.asEngine((tx) =>
    tx.receipts.add({ ...receipt, verdict: "unverified", results: [], gaps: ["lint failed"], createdAt: 1 }),
  );
  expect(await context()).toContain("The gates on this commit: unverified (lint failed).");
});

test("what an agent proved counts after it was called back, as by ov attach", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { headCommit } = await world.announce();
  const receipt = { id: "r-1", kind: "completion", subject: "b1#1", baseCommit: null, headCommit, tree: "t" } as const;
  await world.asEngine(async (tx) => {
    await tx.receipts.add({ ...receipt, verdict: "verified", results: [], gaps: [], createdAt: 1 });
    const agent = await tx.agents.byName("b1");
    if (agent === undefined) throw new Error("there is no b1");
    const ended = { ...agent, state: "completed", stateVersion: agent.stateVersion + 1 } as const;
    await tx.agents.move(agent, ended, { to: "completed", actor: "operator", reason: "attached" }, 0);
    await tx.agents.release(agent.id, 0);
    await tx.agents.reserve({ ...agent, id: "agent-b1-2", generation: 2 });
  });
  const [decision] = (await world.must(operatorInbox, {})).decisions;
  expect(decision?.context).toContain("The gates on this commit: verified.");
});

test("a branch is sent back only with what is wrong, and keeps what its agent proved", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { id, headCommit } = await world.announce();
  const receipt = { id: "r-1", kind: "completion", subject: "b1#1", baseCommit: null, headCommit, tree: "t" } as const;
  await world.asEngine((tx) =>
    tx.receipts.add({ ...receipt, verdict: "verified", results: [], gaps: [], createdAt: 1 }),
  );
  const reject = { id: `merge:${id}`, option: "reject" };
  for (const note of [undefined, "  "]) {
    const refused = await world.call(decide, { ...reject, note });
    expect(refused).toMatchObject({ ok: false, refusal: { kind: "invalid", field: "note" } });
  }
  await world.must(decide, { ...reject, note: "the name is wrong" });
  expect(await world.agent("b1")).toMatchObject({ generation: 2 });
  const { entry } = await world.must(showMerge, { of: String(id) });
  expect(entry).toMatchObject({ status: "failed", verdict: "verified" });
  const answered = await world.must(cancelMerge, { of: String(id) });
  const cancelled = await world.must(showMerge, { of: String(id) });
  for (const told of [answered, cancelled]) {
    expect(told.entry).toMatchObject({ status: "cancelled", verdict: "verified" });
  }
});

test("finished work that was not handed over is reported once no agent above has a turn ahead", async () => {
  await using world = await mergeWorld();
  const unhanded = async () => (await world.must(operatorInbox, {})).unhanded;
  await world.seat("b2", {
    ...(await world.agent("b1")),
    id: "agent-b2",
    name: "b2",
    branch: "overstory/b2/T2",
    parentName: "operator",
  });
  expect(await unhanded()).toContainEqual({ agentName: "b2", branch: "overstory/b2/T2" });
  // A stopped agent has handed in nothing.
  await world.seat("b3", { ...(await world.agent("b2")), id: "agent-b3", name: "b3", outcome: "stopped" });
  expect((await unhanded()).map(({ agentName }) => agentName)).not.toContain("b3");
  await world.must(addMerge, { branch: "overstory/b2/T2", headCommit: "head-1", approve: true });
  expect((await unhanded()).map(({ agentName }) => agentName)).not.toContain("b2");
});

test("the mail that asked is settled with the decision, whichever command made it", async () => {
  for (const answer of ["merge approve", "merge reject", "decide"] as const) {
    await using world = await mergeWorld({ mode: "approve" });
    const of = String((await world.announce()).id);
    if (answer === "merge approve") await world.must(approveMerge, { of });
    else if (answer === "merge reject") await world.must(rejectMerge, { of, reason: "the name is wrong" });
    else await world.must(decide, { id: `merge:${of}`, option: "approve" });
    const { letters } = await world.must(checkMail, {});
    expect(letters.filter(({ message }) => message.type === "decision_gate")).toEqual([]);
  }
});

test("a coordinator waits for the approval of its own team's branches, not for those of the operator's agents", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { id } = await world.announce();
  const branch = "overstory/solo/T9";
  const ended = { state: "completed", outcome: "done", headCommit: "head-9", ahead: 1 } as const;
  await world.seat("solo", { ...ended, parentName: "operator", runId: "run-2", branch });
  const solo = await world.agent("solo");
  await world.asEngine((tx, context) => askToLand(tx, context, solo));
  const other = (await world.entries()).find((entry) => entry.branch === branch)?.id ?? 0;
  const waiting = (name: string) => world.store.read((tx) => tx.waits.of(name));
  expect(await waiting("coordinator")).toMatchObject([{ kind: "approval", ref: `merge:${id}` }]);
  expect(await waiting("solo")).toMatchObject([{ kind: "approval", ref: `merge:${other}` }]);
});

test("the mail of a question that the engine took back is settled with it", async () => {
  await using world = await mergeWorld();
  const mail = { subject: "moved?", body: "It was moved.", payload: JSON.stringify({ options: ["put back"] }) };
  await world.asEngine((tx, context) => askOperator(tx, context, { ...mail, runId: "run-2" }));
  const [asked] = await world.mailOf("operator", "decision_gate");
  if (asked === undefined) throw new Error("nothing was asked");
  await world.asEngine((tx, context) => closeQuestion(tx, context, asked, "it has moved since"));
  expect((await world.must(checkMail, {})).letters).toEqual([]);
});
