import { expect, test } from "bun:test";
import { composePrompt, type PromptFacts } from "./prompt.ts";

const prompt = (facts: Partial<PromptFacts>): string =>
  composePrompt({
    agent: { name: "b1", capability: "builder", taskId: "T1", parentName: "l1", branch: "overstory/b1/T1", depth: 2 },
    trigger: "nudge",
    attempt: 1,
    first: false,
    letters: [],
    instructions: { in: "CLAUDE.local.md" },
    ...facts,
  });

test("a turn that no mail starts tells its reason, and reproaches only an agent that stopped without a word", () => {
  const told = prompt({ reason: "operator lifted the pause" });
  expect(told).toBe("This turn starts because operator lifted the pause. Go on where you stopped.");
  expect(prompt({ trigger: "reminder" })).toContain("you neither finished nor said what you are waiting for");
  // Queued by an earlier version.
  expect(prompt({})).toBe("What held you back is over. Go on where you stopped.");
  expect(prompt({ trigger: "mail" })).toBe("");
});
