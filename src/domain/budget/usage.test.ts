import { expect, test } from "bun:test";
import { countedTokens, usageOf } from "./usage.ts";

test("a report becomes a row of its turn, agent, run and task", () => {
  const counts = { input: 1, output: 2, cacheRead: 300, cacheWrite: 4 };
  const event = { kind: "usage", messageId: "m1", model: "large", ...counts } as const;
  const agent = { name: "ann", runId: "run-1", taskId: "t1" };
  expect(usageOf(event, { turnId: "turn-1", agent, now: 5 })).toEqual({
    turnId: "turn-1",
    messageId: "m1",
    agentName: "ann",
    runId: "run-1",
    taskId: "t1",
    model: "large",
    ...counts,
    createdAt: 5,
  });
});

test("tokens read from a cache are not counted against a budget", () => {
  expect(countedTokens([{ input: 1, output: 2, cacheRead: 300, cacheWrite: 4 }])).toBe(7);
  expect(countedTokens([])).toBe(0);
});
