import { expect, test } from "bun:test";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { activeRun, agentCaller, storedAgent, useCaseWorld } from "../../../testkit/use-case.ts";
import { readMail } from "../mail/read-mail.ts";
import { sendMail } from "../mail/send.ts";
import { endAgent } from "./end-agent.ts";
import { recover } from "./recover.ts";

test("an agent is not recovered onto a task that another live agent works on", async () => {
  await using world = useCaseWorld();
  const died = { taskId: "T1", parentName: "operator", state: "zombie", outcome: "crashed", endedAt: 1 } as const;
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", world.now()));
    await tx.tasks.insert(aTask("T1", { runId: "run-1", status: "in_progress", claimedBy: "b2" }));
    await tx.agents.reserve(storedAgent("b1", died));
    await tx.agents.reserve(storedAgent("r1", { ...died, capability: "reviewer" }));
    await tx.agents.reserve(storedAgent("b2", { taskId: "T1", parentName: "operator", state: "in_turn" }));
  });
  const refused = await world.call(recover, { of: "b1", environment: {} });
  expect(refused).toMatchObject({ refusal: { kind: "task-held", task: "T1", holder: "b2" } });
  // Read-only agents take nothing from a builder.
  expect(await world.must(recover, { of: "r1", environment: {} })).toMatchObject({ generation: 2 });
});

test("of an agent that waits, as for another try, the refusal names what lets it go on", async () => {
  await using world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", world.now()));
    await tx.agents.reserve(storedAgent("b1", { parentName: "operator", state: "between_turns" }));
    await tx.agents.reserve(storedAgent("b2", { parentName: "operator", state: "in_turn" }));
  });
  const next = "it has not ended; have it go on at once: ov nudge b1";
  const refused = await world.call(recover, { of: "b1", environment: {} });
  expect(refused).toMatchObject({ refusal: { kind: "not-recoverable", why: "it is waiting", next } });
  const works = await world.call(recover, { of: "b2", environment: {} });
  expect(works).toMatchObject({ refusal: { why: "it is working", next: "see what it does: ov logs b2" } });
});

test("an agent that ended its turns without a finish is told so when it is recovered", async () => {
  await using world = useCaseWorld();
  const silent = {
    parentName: "operator",
    state: "completed",
    outcome: "no_signal",
    reminders: 2,
    endedAt: 1,
  } as const;
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", world.now()));
    await tx.agents.reserve(storedAgent("b1", silent));
  });
  await world.must(recover, { of: "b1", environment: {} });
  const [brief] = await world.store.read((tx) => tx.messages.list({ to: "b1", type: "dispatch" }));
  expect(brief?.body).toContain("It ended its turn 3 times without a finish that was accepted.");
});

test("a lead that died: its agents are named to its parent, and its successor is told what came meanwhile", async () => {
  await using world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", world.now()));
    await tx.agents.reserve(storedAgent("c1", { capability: "coordinator", parentName: "operator", depth: 0 }));
    const lead = storedAgent("l1", { capability: "lead", parentName: "c1" });
    await tx.agents.reserve(lead);
    await tx.agents.reserve(storedAgent("b1", { parentName: "l1", state: "between_turns" }));
    await tx.agents.reserve(storedAgent("b2", { parentName: "l1", state: "completed", outcome: "done" }));
    const death = { actor: "supervisor", reason: "killed", death: "it was killed", turnId: null } as const;
    await endAgent(tx, world.context(), lead, { state: "zombie", outcome: "crashed", ...death });
  });
  const [died] = await world.store.read((tx) => tx.messages.list({ to: "c1", type: "worker_died" }));
  expect(died?.body).toContain("Below it: b1 (waiting), b2 (submitted)");
  const payload = JSON.stringify({ severity: "error", taskId: "T1", context: "?" });
  const escalation = { to: "l1", subject: "Which file?", body: "?", type: "escalation", payload };
  const { id } = await world.must(sendMail, escalation, agentCaller("b1", "builder", { runId: "run-1" }));
  await world.must(recover, { of: "l1", environment: {} });
  const [brief] = await world.store.read((tx) => tx.messages.list({ to: "l1", type: "dispatch" }));
  expect(brief?.body).toContain(`- escalation of b1: "Which file?" (ov mail read ${id}), handed on to c1`);
  expect(brief?.body).toContain("Below you: b1 (waiting), b2 (submitted)");
  const lead = agentCaller("l1", "lead", { runId: "run-1" });
  expect(await world.must(readMail, { id: id ?? "" }, lead)).toMatchObject({ message: { subject: "Which file?" } });
});
