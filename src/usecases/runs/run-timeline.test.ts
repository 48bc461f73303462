import { expect, test } from "bun:test";
import { anEntry } from "../../../testkit/contracts/store/merges.ts";
import { aSpending } from "../../../testkit/contracts/store/spending.ts";
import { activeRun, storedAgent, useCaseWorld } from "../../../testkit/use-case.ts";
import { record } from "../events/record.ts";
import { fleetAt } from "./fleet-at.ts";
import { runFigures } from "./run-figures.ts";
import { runSpans } from "./run-spans.ts";

const minute = 60_000;

/** A run of an hour: b1 had a turn in minutes 1 to 10 with a tool in it, was paused from 20 to 30, and landed at 40. */
async function hourOfWork() {
  const world = useCaseWorld();
  const start = world.now() - 60 * minute;
  const at = (minutes: number): number => start + minutes * minute;
  const agent = storedAgent("b1", { runId: "run-1", startedAt: start });
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", start));
    await tx.agents.reserve(agent);
    const turn = {
      id: "t1",
      agentId: agent.id,
      agentName: "b1",
      runId: "run-1",
      trigger: "spawn",
      attempt: 1,
    } as const;
    await tx.turns.queue({ ...turn, notBefore: at(0), now: at(0) });
    await tx.turns.start("t1", { fence: 1, logDir: "", resumeRequested: null, now: at(1) });
    const launch = { attempt: 1, pid: 7, messages: 1, prompt: "", promptHash: "", trigger: "spawn" } as const;
    await record(tx, at(2), { source: "supervisor", agent, turnId: "t1", type: "turn_start", data: launch });
    await tx.events.append([
      {
        runId: "run-1",
        agentName: "b1",
        agentId: agent.id,
        turnId: "t1",
        line: 1,
        part: 0,
        source: "agent",
        type: "tool_start",
        data: { tool: "Bash", id: "c1", summary: "bun test" },
        createdAt: at(4),
      },
    ]);
    await tx.turns.end("t1", 1, {
      status: "settled",
      clean: true,
      resultText: null,
      exitCode: 0,
      exitSignal: null,
      terminalMessageSeq: null,
      error: null,
      failure: null,
      advice: null,
      endedAt: at(10),
    });
    await record(tx, at(20), { source: "operator", agent, type: "pause", data: { by: "operator" } });
    await record(tx, at(30), { source: "operator", agent, type: "resume", data: { by: "operator", lifted: [] } });
    const entry = anEntry("overstory/b1/T1", { runId: "run-1", agentName: "b1", status: "merged" });
    const queueId = await tx.merges.insert(entry);
    const facts = { queueId, branch: entry.branch, targetBranch: "main", taskId: null, headCommit: "1", by: "engine" };
    await record(tx, at(40), {
      source: "engine",
      agent,
      type: "merge_landed",
      data: { ...facts, approval: "operator", commit: "2", restored: true },
    });
    await tx.spending.book([aSpending("t1", { runId: "run-1", costMicros: 500_000, endedAt: at(10) })]);
  });
  return { world, at, start };
}

test("the spans of a run tell when an agent was queued, started, worked, waited and was parked", async () => {
  const { world, at } = await hourOfWork();
  await using _ = world;
  const { rows, marks, idle } = await world.must(runSpans, { id: "run-1" });
  expect(rows.map(({ agent, spans }) => [agent.name, spans.map(({ kind, from, to }) => [kind, from, to])])).toEqual([
    [
      "b1",
      [
        ["queued", at(0), at(1)],
        ["starting", at(1), at(2)],
        ["turn", at(2), at(10)],
        ["waiting", at(10), at(20)],
        ["parked", at(20), at(30)],
        ["waiting", at(30), null],
      ],
    ],
  ]);
  expect(marks).toMatchObject([{ kind: "landed", at: at(40), branch: "overstory/b1/T1" }]);
  expect(idle).toMatchObject([{ from: at(10) }]);
});

test("the fleet of a moment shows what its agents did then, what had landed and what was spent", async () => {
  const { world, at } = await hourOfWork();
  await using _ = world;
  const then = (minutes: number) => world.must(fleetAt, { id: "run-1", at: at(minutes) });
  const early = await then(5);
  expect(early.agents).toMatchObject([{ span: { kind: "turn" }, doing: { tool: "Bash", summary: "bun test" } }]);
  expect([early.landed.length, early.totals.costMicros]).toEqual([0, 0]);
  expect([early.event?.type, early.nextAt]).toEqual(["turn_start", at(20)]);
  const paused = await then(25);
  expect(paused.agents).toMatchObject([{ span: { kind: "parked", words: "paused by operator" }, doing: null }]);
  expect([paused.previousAt, paused.nextAt]).toEqual([at(2), at(30)]);
  const late = await then(50);
  expect([late.landed.length, late.totals.costMicros, late.nextAt]).toEqual([1, 500_000, null]);
  expect((await then(-1)).agents).toEqual([]);
});

test("the figures of runs count what landed and what it cost", async () => {
  const { world } = await hourOfWork();
  await using _ = world;
  const { runs } = await world.must(runFigures, { last: 5 });
  expect(runs).toMatchObject([{ agents: 1, landed: 1, reverted: 0, failed: 0, totals: { costMicros: 500_000 } }]);
  expect(await world.call(runFigures, { last: 0 })).toMatchObject({ refusal: { field: "last" } });
});
