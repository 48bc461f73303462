import { expect, test } from "bun:test";
import { activeRun, storedAgent, useCaseWorld } from "../../../testkit/use-case.ts";
import { everyAgent } from "../../ports/store/snapshots.ts";
import { removalEnded, worktreeRemoving } from "./record-removal.ts";

const process = { pid: 7, startToken: "7", bootId: "boot" };
const branch = "overstory/ann/t-1";
const looked = [{ name: "ann", agentId: "agent-ann" }];
const ended = { state: "completed", outcome: "done", endedAt: 2, branch } as const;

async function worldWithAnn() {
  const world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 1));
    await tx.agents.reserve(storedAgent("ann", ended));
  });
  const recover = (state: "booting" | "completed"): Promise<void> =>
    world.store.transaction((tx) =>
      tx.agents.reserve(storedAgent("ann", { id: "agent-ann-2", generation: 2, state, branch, worktreePath: null })),
    );
  return { ...world, recover };
}

test("an ended agent is released with the intent, and its place is held until the removal has ended", async () => {
  await using world = await worldWithAnn();
  const asked = await world.must(worktreeRemoving, { names: looked, agentId: "agent-ann", process });
  expect(asked).toEqual({ clear: true, why: null, removal: null });
  expect(await world.store.read((tx) => tx.agents.byName("ann"))).toMatchObject({ releasedAt: expect.any(Number) });
  expect(await world.store.read((tx) => tx.removals.of("ann"))).toMatchObject(process);
  await world.must(removalEnded, { names: ["ann"], process });
  expect(await world.store.read((tx) => tx.removals.of("ann"))).toBeUndefined();
});

test("an agent reserved between the look and the removal keeps the place, seated or not", async () => {
  await using world = await worldWithAnn();
  await world.recover("booting");
  for (const names of [looked, [{ name: "ann", agentId: null }]]) {
    const asked = await world.must(worktreeRemoving, { names, process });
    expect(asked).toMatchObject({ clear: false, why: "ann is live again" });
  }
  expect(await world.must(worktreeRemoving, { names: [{ name: everyAgent, agentId: null }], process })).toMatchObject({
    clear: false,
    why: "ann came to life",
  });
  expect(await world.store.read((tx) => tx.removals.of("ann"))).toBeUndefined();
});

test("an agent that worked and ended again since the look has left unseen work", async () => {
  await using world = await worldWithAnn();
  await world.recover("completed");
  expect(await world.must(worktreeRemoving, { names: looked, process })).toMatchObject({
    clear: false,
    why: "ann has worked again meanwhile",
  });
});

test("of two removals the second waits, also for one that cleans everything, unless the first is known to be dead", async () => {
  await using world = await worldWithAnn();
  const first = { pid: 1, startToken: "1", bootId: "another" };
  await world.must(worktreeRemoving, { names: [{ name: everyAgent, agentId: null }], process: first });
  const refused = await world.must(worktreeRemoving, { names: looked, process });
  expect(refused).toMatchObject({ clear: false, removal: { agentName: everyAgent, ...first } });
  const replaces = refused.removal ?? undefined;
  expect(await world.must(worktreeRemoving, { names: looked, process, replaces })).toMatchObject({ clear: true });
  expect(await world.store.read((tx) => tx.removals.of(everyAgent))).toBeUndefined();
});
