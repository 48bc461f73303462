import { expect, test } from "bun:test";
import fc from "fast-check";
import { agentOutcomes, agentStates } from "./agent.ts";
import { transition } from "./transition.ts";

const at = (state: (typeof agentStates)[number]) => ({ state, stateVersion: 3, outcome: null, endedAt: null });
const by = (actor: string, to: (typeof agentStates)[number]) => ({ to, actor, reason: "test" });

test("every pair of states is allowed exactly where the matrix says", () => {
  const allowed = agentStates.map((from) => {
    const targets = agentStates.filter((to) => transition(at(from), by("supervisor", to), 1).ok);
    return `${from} -> ${targets.join(" ")}`;
  });
  expect(allowed).toEqual([
    "booting -> working in_turn between_turns stalled completed zombie",
    "working -> working stalled completed zombie",
    "in_turn -> in_turn between_turns stalled completed zombie",
    "between_turns -> in_turn between_turns stalled completed zombie",
    "stalled -> working in_turn between_turns stalled completed zombie",
    "completed -> ",
    "zombie -> ",
  ]);
});

test("a zombie becomes completed by the operator alone, and keeps why it died", () => {
  const zombie = { state: "zombie", stateVersion: 5, outcome: "crashed", endedAt: 10 } as const;
  expect(transition(zombie, by("watchdog", "completed"), 99).ok).toBe(false);
  const stopped = transition(zombie, { to: "completed", actor: "operator", reason: "stop", outcome: "stopped" }, 99);
  expect(stopped).toEqual({
    ok: true,
    value: { state: "completed", stateVersion: 6, outcome: "crashed", endedAt: 10 },
  });
});

test("whatever happens, an ended agent never works again and its version only grows", () => {
  const step = fc.record({
    to: fc.constantFrom(...agentStates),
    actor: fc.constantFrom("supervisor", "engine", "watchdog", "operator"),
    outcome: fc.constantFrom(...agentOutcomes),
    reason: fc.constant("r"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let agent: Parameters<typeof transition>[0] = at("booting");
      let ended = false;
      for (const [time, request] of steps.entries()) {
        const moved = transition(agent, request, time);
        if (!moved.ok) continue;
        if (ended) expect(moved.value.state).toBe("completed");
        expect(moved.value.stateVersion).toBe(agent.stateVersion + 1);
        if (agent.outcome !== null) expect(moved.value.outcome).toBe(agent.outcome);
        agent = moved.value;
        ended ||= agent.state === "completed" || agent.state === "zombie";
      }
    }),
  );
});
