import { expect, test } from "bun:test";
import { activeRun, agentCaller, storedAgent, useCaseWorld } from "../../../testkit/use-case.ts";
import { sendMail } from "../mail/send.ts";
import { createTask } from "../tasks/change-tasks.ts";
import { closeTask } from "../tasks/close-task.ts";
import { decide } from "./decide.ts";
import { readSince } from "./read-since.ts";

test("events since a moment are counted and listed, newest first; older events are not", async () => {
  await using world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 1));
    await tx.agents.reserve(storedAgent("lead-1", { capability: "lead" }));
  });
  const lead = agentCaller("lead-1", "lead");
  await world.must(createTask, { id: "a", title: "Schema" });
  await world.must(closeTask, { id: "a" });
  const payload = JSON.stringify({ options: ["keep", "drop"] });
  const gate = { to: "operator", type: "decision_gate", subject: "Cookies?", body: "Keep?", payload };
  const { id } = await world.must(sendMail, gate, lead);
  await world.must(decide, { id: id ?? "", option: "keep" });
  const { counts, news, costUsd } = await world.must(readSince, { since: 0 });
  expect(counts).toEqual({ landed: 0, undone: 0, closed: 1, failed: 0, asked: 1, decided: 1 });
  expect(news.map(({ sentence }) => sentence)).toContain("lead-1 asked: Cookies?");
  expect(news.map(({ subject }) => subject)).toContain("task:a");
  expect(costUsd).toBeNull();
  const later = await world.must(readSince, { since: Date.now() + 86_400_000 * 400 });
  expect(later.news).toEqual([]);
});
