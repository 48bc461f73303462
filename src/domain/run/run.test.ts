import { expect, test } from "bun:test";
import { agentDuration, runDuration } from "./run.ts";

test("a run lasts until it is completed, or until now, and never less than nothing", () => {
  expect(runDuration({ startedAt: 100, completedAt: 400 }, 900)).toBe(300);
  expect(runDuration({ startedAt: 100, completedAt: null }, 900)).toBe(800);
  expect(runDuration({ startedAt: 1000, completedAt: null }, 900)).toBe(0);
});

test("an agent that has ended stopped counting with its last activity", () => {
  const times = { startedAt: 100, lastActivityAt: 300 };
  expect(agentDuration({ ...times, state: "in_turn" }, 900)).toBe(800);
  expect(agentDuration({ ...times, state: "completed" }, 900)).toBe(200);
  expect(agentDuration({ ...times, state: "zombie" }, 900)).toBe(200);
});
