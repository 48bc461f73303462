import { expect, test } from "bun:test";
import fc from "fast-check";
import { agentStates, topologies } from "../agent/agent.ts";
import { capabilities } from "../agent/capability.ts";
import { assess } from "./assess.ts";
import type { HealthFacts, HealthLimits } from "./facts.ts";
import { nextChange } from "./next-change.ts";

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

test("at that moment something is, unless somebody supervises the agent", () => {
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
