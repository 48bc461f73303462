import { expect, test } from "bun:test";
import { nextCommand } from "../../../domain/event/error-groups.ts";
import type { Event } from "../../../domain/event/event.ts";
import { plain } from "../../shared/paint.ts";
import { eventLines, turnTree } from "./event-render.ts";

/** As a hook writes it that proves no agent. */
const foreign: Event = {
  seq: 7,
  runId: null,
  agentName: "\u001b[2J; rm",
  agentId: null,
  turnId: null,
  line: null,
  part: null,
  source: "hook",
  level: "error",
  type: "tool_end",
  data: JSON.stringify({ tool: "\u001b]0;x\u0007", failed: true }),
  createdAt: 0,
};

test("neither the name of an event's agent nor its words reach a terminal as control bytes", () => {
  const [line = ""] = eventLines([foreign], { paint: plain, width: 80, now: 0 });
  expect(line).toContain("\\u{1b}");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
  expect(line).not.toMatch(/[\u0000-\u001f]/);
});

test("a name that a shell would take for more than a name is not part of a command to type", () => {
  expect(nextCommand(foreign)).toBe("ov replay --from 7");
  expect(nextCommand({ ...foreign, agentName: "b1" })).toBe("ov inspect b1");
});

test("numbers stand in a column, and a state is called as ov status calls it", () => {
  const data = JSON.stringify({ end: { kind: "clean" }, state: "between_turns", outcome: null });
  const ended: Event = { ...foreign, agentName: "b1", level: "info", type: "turn_end", data };
  const lines = eventLines([ended, { ...ended, seq: 112 }], { paint: plain, width: 80, now: 0 });
  expect(lines.map((line) => line.slice(line.indexOf(" ")))).toEqual([
    "   #7 TURN-  b1 clean, agent waiting",
    " #112 TURN-  b1 clean, agent waiting",
  ]);
});

test("what a turn took and cost stands on a line of its own where the first has no room", () => {
  const turn = {
    id: "turn-0190f3a2-7c1e-7d3b-9a54-0f6f2f3a9b11",
    agentName: "builder-of-dates",
    trigger: "mail",
    attempt: 1,
    startedAt: 0,
    endedAt: 61_000,
    status: "settled",
    costMicros: 1_230_000,
  };
  const story = { messages: 2, steps: [], outcome: null };
  const tokens = { input: 1_000, output: 500, cacheRead: 0, cacheWrite: 0 };
  const traced = { turn, story, tokens, isCut: false } as unknown as Parameters<typeof turnTree>[0];
  const narrow = turnTree(traced, { paint: plain, width: 80, now: 0 });
  expect(narrow.filter((line) => line.length > 80)).toEqual([]);
  expect(narrow.join("\n")).toContain("1500 tokens, $1.23");
  expect(turnTree(traced, { paint: plain, width: 200, now: 0 })[0]).toContain("$1.23");
});

test("promotions and undos are told in words, without the ids of operations", () => {
  const told = (type: Event["type"], fields: object): string =>
    eventLines([{ ...foreign, agentName: "b1", level: "info", type, data: JSON.stringify(fields) }], {
      paint: plain,
      width: 200,
      now: 0,
    }).join("\n");
  const about = { opId: "op-1", landing: "overstory/integration/main", target: "main", removedLocks: [] };
  const commit = "a".repeat(40);
  expect(told("merge_promoted", { ...about, commit, problem: null })).toEndWith(
    `overstory/integration/main promoted to main, ${"a".repeat(12)}`,
  );
  expect(told("merge_promote_failed", { ...about, commit: null, problem: "it moved" })).toEndWith(
    "overstory/integration/main not promoted to main, it moved",
  );
  const undone = { opId: "op-2", branch: "overstory/b1/T1", targetBranch: "main", queueId: 1, requeue: true };
  expect(told("merge_undone", undone)).toEndWith("overstory/b1/T1 taken out of main, queued again");
});
