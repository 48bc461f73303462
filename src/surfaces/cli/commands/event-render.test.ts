import { expect, test } from "bun:test";
import { nextCommand } from "../../../domain/event/error-groups.ts";
import type { Event } from "../../../domain/event/event.ts";
import { plain } from "../../shared/paint.ts";
import { eventLines } from "./event-render.ts";

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
