import { expect, test } from "bun:test";
import { landingMessage } from "./words.ts";

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

test("a title, a branch and a name act on no terminal that shows the history", () => {
  const message = landingMessage({
    ...facts,
    title: "a\u001b]0;pwn\u0007\u009b31m\u202eb",
    branch: "overstory/b\u202e1/t-1",
    agentName: "b\u009b1",
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  expect(message).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  expect(message).toContain("Merge a\\u{1b}]0;pwn");
});
