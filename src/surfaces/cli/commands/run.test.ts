import { expect, test } from "bun:test";
import { desk } from "../../../../testkit/merge-desk.ts";
import { mergeWorld } from "../../../../testkit/merge-queue-world.ts";

test("generations of an agent are told apart, and one that another follows is no trouble", async () => {
  await using world = await mergeWorld();
  const crashed = { state: "zombie", outcome: "crashed", endedAt: Date.now() } as const;
  await world.seat("b9", { id: "agent-b9-1", runId: "run-2", ...crashed });
  await world.seat("b9", { id: "agent-b9-2", runId: "run-2", generation: 2, state: "in_turn" });
  await world.seat("b8", { runId: "run-2", ...crashed });
  const lines = (await desk(world).run("run", "show", "run-2")).out.split("\n");
  expect(lines.find((line) => line.includes("b9  "))).toMatch(/^ {2}- b9 {2}builder {2}crashed/);
  expect(lines.find((line) => line.includes("b9 (2)"))).toMatch(/^ {2}\S b9 \(2\) {2}builder {2}working/);
  expect(lines.find((line) => line.includes("b8  "))).toMatch(/^ {2}! b8 {2}builder {2}crashed/);
});

test("where a run lands is said in words that stay true after the promotion", async () => {
  await using world = await mergeWorld();
  const landingBranch = "overstory/integration/run-2";
  await world.store.transaction((tx) => tx.runs.setBranches("run-2", { targetBranch: "main", landingBranch }));
  const { out } = await desk(world).run("run", "show", "run-2");
  expect(out).toContain(`lands on   ${landingBranch}, taken over by: ov merge promote --run run-2`);
  expect(out).not.toContain("until");
});

test("a target that the run has already is not told as a change", async () => {
  await using world = await mergeWorld();
  await world.store.transaction((tx) => tx.runs.setBranches("run-2", { targetBranch: "main", landingBranch: null }));
  const ov = desk(world);
  expect((await ov.run("run", "retarget", "main", "--run", "run-2")).out).toBe(
    "run-2 is for main already; nothing was changed.\n",
  );
  expect((await ov.run("run", "retarget", "feature", "--run", "run-2")).out).toContain(
    "run-2 is for feature now (was main)",
  );
});
