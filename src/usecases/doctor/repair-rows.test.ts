import { expect, test } from "bun:test";
import { anEntry, anOp } from "../../../testkit/contracts/store/merges.ts";
import { anAgent, aRun } from "../../../testkit/contracts/store/rows.ts";
import { useCaseWorld } from "../../../testkit/use-case.ts";
import { fromEngine, post } from "../mail/post.ts";
import { decide } from "../operator/decide.ts";
import { readRows } from "./repair-rows.ts";

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
