import { expect, test } from "bun:test";
import { mergeWorld } from "../../../testkit/merge-queue-world.ts";
import { followEnd, type Settled } from "./follow-end.ts";

test("a task that an agent finished again is one task that it has done", async () => {
  await using world = await mergeWorld();
  const ended = { runId: "run-2", state: "completed", outcome: "done", endedAt: 1 } as const;
  const finish = async (generation: number, taskId: string, resultText: string): Promise<void> => {
    const id = `agent-b9-${generation}`;
    await world.seat("b9", { id, generation, taskId, ...ended });
    const turn = await world.beginTurn("b9");
    const end = { kind: "clean" } as const;
    const ending = { end, resultText, worktree: undefined } as unknown as Settled["ending"];
    const settlement = { input: "keep" } as unknown as Settled["settlement"];
    const { settings } = world;
    await world.asEngine((tx, context) =>
      followEnd(tx, { ...context, settings }, { turn, agentId: id, settlement, ending }),
    );
  };
  await finish(1, "T9", "first");
  await finish(2, "T9", "second");
  await finish(3, "T8", "other");
  const known = await world.store.read((tx) => tx.recovery.identity("b9"));
  expect(known).toMatchObject({
    completed: 2,
    recentTasks: [
      { taskId: "T9", summary: "second" },
      { taskId: "T8", summary: "other" },
    ],
  });
});
