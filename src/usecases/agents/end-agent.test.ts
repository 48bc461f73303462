import { expect, test } from "bun:test";
import { activeRun, agentCaller, storedAgent, useCaseWorld } from "../../../testkit/use-case.ts";
import { type AgentEnd, endAgent } from "./end-agent.ts";
import { releaseAgentCommand } from "./release-agent.ts";

test("the next step after a death is a command that its reader may type", async () => {
  await using world = useCaseWorld();
  const head = agentCaller("head", "coordinator", { runId: "run-1" });
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 1));
    await tx.agents.reserve(storedAgent("head", { capability: "coordinator", depth: 0, state: "between_turns" }));
  });
  const left = { capability: "builder", taskId: "T1", branch: "overstory/b/T1", ahead: 1 } as const;
  for (const [parentName, letGo] of [
    ["head", 'ov release b-head --reason "<why>", then ov sling T1'],
    ["operator", "ov release b-operator, then ov sling T1"],
  ] as const) {
    const name = `b-${parentName}`;
    await world.store.transaction(async (tx) => {
      await tx.agents.reserve(storedAgent(name, { ...left, parentName }));
      const agent = await tx.agents.byName(name);
      const end = { state: "zombie", outcome: "crashed", actor: "supervisor", reason: "end", death: "it broke" };
      if (agent !== undefined) await endAgent(tx, world.context(), agent, { ...end, turnId: null } as AgentEnd);
    });
    const [letter] = await world.store.read((tx) => tx.messages.list({ from: name }));
    expect(letter?.body).toEndWith(letGo);
  }
  const released = await world.call(releaseAgentCommand, { name: "b-head" }, head);
  expect(released).toMatchObject({ refusal: { kind: "invalid", field: "reason" } });
  await world.must(releaseAgentCommand, { name: "b-head", reason: "it broke twice" }, head);
});
