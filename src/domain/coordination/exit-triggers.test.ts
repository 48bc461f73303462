import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { TrackerReading, TrackerRefusal } from "../tracker/tracker.ts";
import { asksForShutdown, checkExit, type ExitFacts, type ExitTriggerSettings, exitTriggers } from "./exit-triggers.ts";

const off: ExitTriggerSettings = { allAgentsDone: false, taskTrackerEmpty: false, onShutdownSignal: false };

type RunAgent = ExitFacts["agents"][number];
const agent = (name: string, facts: Partial<RunAgent>): RunAgent => ({
  name,
  capability: "builder",
  state: "completed",
  outcome: "done",
  releasedAt: null,
  ...facts,
});
const released = agent("b1", { releasedAt: 5 });
const submitted = agent("b2", {});
const working = agent("b3", { state: "in_turn", outcome: null });
const zombie = agent("b4", { state: "zombie", outcome: "crashed" });
const head = agent("coordinator", { capability: "coordinator", state: "between_turns", outcome: null });

const open: ExitFacts = {
  agents: [head, working],
  openBranches: ["overstory/b3/T3"],
  readyTasks: ["T9"],
  otherTasks: 1,
  tracker: { kind: "native" },
  shutdown: null,
};
const over: ExitFacts = {
  agents: [head, released],
  openBranches: [],
  readyTasks: [],
  otherTasks: 0,
  tracker: { kind: "native" },
  shutdown: { from: "operator" },
};

/** Which of the three facts hold, as in `over` instead of `open`. */
const factsWhere = (agents: boolean, tracker: boolean, shutdown: boolean): ExitFacts => ({
  agents: (agents ? over : open).agents,
  openBranches: (agents ? over : open).openBranches,
  readyTasks: (tracker ? over : open).readyTasks,
  otherTasks: 0,
  tracker: { kind: "native" },
  shutdown: (shutdown ? over : open).shutdown,
});

test("a run is complete when at least one trigger is switched on and all that are switched on are met", () => {
  const flags = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean());
  fc.assert(
    fc.property(flags, flags, (on, met) => {
      const triggers = { allAgentsDone: on[0], taskTrackerEmpty: on[1], onShutdownSignal: on[2] };
      const check = checkExit(factsWhere(...met), { triggers, requireClean: false });
      expect(exitTriggers.map((name) => check.triggers[name].enabled)).toEqual(on);
      expect(exitTriggers.map((name) => check.triggers[name].met)).toEqual(met);
      expect(check.complete).toBe(on.includes(true) && on.every((enabled, index) => !enabled || met[index] === true));
    }),
    { numRuns: 200 },
  );
});

describe("all agents are done", () => {
  const triggers = { ...off, allAgentsDone: true };
  const check = (agents: readonly RunAgent[], openBranches: readonly string[] = [], requireClean = false) =>
    checkExit({ ...over, agents: [head, ...agents], openBranches }, { triggers, requireClean });

  test.each<[string, readonly RunAgent[], readonly string[], boolean]>([
    ["nobody has worked yet", [], [], false],
    ["everybody is released", [released], [], true],
    ["somebody works", [released, working], [], false],
    ["somebody has submitted and may be called back", [released, submitted], [], false],
    ["somebody died and everybody else is released", [released, zombie], [], true],
    ["the only one died", [zombie], [], true],
    ["a branch is in the merge queue", [released], ["overstory/b1/T1"], false],
    ["somebody was stopped and not let go", [agent("b5", { outcome: "stopped" })], [], false],
    ["somebody was stopped and let go", [agent("b5", { outcome: "stopped", releasedAt: 3 })], [], true],
  ])("when %s", (_, agents, branches, met) => {
    expect(check(agents, branches).complete).toBe(met);
  });

  test("failures are told separately, and keep the run open only when it must be clean", () => {
    const lenient = check([released, zombie]);
    expect(lenient.failures).toEqual([{ name: "b4", capability: "builder", outcome: "crashed" }]);
    expect(lenient.complete).toBe(true);
    const strict = check([released, zombie], [], true);
    expect(strict.complete).toBe(false);
    expect(strict.triggers.allAgentsDone.detail).toBe("failed: b4");
    expect(check([released], [], true).complete).toBe(true);
  });

  test("the detail names who and what is waited for", () => {
    const { detail } = check([working, submitted], ["overstory/b2/T2"]).triggers.allAgentsDone;
    expect(detail).toBe("not released: b3 (working), b2 (submitted); in the merge queue: overstory/b2/T2");
  });
});

test("no ready task is enough for the tracker; those that are taken are mentioned", () => {
  const { taskTrackerEmpty } = checkExit(
    { ...over, otherTasks: 2 },
    { triggers: { ...off, taskTrackerEmpty: true }, requireClean: false },
  ).triggers;
  expect(taskTrackerEmpty).toEqual({
    enabled: true,
    met: true,
    detail: "no task is ready; 2 tasks taken or blocked",
  });
});

describe("an external tracker", () => {
  const seedsWith = (ids: readonly string[]): TrackerReading => ({ kind: "ready", tracker: "seeds", ids });
  const check = (tracker: TrackerReading, readyTasks: readonly string[] = []) =>
    checkExit({ ...over, tracker, readyTasks }, { triggers: { ...off, taskTrackerEmpty: true }, requireClean: false })
      .triggers.taskTrackerEmpty;

  test.each<[string, TrackerReading, readonly string[], boolean, string]>([
    ["is empty, and so are we", seedsWith([]), [], true, "no task is ready, neither here nor in seeds"],
    ["has work", seedsWith(["app-1", "app-2"]), [], false, "ready to be started in seeds: app-1, app-2"],
    ["is empty, and we are not", seedsWith([]), ["T1"], false, "ready to be started: T1"],
    ["and we have work", seedsWith(["a"]), ["T1"], false, "ready to be started: T1; ready to be started in seeds: a"],
    [
      "was not asked",
      { kind: "not-asked", tracker: "beads" },
      [],
      false,
      "beads was not asked, because this trigger is switched off",
    ],
  ])("that %s", (_, tracker, ours, met, detail) => {
    expect(check(tracker, ours)).toEqual({ enabled: true, met, detail });
  });

  test.each<[string, TrackerRefusal]>([
    [
      "seeds cannot be asked, because sd is not on the PATH: install it, or type: ov config set taskTracker.backend native",
      { kind: "program-missing", tracker: "seeds", program: "sd" },
    ],
    [
      "`bd ready --json` exited 3: locked; to see why, type: bd ready --json",
      { kind: "program-failed", command: "bd ready --json", problem: "exited 3: locked" },
    ],
    [
      "`bd ready --json` gave no list of tasks (that is not JSON); to see what it says, type: bd ready --json",
      { kind: "malformed-output", command: "bd ready --json", problem: "that is not JSON" },
    ],
  ])("that gave no answer is never taken for empty: %s", (detail, refusal) => {
    expect(check({ kind: "refused", refusal })).toEqual({ enabled: true, met: false, detail });
  });

  test("that is full names only some of its tasks", () => {
    const ids = Array.from({ length: 23 }, (_, at) => `t${at}`);
    expect(check(seedsWith(ids)).detail).toEndWith("t18, t19 and 3 more");
  });
});

test("a shutdown is asked for by its type or in the subject", () => {
  expect(asksForShutdown({ type: "shutdown", subject: "good night" })).toBe(true);
  expect(asksForShutdown({ type: "status", subject: "Please SHUTDOWN now" })).toBe(true);
  expect(asksForShutdown({ type: "dispatch", subject: "Shut down when done" })).toBe(true);
  expect(asksForShutdown({ type: "status", subject: "all is well" })).toBe(false);
  expect(asksForShutdown({ type: "status", subject: "shutdowns are rare" })).toBe(false);
});
