import { expect, test } from "bun:test";
import type { Capability } from "../agent/capability.ts";
import { endedPhase, endedWorkers, type PhaseAgent, phaseText } from "./phase.ts";

const worker = (name: string, capability: Capability, change: Partial<PhaseAgent> = {}): PhaseAgent => ({
  name,
  generation: 1,
  capability,
  state: "completed",
  outcome: "done",
  taskId: null,
  releasedAt: null,
  ...change,
});

const nobody = new Set<string>();
const scouts = [worker("s1", "scout"), worker("s2", "scout")];

test("a phase is over when every worker has ended; leads and coordinators are no workers", () => {
  expect(endedWorkers([])).toEqual([]);
  expect(endedWorkers([worker("l", "lead"), worker("c", "coordinator")])).toEqual([]);
  expect(endedWorkers([...scouts, worker("b1", "builder", { state: "in_turn" })])).toEqual([]);
  const lead = worker("l", "lead", { state: "between_turns" });
  expect(endedWorkers([...scouts, lead])).toEqual(["s1#1", "s2#1"]);
  expect(endedPhase([...scouts, lead], nobody)).toMatchObject({ name: "scout", completed: 2, set: ["s1#1", "s2#1"] });
});

test("a later phase tells only about those who are new in it", () => {
  const builders = [worker("b2", "builder", { state: "zombie", outcome: "crashed" }), worker("b1", "builder")];
  const phase = endedPhase([...scouts, ...builders], new Set(["s1#1", "s2#1"]));
  expect(phase).toMatchObject({ name: "builder", completed: 1, zombies: 1, set: ["b1#1", "b2#1", "s1#1", "s2#1"] });
  expect(phase?.agents.map(({ name }) => name)).toEqual(["b1", "b2"]);
});

test("a worker that was reopened makes another set", () => {
  const again = endedPhase([worker("s1", "scout", { generation: 2 })], new Set(["s1#1"]));
  expect(again).toMatchObject({ name: "scout", set: ["s1#2"], completed: 1 });
});

test("an agent that failed is no decision where its task is closed, and a branch that was not handed over is named", () => {
  const silent = worker("bt", "builder", { state: "zombie", outcome: "no_signal", taskId: "T1" });
  const phase = endedPhase([silent, worker("bd", "builder", { taskId: "T2" })], nobody);
  const told = (openTasks: readonly string[]) =>
    phaseText(phase, { runId: "run-1", openTasks, isLed: true, unhanded: ["overstory/bd/T2"] }).body;
  expect(told(["T1", "T2"])).toContain("bt ended without finishing, and no agent works on its task now");
  expect(told(["T2"])).not.toContain("ov recover");
  expect(told(["T2"])).toContain("Finished, and not handed over: overstory/bd/T2");
});

test("the words count, tell how it went, and say what may come next", () => {
  const said = (...agents: PhaseAgent[]) => {
    const phase = endedPhase(agents, nobody);
    if (phase === undefined) throw new Error("the phase is not over");
    return phaseText(phase, { runId: "run-1", openTasks: ["T2"], isLed: true });
  };
  expect(said(...scouts).subject).toBe("[ENGINE] all 2 scouts of run run-1 completed");
  expect(said(...scouts).body).toEndWith("\n\n- s1 (scout): done\n- s2 (scout): done");
  expect(said(...scouts).body).toContain("no branch is landing, and nothing else will wake you. Open tasks: T2.");
  const mixed = said(worker("b1", "builder", { state: "zombie", outcome: "stalled" }), worker("r1", "reviewer"));
  expect(mixed.subject).toBe("[ENGINE] all 2 workers (builder, reviewer) of run run-1 ended: 1 finished, 1 did not");
  const stopped = worker("b2", "builder", { outcome: "stopped" });
  expect(said(stopped).subject).toEndWith("all 1 builder of run run-1 ended: 1 was stopped");
  expect(said(stopped, worker("b1", "builder")).subject).toEndWith("ended: 1 finished, 1 was stopped");
  const crashed = worker("b3", "builder", { state: "zombie", outcome: "crashed" });
  expect(said(stopped, crashed).subject).toEndWith("ended: 0 finished, 1 was stopped, 1 did not");
  expect(mixed.body).toContain("- b1 (builder): ended after a long silence");
  const silent = said(worker("b1", "builder", { outcome: "no_signal" }));
  expect(silent.subject).toBe("[ENGINE] all 1 builder of run run-1 ended: 0 finished, 1 did not");
  expect(silent.body).toContain("ov recover b1");
});

test("C1: the operator, who reads it where the coordinator has ended, gets words and commands of their own", () => {
  const phase = endedPhase(scouts, nobody);
  if (phase === undefined) throw new Error("the phase is not over");
  const { body } = phaseText(phase, { runId: "run-1", openTasks: ["T2"], isLed: false });
  expect(body).toContain("its coordinator has ended. Open tasks: T2.");
  expect(body).toContain("ov coordinator start");
  expect(body).not.toContain("wake you");
});
