import { expect, test } from "bun:test";
import { useCaseWorld } from "../../../testkit/use-case.ts";
import { worldWith } from "../../../testkit/world.ts";
import { ok } from "../../domain/result.ts";
import type { Call, World } from "../operation.ts";
import { startCoordinator } from "./start.ts";
import { followOutput, type OutputLine, type OutputRequest, readOutput } from "./status.ts";

const start = { capability: "coordinator", environment: {} } as const;

test("the output is the newest lines of its own words, and goes on from a place", async () => {
  await using world = useCaseWorld();
  const { agentId, runId } = await world.must(startCoordinator, start);
  const say = (text: string, from = { agentName: "coordinator", agentId }) =>
    world.store.transaction((tx) =>
      tx.events.append([{ runId, ...from, source: "agent", type: "progress", data: { text }, createdAt: world.now() }]),
    );
  await say("one\ntwo");
  await say("not mine", { agentName: "b1", agentId: "agent-b1" });
  await say("three");
  const question = { capability: "coordinator", lines: 2 } as const;
  const first = await world.must(readOutput, question);
  expect(first.lines.map(({ text }) => text)).toEqual(["two", "three"]);
  expect((await world.must(readOutput, { ...question, after: first.cursor })).lines).toEqual([]);
  for (let n = 0; n < 1200; n++) await say(`noise ${n}`, { agentName: "b1", agentId: "agent-b1" });
  expect((await world.must(readOutput, question)).lines.map(({ text }) => text)).toEqual(["two", "three"]);
  await say("four");
  const next = await world.must(readOutput, { ...question, after: first.cursor });
  expect(next.lines.map(({ text }) => text)).toEqual(["four"]);
});

test("following the output tells each line once, and ends with the agent", async () => {
  await using world = useCaseWorld();
  const { agentId, runId } = await world.must(startCoordinator, start);
  const say = (text: string) =>
    world.store.transaction((tx) =>
      tx.events.append([
        {
          runId,
          agentName: "coordinator",
          agentId,
          source: "agent",
          type: "progress",
          data: { text },
          createdAt: world.now(),
        },
      ]),
    );
  await say("one");
  // What happens between two looks.
  const meanwhile = [
    async () => say("two\nthree"),
    async () => {},
    async () => {
      await say("last words");
      await world.store.transaction(async (tx) => {
        const agent = await tx.agents.get(agentId);
        if (agent === undefined) return;
        const change = { ...agent, state: "completed", outcome: "done", stateVersion: agent.stateVersion + 1 } as const;
        await tx.agents.move(agent, change, { to: "completed", actor: "engine", reason: "test" }, 1);
      });
    },
  ];
  const until: World["until"] = async (ask) => {
    for (;;) {
      const answer = await ask();
      if (answer !== undefined) return answer;
      await meanwhile.shift()?.();
    }
  };
  // The only operation that following calls is `coordinator.output`.
  const call = ((_name: string, request: OutputRequest) => world.must(readOutput, request).then(ok)) as Call;
  const told: (readonly string[])[] = [];
  const onItem = (lines: readonly OutputLine[]): void => void told.push(lines.map(({ text }) => text));
  const request = { capability: "coordinator", name: "coordinator", lines: 100 } as const;
  const { signal } = new AbortController();
  const ended = await followOutput.run(worldWith({ call, until }), request, { onItem, signal });
  expect(told).toEqual([["one"], ["two", "three"], ["last words"]]);
  expect(ended).toEqual(ok({ agentName: "coordinator", ended: true }));
});
