import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { agentStates, topologies } from "../agent/agent.ts";
import { capabilities } from "../agent/capability.ts";
import { type Assessment, assess, type HealthFacts, nextChange } from "./assess.ts";
import type { HealthLimits } from "./ladder.ts";

const limits: HealthLimits = {
  staleThresholdMs: 300,
  zombieThresholdMs: 600,
  nudgeIntervalMs: 60,
  maxEscalationLevel: 3,
};

type Change = Partial<Omit<HealthFacts, "agent">> & { readonly agent?: Partial<HealthFacts["agent"]> };

/** A builder between two turns with nothing outstanding. */
function facts({ agent, ...change }: Change = {}): HealthFacts {
  return {
    agent: {
      state: "between_turns",
      topology: "per_turn",
      capability: "builder",
      worktreePath: "/w/b1",
      outcome: null,
      stopRequestedBy: null,
      escalationLevel: 0,
      stalledSince: null,
      ...agent,
    },
    turn: null,
    process: "unknown",
    queued: null,
    parked: false,
    unanswered: false,
    waits: 0,
    liveChildren: 0,
    silentMs: 0,
    quietMs: change.silentMs ?? 0,
    activeSinceStall: false,
    sleptGraceMs: 0,
    ...change,
  };
}

const judged = (change: Change): string => {
  const { status, action } = assess(facts(change), limits);
  const detail =
    "step" in action
      ? ` ${action.step}`
      : "outcome" in action
        ? ` ${action.outcome}`
        : "problem" in action
          ? ` ${action.problem}`
          : "";
  return `${status}: ${action.kind}${detail}`;
};

const attached = { topology: "attached", state: "working" } as const;
const silent = { silentMs: 301 };
const hopeless = { silentMs: 601 };

const table: readonly (readonly [name: string, change: Change, expected: string])[] = [
  ["a completed agent is left alone at any age", { ...hopeless, agent: { state: "completed" } }, "ended: none"],
  ["a zombie is not ended again", { ...hopeless, agent: { state: "zombie" } }, "ended: none"],
  [
    "a zombie whose process lives is for a person to look at, never for us to kill",
    { process: "alive", agent: { ...attached, state: "zombie" } },
    "ended: investigate",
  ],
  [
    "an agent asked to stop is left to the engine",
    { ...hopeless, agent: { stopRequestedBy: "operator" } },
    "stopping: none",
  ],
  ["the process of a per-turn agent says nothing about it", { process: "gone" }, "idle: none"],

  [
    "attached: gone, silent and at work: it finished unheard",
    { ...silent, process: "gone", agent: attached },
    "gone: complete",
  ],
  [
    "attached: gone while booting and silent",
    { ...silent, process: "gone", agent: { ...attached, state: "booting" } },
    "gone: complete",
  ],
  [
    "attached: gone while stalled",
    { ...silent, process: "gone", agent: { ...attached, state: "stalled" } },
    "gone: complete",
  ],
  [
    "attached: gone at exactly the threshold is a crash",
    { silentMs: 300, process: "gone", agent: attached },
    "gone: terminate crashed",
  ],
  ["attached: alive and active", { process: "alive", agent: attached }, "working: none"],
  ["attached: a process nobody recorded decides nothing", { process: "unknown", agent: attached }, "working: none"],
  ["attached: alive and silent climbs", { ...silent, process: "alive", agent: attached }, "stalled: escalate warn"],
  ["attached: alive and beyond hope", { ...hopeless, process: "alive", agent: attached }, "gone: terminate stalled"],

  [
    "a running turn with a beating supervisor is the supervisor's",
    { turn: { supervisor: "beating" } },
    "working: none",
  ],
  [
    "however quiet: stalled is only shown",
    { turn: { supervisor: "beating" }, quietMs: 9999, agent: { state: "in_turn" } },
    "stalled: none",
  ],
  [
    "quiet while it waits for its gates is no stall",
    { turn: { supervisor: "beating" }, quietMs: 9999, waits: 1, agent: { state: "in_turn" } },
    "waiting: none",
  ],
  ["a silent supervisor is not at fault at once", { turn: { supervisor: "silent" }, silentMs: 100 }, "working: none"],
  [
    "a turn whose supervisor fell silent climbs",
    { ...silent, turn: { supervisor: "silent" } },
    "stalled: escalate warn",
  ],
  [
    "waits are no excuse for a turn that nobody supervises",
    { ...hopeless, turn: { supervisor: "silent" }, waits: 1 },
    "gone: terminate stalled",
  ],

  ["parked agents may idle", { ...hopeless, parked: true }, "parked: none"],
  ["an unanswered question exempts", { ...hopeless, unanswered: true }, "waiting: none"],
  ["an answered one does not", { ...silent, unanswered: false }, "stalled: escalate warn"],
  ["live children exempt", { ...hopeless, liveChildren: 1 }, "waiting: none"],
  ["an open wait exempts", { ...hopeless, waits: 1 }, "waiting: none"],

  ["a turn that is not due yet exempts", { ...hopeless, queued: { dueForMs: -1, slotFree: true } }, "queued: none"],
  [
    "a turn that waits for a slot exempts",
    { ...hopeless, queued: { dueForMs: 9999, slotFree: false } },
    "queued: none",
  ],
  [
    "a turn that could have started long ago is the engine's fault",
    { ...hopeless, queued: { dueForMs: 301, slotFree: true } },
    "late: report turn_late",
  ],
  ["a seat in preparation", { silentMs: 10, agent: { state: "booting", worktreePath: null } }, "queued: none"],
  [
    "a seat that stays empty is the engine's fault",
    { ...hopeless, agent: { state: "booting", worktreePath: null } },
    "late: report seat_late",
  ],

  ["idle at exactly the threshold is healthy", { silentMs: 300 }, "idle: none"],
  ["idle beyond it is stalled", silent, "stalled: escalate warn"],
  ["silence at exactly the second threshold still climbs", { silentMs: 600 }, "stalled: escalate warn"],
  ["silence beyond it is the end", hopeless, "gone: terminate stalled"],
  [
    "a seated agent that never started a turn climbs too",
    { ...silent, agent: { state: "booting" } },
    "stalled: escalate warn",
  ],
  ["persistent capabilities may idle at any age", { ...hopeless, agent: { capability: "coordinator" } }, "idle: none"],
  ["so may the monitor", { ...hopeless, agent: { capability: "monitor" } }, "idle: none"],
  ["after a sleep nobody's age counts", { ...hopeless, sleptGraceMs: 1 }, "idle: none"],
  ["nor is the engine late then", { queued: { dueForMs: 9999, slotFree: true }, sleptGraceMs: 1 }, "queued: none"],
];

describe("health", () => {
  for (const [name, change, expected] of table) {
    test(name, () => expect(judged(change)).toBe(expected));
  }
});

describe("the ladder", () => {
  const stalled = { state: "stalled", stalledSince: 1 } as const;
  const at = (silentMs: number, escalationLevel: number): Assessment =>
    assess(facts({ silentMs, agent: { ...stalled, escalationLevel } }), limits);

  test("each level acts once", () => {
    expect(at(310, 0)).toMatchObject({ level: 0, action: { kind: "none" } });
    expect(at(361, 0)).toMatchObject({ level: 1, action: { kind: "escalate", step: "nudge" } });
    expect(at(362, 1)).toMatchObject({ level: 1, action: { kind: "none" } });
    expect(at(421, 1)).toMatchObject({ level: 2, action: { kind: "escalate", step: "triage" } });
    expect(at(470, 2)).toMatchObject({ level: 2, action: { kind: "none" } });
    expect(at(481, 2)).toMatchObject({ level: 3, action: { kind: "terminate" } });
  });

  test("a late look skips no level", () => {
    expect(at(590, 0)).toMatchObject({ level: 1, action: { kind: "escalate", step: "nudge" } });
  });

  test("the highest level is where an agent is ended, wherever that is set", () => {
    const short = { ...limits, maxEscalationLevel: 1 };
    const long = { ...limits, zombieThresholdMs: 9999, maxEscalationLevel: 5 };
    const stepped = (level: number, given: HealthLimits) =>
      assess(facts({ silentMs: 301 + 60 * (level + 1), agent: { ...stalled, escalationLevel: level } }), given).action;
    expect(stepped(0, short)).toMatchObject({ kind: "terminate" });
    expect(stepped(2, long)).toEqual({ kind: "escalate", step: "nudge" });
    expect(stepped(3, long)).toEqual({ kind: "escalate", step: "triage" });
    expect(stepped(4, long)).toMatchObject({ kind: "terminate" });
  });
});

describe("recovery", () => {
  const stalled = { state: "stalled", stalledSince: 1, escalationLevel: 2 } as const;

  test("a sign of its own ends the stall", () => {
    expect(judged({ activeSinceStall: true, agent: stalled })).toBe("idle: recover");
    expect(judged({ turn: { supervisor: "beating" }, activeSinceStall: true, agent: stalled })).toBe(
      "working: recover",
    );
    expect(judged({ agent: { ...stalled, state: "in_turn" }, turn: { supervisor: "beating" } })).toBe(
      "working: recover",
    );
  });

  test("the watchdog's own acts are no sign of life: a nudge that waits in the queue changes nothing", () => {
    expect(judged({ queued: { dueForMs: 5, slotFree: true }, agent: stalled })).toBe("queued: none");
    expect(assess(facts({ queued: { dueForMs: 5, slotFree: true }, agent: stalled }), limits).level).toBe(2);
  });

  test("a good reason to wait ends it too", () => {
    expect(judged({ ...hopeless, unanswered: true, agent: stalled })).toBe("waiting: recover");
    expect(judged({ ...hopeless, parked: true, agent: stalled })).toBe("parked: recover");
  });

  test("silence that this observer has not seen yet is not held against it, nor forgiven", () => {
    expect(judged({ silentMs: 0, agent: stalled })).toBe("stalled: none");
  });
});

const age = fc.integer({ min: 0, max: 1000 });

const anyLimits: fc.Arbitrary<HealthLimits> = fc
  .record({
    staleThresholdMs: fc.integer({ min: 1, max: 400 }),
    extra: fc.integer({ min: 1, max: 400 }),
    nudgeIntervalMs: fc.integer({ min: 1, max: 200 }),
    maxEscalationLevel: fc.integer({ min: 1, max: 5 }),
  })
  .map(({ extra, ...limits }) => ({ ...limits, zombieThresholdMs: limits.staleThresholdMs + extra }));

const anyFacts: fc.Arbitrary<HealthFacts> = fc.record({
  agent: fc.record({
    state: fc.constantFrom(...agentStates),
    topology: fc.constantFrom(...topologies),
    capability: fc.constantFrom(...capabilities),
    worktreePath: fc.constantFrom(null, "/w"),
    outcome: fc.constant(null),
    stopRequestedBy: fc.constantFrom(null, "operator"),
    escalationLevel: fc.integer({ min: 0, max: 5 }),
    stalledSince: fc.constantFrom(null, 1),
  }),
  turn: fc.constantFrom(null, { supervisor: "beating" } as const, { supervisor: "silent" } as const),
  process: fc.constantFrom("alive" as const, "gone" as const, "unknown" as const),
  queued: fc.option(fc.record({ dueForMs: fc.integer({ min: -500, max: 500 }), slotFree: fc.boolean() })),
  parked: fc.boolean(),
  unanswered: fc.boolean(),
  waits: fc.constantFrom(0, 0, 1),
  liveChildren: fc.constantFrom(0, 0, 1),
  silentMs: age,
  quietMs: age,
  activeSinceStall: fc.boolean(),
  sleptGraceMs: fc.constantFrom(0, 0, 250),
});

const later = (facts: HealthFacts, ms: number): HealthFacts => ({
  ...facts,
  silentMs: facts.silentMs + ms,
  quietMs: facts.quietMs + ms,
  queued: facts.queued === null ? null : { ...facts.queued, dueForMs: facts.queued.dueForMs + ms },
  sleptGraceMs: Math.max(0, facts.sleptGraceMs - ms),
});

const calls = (facts: HealthFacts, limits: HealthLimits): boolean => {
  const { kind } = assess(facts, limits).action;
  return kind !== "none" && kind !== "investigate";
};

test("nothing is called for before the moment that was named", () => {
  fc.assert(
    fc.property(anyFacts, anyLimits, fc.integer({ min: 0, max: 3000 }), (facts, limits, ms) => {
      const due = nextChange(facts, limits);
      if (due === undefined || ms < due) expect(calls(later(facts, ms), limits)).toBe(false);
    }),
    { numRuns: 5000 },
  );
});

test("at that moment something is, unless a supervisor owns the agent's turn", () => {
  fc.assert(
    fc.property(anyFacts, anyLimits, (facts, limits) => {
      const due = nextChange(facts, limits);
      if (due === undefined || facts.turn?.supervisor === "beating") return;
      expect(calls(later(facts, due), limits)).toBe(true);
    }),
    { numRuns: 5000 },
  );
});

test("an agent that waits on purpose needs no look, ever", () => {
  fc.assert(
    fc.property(anyFacts, anyLimits, (facts, limits) => {
      const waiting = { ...facts, turn: null, waits: 1, process: "unknown" as const };
      const agent = { ...facts.agent, state: "between_turns" as const, stalledSince: null };
      expect(nextChange({ ...waiting, agent }, limits)).toBeUndefined();
    }),
  );
});
