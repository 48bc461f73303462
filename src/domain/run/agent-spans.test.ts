import { expect, test } from "bun:test";
import { type AgentTime, agentSpans, idlePeriods } from "./agent-spans.ts";

const turn = (id: string, at: Partial<AgentTime["turns"][number]>): AgentTime["turns"][number] => ({
  id,
  trigger: "mail",
  status: "settled",
  failure: null,
  notBefore: 0,
  queuedAt: 0,
  startedAt: null,
  endedAt: null,
  costMicros: null,
  ...at,
});

const live = { state: "between_turns", startedAt: 0, endedAt: null, lastActivityAt: 0 } as const;
const shortly = (time: Partial<AgentTime>) =>
  agentSpans({ agent: live, turns: [], holds: [], begun: new Map(), waitsFor: "", ...time }).map(
    ({ kind, from, to, words }) => [kind, from, to, words],
  );

test("a turn is queued, starts and runs; between two turns an agent waits, and the last wait says what for", () => {
  const turns = [
    turn("t1", { trigger: "spawn", queuedAt: 0, startedAt: 10, endedAt: 50 }),
    turn("t2", { queuedAt: 70, startedAt: 75, endedAt: 90, status: "lost" }),
  ];
  expect(shortly({ turns, begun: new Map([["t1", 14]]), waitsFor: "for lead-1" })).toEqual([
    ["queued", 0, 10, "for a place"],
    ["starting", 10, 14, "by spawn"],
    ["turn", 14, 50, "by spawn"],
    ["waiting", 50, 70, "for mail or others"],
    ["queued", 70, 75, "for a place"],
    ["turn", 75, 90, "by mail; its process was lost"],
    ["waiting", 90, null, "for lead-1"],
  ]);
});

test("a pause of the provider and a pause of a person park an agent", () => {
  const turns = [
    turn("t1", { queuedAt: 0, startedAt: 0, endedAt: 10, status: "failed", failure: "rate_limit" }),
    turn("t2", { trigger: "retry", queuedAt: 10, notBefore: 40, startedAt: 45, endedAt: 60 }),
  ];
  const holds = [{ from: 70, to: 80, words: "paused by operator" }];
  expect(shortly({ turns, holds })).toEqual([
    ["turn", 0, 10, "by mail; the provider's rate limit is reached"],
    ["parked", 10, 40, "the provider's rate limit is reached"],
    ["queued", 40, 45, "for a place"],
    ["turn", 45, 60, "by retry"],
    ["waiting", 60, 70, "for mail or others"],
    ["parked", 70, 80, "paused by operator"],
    ["waiting", 80, null, "for mail or others"],
  ]);
  const open = [{ from: 70, to: null, words: "budget" }];
  expect(shortly({ turns, holds: open }).at(-1)).toEqual(["parked", 70, null, "budget"]);
});

test("an agent that has ended has no open part, and a turn that runs is the last", () => {
  const ended = { state: "completed", startedAt: 0, endedAt: 30, lastActivityAt: 25 } as const;
  expect(shortly({ agent: ended, turns: [turn("t1", { startedAt: 0, endedAt: 30 })] })).toEqual([
    ["turn", 0, 30, "by mail"],
  ]);
  expect(shortly({ turns: [turn("t1", { status: "running", startedAt: 5 })] })).toEqual([
    ["queued", 0, 5, "for a place"],
    ["turn", 5, null, "by mail"],
  ]);
});

test("long times without work are idle, short ones are not", () => {
  const busy = [
    { from: 50, to: 60 },
    { from: 0, to: 10 },
    { from: 5, to: 48 },
  ];
  expect(idlePeriods({ from: 0, to: 100 }, busy, 0.05)).toEqual([{ from: 60, to: 100 }]);
  expect(idlePeriods({ from: 0, to: 100 }, [], 0.05)).toEqual([{ from: 0, to: 100 }]);
});
