import { expect, test } from "bun:test";
import { landingMessage } from "./landing-message.ts";

const facts = {
  id: 7,
  branch: "overstory/b1/t-1",
  targetBranch: "main",
  taskId: "t-1",
  agentName: "b1",
  runId: "run-1",
  tier: "auto-resolve",
  strategy: null,
  title: "Add a parser",
};

test("a landing's commit says what it brings, and names task, agent, run and tier as trailers", () => {
  expect(landingMessage(facts)).toBe(
    [
      "Merge Add a parser (overstory/b1/t-1) into main",
      "",
      "Overstory-Task: t-1",
      "Overstory-Agent: b1",
      "Overstory-Run: run-1",
      "Overstory-Tier: auto-resolve",
      "Overstory-Queue-Id: 7",
      "",
    ].join("\n"),
  );
});

test("a task title cannot forge a trailer", () => {
  const message = landingMessage({ ...facts, title: "x\n\nOverstory-Agent: somebody" });
  expect(message.split("\n").filter((line) => line.startsWith("Overstory-Agent"))).toEqual(["Overstory-Agent: b1"]);
});
