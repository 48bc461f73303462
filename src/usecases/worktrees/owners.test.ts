import { expect, test } from "bun:test";
import { activeRun, storedAgent, useCaseWorld } from "../../../testkit/use-case.ts";
import type { Agent } from "../../domain/agent/agent.ts";
import { owners, ownersOfBranches } from "./owners.ts";

const agents: readonly Partial<Agent>[] = [
  { name: "ann", branch: "overstory/ann/t-1" },
  { name: "bob", branch: "overstory/bob/t-2", cleanedAt: 5 },
  { name: "coordinator", branch: "main", worktreeKind: "root" },
  // Its second incarnation works on another branch, in the same directory.
  { name: "cid", branch: "overstory/cid/t-3" },
  { name: "cid", branch: "overstory/cid/t-4", id: "agent-cid-2", generation: 2 },
];

test("the owner of a branch is the newest incarnation of an agent that has or had a worktree for it", async () => {
  await using world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 1));
    for (const { name = "", ...facts } of agents) {
      await tx.agents.reserve(storedAgent(name, { state: "completed", outcome: "done", endedAt: 2, ...facts }));
      if (facts.cleanedAt != null) await tx.agents.cleaned(storedAgent(name, facts).id, facts.cleanedAt);
    }
  });
  const branches = [...new Set(agents.map(({ branch }) => branch ?? ""))];
  const found = await world.must(ownersOfBranches, { branches });
  expect(found.agents.map(({ branch }) => branch)).toEqual([
    "overstory/ann/t-1",
    "overstory/bob/t-2",
    "overstory/cid/t-4",
  ]);
  const all = (await world.must(owners, {})).owners.map(({ agent }) => agent);
  expect(found.agents).toEqual(all.filter((agent) => agent.worktreeKind !== "root"));
});
