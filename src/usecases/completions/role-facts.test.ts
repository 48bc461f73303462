import { describe, expect, test } from "bun:test";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { doneRequest } from "../../../testkit/done-request.ts";
import { builderBranch, type MergeWorld, mergeWorld } from "../../../testkit/merge-queue-world.ts";
import type { Agent } from "../../domain/agent/agent.ts";
import { mayReview, reviewedBranch } from "./role-facts.ts";

const team = { runId: "run-2", parentName: "lead-1" } as const;
const ended = { ...team, state: "completed", outcome: "done" } as const;

async function judged(world: MergeWorld, facts: Partial<Agent>): Promise<string | null> {
  await world.seat("rev", { capability: "reviewer", ...team, taskId: null, ...facts });
  return judgedNow(world);
}

async function judgedNow(world: MergeWorld): Promise<string | null> {
  const agent = await world.agent("rev");
  const done = doneRequest({ summary: "read", verdict: "pass" });
  return world.store.read((tx) => reviewedBranch(tx, agent, done));
}

describe("the branch a verdict is about, where none is named, is", () => {
  test("that from which the worktree started, whatever a text names", async () => {
    await using world = await mergeWorld();
    await world.seat("b2", { ...ended, taskId: "T2", branch: "overstory/b2/T2" });
    const facts = { baseRef: "overstory/b2/T2", taskId: "T1", instructions: `Judge ${builderBranch}.` };
    expect(await judged(world, facts)).toBe("overstory/b2/T2");
  });

  test("that of its own task's builder, before any that a text names and any sibling's", async () => {
    await using world = await mergeWorld();
    await world.seat("b2", { ...ended, taskId: "T2", branch: "overstory/b2/T2" });
    const facts = { baseRef: "main", taskId: "T2", instructions: `Not ${builderBranch}.` };
    expect(await judged(world, facts)).toBe("overstory/b2/T2");
  });

  test("the one its assignment names, if it is of its run", async () => {
    await using world = await mergeWorld();
    await world.seat("b2", { ...ended, branch: "overstory/b2/T2" });
    await world.seat("b3", { ...ended, runId: "run-1", branch: "overstory/b3/T3" });
    const named = "Judge overstory/b2/T2, which was begun like overstory/b3/T3.";
    expect(await judged(world, { instructions: named })).toBe("overstory/b2/T2");
  });

  test("its only sibling's, and nobody's while another could be meant", async () => {
    await using world = await mergeWorld();
    expect(await judged(world, {})).toBe(builderBranch);
    await world.seat("b3", { ...ended, releasedAt: 5, branch: "overstory/b3/T3" });
    expect(await judgedNow(world)).toBe(builderBranch);
    await world.seat("b2", { ...team, state: "in_turn", branch: "overstory/b2/T2" });
    expect(await judgedNow(world)).toBeNull();
  });
});

test("who was seated to judge a branch of another run may name it, too", async () => {
  await using world = await mergeWorld();
  await world.asEngine((tx) => tx.tasks.insert(aTask("T9")));
  await world.seat("b9", { ...ended, runId: "run-1", parentName: "lead-0", taskId: "T9", branch: "overstory/b9/T9" });
  await world.seat("rev", { capability: "reviewer", ...team, taskId: "T9" });
  const agent = await world.agent("rev");
  expect(await world.store.read((tx) => mayReview(tx, agent))).toEqual([builderBranch, "overstory/b9/T9"]);
});
