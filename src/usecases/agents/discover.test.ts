import { expect, test } from "bun:test";
import { activeRun, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { type DiscoverRequest, discoverAgents } from "./read-agents.ts";

async function withTeam(world: UseCaseWorld): Promise<void> {
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 0));
    await tx.agents.reserve(storedAgent("lead", { capability: "lead", state: "in_turn" }));
    await tx.agents.reserve(storedAgent("ann", { parentName: "lead" }));
    await tx.agents.reserve(storedAgent("old", { parentName: "lead", state: "completed", outcome: "done" }));
    await tx.agents.reserve(
      storedAgent("twice", { id: "agent-twice-1", capability: "scout", state: "zombie", outcome: "crashed" }),
    );
    await tx.agents.reserve(storedAgent("twice", { generation: 2, capability: "scout" }));
  });
}

async function names(world: UseCaseWorld, request: Partial<DiscoverRequest>): Promise<readonly string[]> {
  const { agents } = await world.must(discoverAgents, { all: false, ...request });
  return agents.map((agent) => agent.name).toSorted();
}

test("live agents are found, narrowed down by capability, state and parent", async () => {
  await using world = useCaseWorld();
  await withTeam(world);
  expect(await names(world, {})).toEqual(["ann", "lead", "twice"]);
  expect(await names(world, { capability: "scout" })).toEqual(["twice"]);
  expect(await names(world, { capability: "supervisor" })).toEqual(["lead"]);
  expect(await names(world, { state: "in_turn" })).toEqual(["lead"]);
  expect(await names(world, { parent: "lead" })).toEqual(["ann"]);
  expect(await names(world, { parent: "operator" })).toEqual(["lead", "twice"]);
});

test("ended agents are shown when asked for, each name once and as it is now", async () => {
  await using world = useCaseWorld();
  await withTeam(world);
  expect(await names(world, { all: true })).toEqual(["ann", "lead", "old", "twice"]);
  expect(await names(world, { state: "completed" })).toEqual(["old"]);
  expect(await names(world, { state: "zombie", all: true })).toEqual([]);
});

test("what does not exist is refused with what does", async () => {
  await using world = useCaseWorld();
  await withTeam(world);
  expect(await world.call(discoverAgents, { capability: "bilder", all: false })).toMatchObject({
    ok: false,
    refusal: { kind: "invalid", nearest: "builder", allowed: expect.arrayContaining(["scout", "lead"]) },
  });
  expect(await world.call(discoverAgents, { state: "stuck", all: false })).toMatchObject({
    ok: false,
    refusal: { kind: "invalid", field: "state" },
  });
  expect(await world.call(discoverAgents, { parent: "leed", all: false })).toMatchObject({
    ok: false,
    refusal: { kind: "not-found", nearest: "lead" },
  });
});
