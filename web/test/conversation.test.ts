import { expect, test } from "bun:test";
import type { AgentEvent, Letter } from "../src/api/types.ts";
import { conversationRows, didWords } from "../src/pages/coordinator/conversation-rows.ts";

const at = (second: number): string => new Date(1_763_251_200_000 + second * 1000).toISOString();
const event = (seq: number, type: string, details: object = {}, level = "info") =>
  ({ seq, at: at(seq), type, level, text: `event ${seq}`, details }) as unknown as AgentEvent;
const letter = (id: string, second: number) => ({ id, createdAt: at(second) }) as Letter;

test("letters and words stand in the order of time, and what was done between them is one line that counts", () => {
  const rows = conversationRows(
    [letter("m1", 0), letter("m2", 9)],
    [
      event(1, "progress", { text: "I begin." }),
      event(2, "tool_start", { id: "a", tool: "Bash", summary: "ls" }),
      event(3, "tool_end", { id: "a", tool: "Bash" }),
      event(4, "mail_sent"),
      event(5, "tool_start", { id: "b", tool: "Edit", summary: "x" }),
      event(6, "result", { text: "I begin." }),
      event(10, "progress", { text: "Done." }),
    ],
  );
  expect(rows.map(({ kind, id }) => `${kind} ${id}`)).toEqual(["letter m1", "said 1", "did 2", "letter m2", "said 10"]);
  const did = rows.find(({ kind }) => kind === "did");
  expect(did?.kind === "did" ? didWords(did.steps) : "").toBe("2 tools, 1 mail");
});

test("a failure is never folded, and words of nothing are left out", () => {
  const rows = conversationRows(
    [],
    [event(1, "tool_start", { tool: "Bash" }), event(2, "error", {}, "error"), event(3, "progress", { text: " \n" })],
  );
  expect(rows.map(({ kind }) => kind)).toEqual(["did", "failed"]);
});
