import { expect, test } from "bun:test";
import type { AgentEvent } from "../src/api/types.ts";
import { exploredWords, kindOf, timelineRows } from "../src/pages/agent/timeline-rows.ts";

let seq = 0;
const event = (type: string, details: object = {}, more: Partial<AgentEvent> = {}): AgentEvent =>
  ({ seq: ++seq, at: new Date(seq * 1000).toISOString(), type, level: "info", text: type, details, ...more }) as never;
const call = (tool: string, id: string, more: object = {}) => [
  event("tool_start", { tool, id, summary: `${id}.ts` }),
  event("tool_end", { tool, id, summary: `${id}.ts`, durationMs: 10, ...more }),
];

test("start and end of a call are one row with its length; a call without its end runs", () => {
  const rows = timelineRows([...call("Edit", "a"), event("tool_start", { tool: "Bash", id: "b", summary: "ls" })]);
  expect(rows).toMatchObject([
    { kind: "tool", call: { tool: "Bash", isRunning: true } },
    { kind: "tool", call: { tool: "Edit", isRunning: false, durationMs: 10 } },
  ]);
});

test("looking around is one line that counts; a failed look is never folded", () => {
  const rows = timelineRows([...call("Read", "a"), ...call("Grep", "b"), ...call("Read", "c", { failed: true })]);
  expect(rows.map(({ kind }) => kind)).toEqual(["tool", "explored"]);
  const [failed, explored] = rows;
  expect(failed === undefined ? undefined : kindOf(failed)).toBe("errors");
  expect(explored?.kind === "explored" ? exploredWords(explored.calls) : "").toBe("read 1 file, 1 search");
});

test("a conversation that was made shorter, and a change of the model, are rows with their words", () => {
  const text = "the conversation was compacted: 180k tokens before";
  const rows = timelineRows([event("compacted", {}, { text }), event("model_changed", {}, { level: "warn" })]);
  expect(rows).toMatchObject([
    { kind: "state", event: { type: "model_changed" } },
    { kind: "state", event: { text } },
  ]);
  expect(rows.map(kindOf)).toEqual(["state", "state"]);
});

test("words that follow each other are one text, and the same event told twice changes nothing", () => {
  const said = [event("progress", { text: "The clock " }), event("progress", { text: "is local." })];
  expect(timelineRows(said)).toMatchObject([{ kind: "text", text: "The clock is local." }]);
  expect(timelineRows([...said, ...said])).toEqual(timelineRows(said));
});

test("a call whose turn ended without its end does not run any more; paths are those below the worktree", () => {
  const cut = event("tool_start", { tool: "Bash", id: "x", summary: "cat /w/b1/src/a.ts" });
  const [, row] = timelineRows([cut, event("turn_end")], "/w/b1");
  expect(row).toMatchObject({ kind: "tool", call: { isRunning: false, isCut: true, summary: "cat src/a.ts" } });
});
