import { expect, test } from "bun:test";
import type { Agent } from "../agent/agent.ts";
import { openEnds, type RunFacts } from "./open-ends.ts";

type HeldBy = Pick<Agent, "state" | "outcome">;

/** A run with the task T1, which b1 holds and whose branch waits nowhere. */
const heldBy = (agent: HeldBy, landing: RunFacts["landing"] = []): RunFacts => {
  const b1 = {
    name: "b1",
    capability: "builder",
    releasedAt: null,
    parentName: "lead",
    taskId: "T1",
    ...agent,
  } as const;
  return {
    runId: "run-1",
    tasks: [{ id: "T1", title: "Do it", status: "in_progress", claimedBy: "b1", mergeState: "pending" }],
    agents: [b1],
    holders: [b1],
    unhanded: [],
    landing,
    criteria: [],
    questions: [],
    lacks: [],
  };
};

const ends = [
  { state: "completed", outcome: "stopped", words: "stopped" },
  { state: "completed", outcome: "no_signal", words: "ended without a report" },
  { state: "zombie", outcome: "crashed", words: "crashed" },
] as const satisfies readonly (HeldBy & { readonly words: string })[];

test.each(ends)(
  "$outcome: an ended agent is called what ov status calls it, and ov recover has its task go on",
  ({ words, ...agent }) => {
    const [task, seat] = openEnds(heldBy(agent), "operator");
    expect(task?.fix).toBe(
      `b1 has ended (${words}); have it go on: ov recover b1, or give it up: ov task drop T1 --reason "<why>"`,
    );
    expect(seat?.what).toBe(`builder b1 is not released (${words})`);
    expect(seat?.fix).toBe("have it go on: ov recover b1, or let it go: ov release b1");
  },
);

test("an agent whose task is closed by now can only be let go", () => {
  const facts = { ...heldBy({ state: "completed", outcome: "no_signal" }), tasks: [] };
  expect(openEnds(facts, "operator")).toMatchObject([{ kind: "agent", fix: "let it go: ov release b1" }]);
});

test("work that is in the queue, or comes from an agent that reported, is not to be done again", () => {
  const entry = { id: 1, branch: "overstory/b1/T1", status: "pending", taskId: "T1" } as const;
  const [queued] = openEnds(heldBy({ state: "completed", outcome: "stopped" }, [entry]), "operator");
  expect(queued?.fix).toContain("let its branch land");
  const [submitted, seat] = openEnds(heldBy({ state: "completed", outcome: "done" }), "operator");
  expect(submitted?.fix).not.toContain("ov recover");
  expect(seat).toMatchObject({ what: "builder b1 is not released (submitted)", fix: "let it go: ov release b1" });
});

test("an agent at work is called what ov status calls it", () => {
  const words = (agent: HeldBy) => openEnds(heldBy(agent), "operator")[1]?.what;
  expect(words({ state: "in_turn", outcome: null })).toBe("builder b1 is not released (working)");
  expect(words({ state: "between_turns", outcome: null })).toBe("builder b1 is not released (waiting)");
});
