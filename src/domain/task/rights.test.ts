import { expect, test } from "bun:test";
import type { Capability } from "../agent/capability.ts";
import { type Caller, engineCaller, operator } from "../caller/caller.ts";
import type { Refusal } from "../refusal.ts";
import { newTask } from "./change.ts";
import { directs, forbidden, forbiddenToSpecify, type TaskAction, taskActions } from "./rights.ts";
import type { MergeState, Task } from "./task.ts";

const agent = (capability: Capability, taskId: string | null = "mine"): Caller => ({
  kind: "agent",
  name: "ann",
  agentId: "agent-1",
  capability,
  runId: "run-1",
  taskId,
  turnId: null,
});

function task(facts: Partial<Task> = {}): Task {
  const made = newTask({ id: "mine", runId: null, title: "t" }, 0);
  if (!made.ok) throw new Error("the sample task is wrong");
  return { ...made.value, ...facts };
}

const code: MergeState = "pending";

test.each([
  ["operator", operator],
  ["engine", engineCaller],
])("the %s may do anything to any task", (_, caller) => {
  for (const action of taskActions) {
    expect(forbidden(caller, action, task({ mergeState: code, claimedBy: "bob" }))).toBeUndefined();
  }
});

test.each<[string, Capability, TaskAction, Partial<Task>, Refusal["kind"] | undefined]>([
  ["changes its own task", "builder", "change", {}, undefined],
  ["claims its own task", "builder", "claim", {}, undefined],
  ["closes its own task without code", "scout", "close", {}, undefined],
  ["changes another's task", "builder", "change", { id: "other" }, "not-allowed"],
  ["claims another's task", "builder", "claim", { id: "other" }, "not-allowed"],
  ["closes another's task", "reviewer", "close", { id: "other" }, "not-allowed"],
  ["reopens another's task", "builder", "reopen", { id: "other" }, "not-allowed"],
  ["closes its own code task", "builder", "close", { mergeState: code }, "not-allowed"],
  ["closes a landed task", "builder", "close", { mergeState: "merged" }, "not-allowed"],
  ["moves its task while another holds it", "reviewer", "move", { claimedBy: "bob" }, "task-held"],
  ["closes its task while another holds it", "reviewer", "close", { claimedBy: "bob" }, "task-held"],
  ["changes another's task", "lead", "change", { id: "other" }, undefined],
  ["claims another's task", "coordinator", "claim", { id: "other" }, undefined],
  ["closes what another holds", "lead", "close", { id: "other", claimedBy: "bob" }, undefined],
  ["closes a code task", "lead", "close", { mergeState: code }, "not-allowed"],
  ["closes a code task", "coordinator", "close", { id: "other", mergeState: code }, "not-allowed"],
  ["changes another's task", "supervisor", "change", { id: "other" }, undefined],
  ["changes another's task", "monitor", "change", { id: "other" }, "not-allowed"],
])("when it %s, a %s asking to %s is answered as the table says", (_, capability, action, facts, kind) => {
  expect(forbidden(agent(capability), action, task(facts))?.kind).toBe(kind);
});

test("an agent without a task owns none", () => {
  expect(forbidden(agent("builder", null), "change", task())?.kind).toBe("not-allowed");
});

test.each<[Capability, boolean]>([
  ["lead", true],
  ["coordinator", true],
  ["supervisor", true],
  ["builder", false],
  ["orchestrator", false],
])("a %s directs the work of others: %p", (capability, answer) => {
  expect(directs(agent(capability))).toBe(answer);
});

test.each<[Capability, boolean]>([
  ["lead", true],
  ["scout", true],
  ["coordinator", false],
  ["builder", false],
])("a %s writes specs: %p", (capability, answer) => {
  expect(forbiddenToSpecify(agent(capability), "mine") === undefined).toBe(answer);
});

test("a scout writes the spec of its own task, and a lead those of others", () => {
  expect(forbiddenToSpecify(agent("scout"), "other")).toMatchObject({ why: "a scout writes the spec of its own task" });
  expect(forbiddenToSpecify(agent("scout", null), "other")?.kind).toBe("not-allowed");
  expect(forbiddenToSpecify(agent("lead"), "other")).toBeUndefined();
});
