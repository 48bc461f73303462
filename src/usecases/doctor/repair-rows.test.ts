import { expect, test } from "bun:test";
import { anEntry, anOp } from "../../../testkit/contracts/store/merges.ts";
import { anAgent, aRun, aTurn } from "../../../testkit/contracts/store/rows.ts";
import { useCaseWorld } from "../../../testkit/use-case.ts";
import { fromEngine, post } from "../mail/post.ts";
import { decide } from "../operator/decide.ts";
import { readRows, repairRows } from "./repair-rows.ts";

test("variables of agents that are gone are needed while what they landed waits for its promotion", async () => {
  await using world = useCaseWorld();
  const landing = "overstory/integration/r1";
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(aRun("r1", { landingBranch: landing }));
    await tx.runs.insert(aRun("r2"));
    for (const [name, runId] of [
      ["landed", "r1"],
      ["other", "r2"],
    ] as const) {
      const agent = anAgent(name, { runId, state: "completed", envFile: `/env/${name}.json` });
      await tx.agents.reserve(agent);
      await tx.agents.cleaned(agent.id, 1);
    }
    const id = await tx.merges.insert(anEntry("overstory/landed/T1", { targetBranch: landing, status: "merged" }));
    await tx.mergeOps.insert(anOp("op-1", { ref: `refs/heads/${landing}`, status: "done", queueIds: [id] }));
  });
  expect((await world.must(readRows, {})).environments).toEqual(["/env/landed.json"]);
});

test("the answer to a question of the engine, which reads no mail, waits for no reader", async () => {
  await using world = useCaseWorld();
  const asked = await world.store.transaction((tx) =>
    post(tx, world.context(), {
      ...fromEngine,
      runId: null,
      recipients: [{ name: "operator", wake: false }],
      address: "operator",
      subject: "which?",
      body: "Leave it out?",
      type: "decision_gate",
      priority: "normal",
      payload: JSON.stringify({ options: ["leave out", "bring back"] }),
    }),
  );
  await world.must(decide, { id: asked.id, option: "leave out" });
  expect((await world.must(readRows, {})).unreadable).toEqual([]);
});

test("a turn that the doctor ends is booked with what it had told, until it last told something", async () => {
  await using world = useCaseWorld();
  const agent = anAgent("b1", { state: "zombie", outcome: "crashed", model: "m-1" });
  const tokens = { input: 1000, output: 10, cacheRead: 0, cacheWrite: 0 };
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(aRun(agent.runId));
    await tx.agents.reserve(agent);
    await tx.turns.queue(aTurn("t1", agent));
    await tx.turns.start("t1", { fence: 1, logDir: "/l/t1", resumeRequested: null, now: 1_000 });
    const owner = { agentName: "b1", runId: agent.runId, taskId: null };
    await tx.usage.record({ ...owner, turnId: "t1", messageId: "a1", model: "m-1", ...tokens, createdAt: 61_000 });
  });
  const price = { from: null, input: 0.001, output: 0.01, cacheRead: null, cacheWrite: null, cacheWrite1h: null };
  const prices = { version: "p1", date: null, models: { "m-1": [price] } };
  const repair = { repairs: [{ kind: "end-turn", id: "t1" }], fence: null, prices } as const;
  for (const _ of [1, 2]) expect(await world.must(repairRows, repair)).toMatchObject({ isFree: true });
  const rows = await world.store.read((tx) => tx.spending.ofSource("t1"));
  expect(rows).toMatchObject([
    {
      agentName: "b1",
      told: true,
      ...tokens,
      costMicros: 1_100_000,
      costSource: "prices",
      startedAt: 1_000,
      endedAt: 61_000,
    },
  ]);
  const turn = await world.store.read((tx) => tx.turns.get("t1"));
  expect(turn).toMatchObject({ status: "lost", costMicros: 1_100_000, priceVersion: "p1" });
});
