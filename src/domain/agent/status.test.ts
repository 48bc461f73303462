import { expect, test } from "bun:test";
import { agentOutcomes, agentStates } from "./agent.ts";
import { endedInTrouble, statusOf, waitWords } from "./status.ts";

const ended = { state: "completed", releasedAt: null, successorName: null } as const;

test("only work that was handed over looks good", () => {
  const good = agentOutcomes.filter((outcome) => statusOf({ ...ended, outcome }).tone === "good");
  expect(good).toEqual(["done", "assumed_done"]);
});

test("no status shows a word of the machine", () => {
  const all = [
    ...agentStates.map((state) => statusOf({ state, outcome: null, releasedAt: null })),
    ...agentOutcomes.map((outcome) => statusOf({ ...ended, outcome })),
  ];
  for (const { words } of all) expect(words).not.toMatch(/_|zombie|signal/);
});

test("a failed agent is in trouble until it is released or succeeded; a stopped one never is", () => {
  expect(endedInTrouble({ ...ended, state: "zombie", outcome: "crashed" })).toBe(true);
  expect(endedInTrouble({ ...ended, outcome: "no_signal" })).toBe(true);
  expect(endedInTrouble({ ...ended, outcome: "no_signal", releasedAt: 1 })).toBe(false);
  expect(endedInTrouble({ ...ended, outcome: "no_signal", successorName: "b2" })).toBe(false);
  expect(endedInTrouble({ ...ended, outcome: "stopped" })).toBe(false);
  expect(endedInTrouble({ ...ended, outcome: "done" })).toBe(false);
});

test("an agent that its lead has paused waits for that lead, not for the operator", () => {
  const paused = (ref: string) => waitWords({ agentName: "b1", kind: "operator", ref });
  expect(paused("operator")).toBe("you: it is paused (ov resume b1)");
  expect(paused("lead-1")).toBe("lead-1, who paused it (ov resume b1)");
});

test("an agent whose budget is used up waits for more of what it lacks", () => {
  const lacks = (ref: string) => waitWords({ agentName: "b1", kind: "budget", ref });
  expect(lacks("run:run-1:turns")).toBe("more turns: a budget is used up (ov budget raise run run-1 turns <amount>)");
  expect(lacks("agent:b1:usd")).toBe("more money: a budget is used up (ov budget raise agent b1 usd <amount>)");
});
