import { expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { randomIds } from "../../src/host/ids.ts";
import { projectFiles } from "../../src/host/project-files.ts";
import { runUseCase } from "../../src/usecases/channel/run-use-case.ts";
import { outside } from "../../testkit/marked.ts";
import { activeRun, settingsFor, storedAgent, useCaseWorld } from "../../testkit/use-case.ts";

const tomorrow = 24 * 60 * 60_000;

test("a write that takes away the last moment an engine rests until asks for the engine's look", async () => {
  await using world = useCaseWorld();
  const { store } = world;
  await store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 0));
    await tx.agents.reserve(storedAgent("b1", { worktreePath: "/w/b1", state: "between_turns" }));
    const wait = { kind: "budget", ref: "run:run-1:turns", since: 1, deadline: tomorrow } as const;
    await tx.waits.add({ agentName: "b1", ...wait });
  });
  const files = projectFiles({ root: tmpdir(), dir: tmpdir() });
  const clock = { now: () => 5, monotonic: () => 0 };
  const ports = {
    store,
    clock,
    ids: randomIds,
    settings: settingsFor("app"),
    files,
    reach: () => {},
    sight: outside,
  };
  const stop = () => runUseCase(ports, { name: "agent.requestStop", request: { name: "b1", tree: false } });
  expect(await stop()).toMatchObject({ due: true });
  expect(await store.read((tx) => tx.waits.nextDeadline("budget"))).toBeUndefined();
  expect(await stop()).toMatchObject({ due: false });
});
