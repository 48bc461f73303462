import { expect, test } from "bun:test";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { activeRun, storedAgent, useCaseWorld } from "../../../testkit/use-case.ts";
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
