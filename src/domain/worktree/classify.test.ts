import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { agentStates } from "../agent/agent.ts";
import { classify, mayBeCleaned, type WorktreeClass, type WorktreeSituation, worktreeClasses } from "./classify.ts";

const ended = { name: "ann", state: "completed", releasedAt: 1, parentName: "operator" } as const;
const quiet: WorktreeSituation = {
  branch: "overstory/ann/t-1",
  path: "/p/worktrees/ann",
  agent: ended,
  parentLives: false,
  liveChildren: [],
  dirty: false,
  landed: true,
  target: "main",
};

const table: readonly (readonly [
  title: string,
  change: Partial<WorktreeSituation>,
  WorktreeClass,
  next: string | null,
])[] = [
  ["everything landed, nothing left over", {}, "clean", null],
  ["no agent on record", { branch: "overstory/x/t" }, "clean", null],
  [
    "an agent between turns",
    { agent: { ...ended, state: "between_turns", releasedAt: null } },
    "running",
    "ov stop ann",
  ],
  ["a stalled agent", { agent: { ...ended, state: "stalled", releasedAt: null } }, "running", "ov stop ann"],
  ["running and dirty", { agent: { ...ended, state: "in_turn" }, dirty: true }, "running", "ov stop ann"],
  ["uncommitted work", { dirty: true }, "dirty", "ov worktree clean --force"],
  ["uncommitted and unmerged", { dirty: true, landed: false }, "dirty", "ov worktree clean --force"],
  ["git cannot read it", { damage: "bad tree object HEAD" }, "damaged", "git -C /p/worktrees/ann fsck"],
  ["commits that landed nowhere", { landed: false }, "unmerged", "ov merge --branch overstory/ann/t-1"],
  [
    "a zombie with unmerged commits",
    { agent: { ...ended, state: "zombie" }, landed: false },
    "unmerged",
    "ov merge --branch overstory/ann/t-1",
  ],
  [
    "submitted to a live parent",
    { agent: { ...ended, releasedAt: null }, parentLives: true },
    "held",
    "ov release ann",
  ],
  [
    "submitted, and its merge waits for the operator",
    { agent: { ...ended, releasedAt: null }, landed: false, waitingMerge: 16 },
    "awaited",
    "ov merge show 16",
  ],
  [
    "released, though its merge waits",
    { landed: false, waitingMerge: 16 },
    "unmerged",
    "ov merge --branch overstory/ann/t-1",
  ],
  ["submitted to a parent that ended", { agent: { ...ended, releasedAt: null } }, "clean", null],
  ["released, though the parent lives", { parentLives: true }, "clean", null],
  ["ended with live children", { liveChildren: ["bob"] }, "held", "ov release ann"],
];

describe("what may be cleaned", () => {
  for (const [title, change, expected, next] of table) {
    test(`${title}: ${expected}`, () => {
      expect(classify({ ...quiet, ...change })).toMatchObject({ class: expected, next });
    });
  }

  test("force takes everything but the ground of a live agent", () => {
    const forced = worktreeClasses.filter((name) => mayBeCleaned({ class: name }, { force: true }));
    expect(forced).toEqual(["held", "dirty", "unmerged", "clean"]);
    const plain = worktreeClasses.filter((name) => mayBeCleaned({ class: name }, { force: false }));
    expect(plain).toEqual(["clean"]);
  });

  test("whatever else is true, a live agent's worktree is never cleaned and lost work never counts as clean", () => {
    const state = fc.constantFrom(...agentStates);
    const flags = fc.record({ dirty: fc.boolean(), landed: fc.boolean(), parentLives: fc.boolean() });
    fc.assert(
      fc.property(state, flags, fc.option(fc.nat(), { nil: null }), (agentState, facts, releasedAt) => {
        const verdict = classify({ ...quiet, ...facts, agent: { ...ended, state: agentState, releasedAt } });
        const isLive = agentState !== "completed" && agentState !== "zombie";
        if (isLive) return !mayBeCleaned(verdict, { force: true });
        return verdict.class !== "clean" || (!facts.dirty && facts.landed);
      }),
    );
  });
});

test("the state of a running agent is said in words", () => {
  const running = classify({ ...quiet, agent: { ...ended, state: "in_turn", releasedAt: null } });
  expect(running.reason).toBe("ann is not done (working)");
});
