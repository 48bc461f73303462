import { expect, test } from "bun:test";
import type { TrackedMessage } from "../../../usecases/mail/tracked-message.ts";
import { plain } from "../../shared/paint.ts";
import { asTaken, isShownAbove } from "./inbox.ts";
import { decisionBlock } from "./operator-render.ts";

const hint = (...options: readonly string[]): string => {
  const asked = {
    id: "msg-1",
    kind: "decision",
    from: "lead-1",
    subject: "Which?",
    context: "Both would do.",
  } as const;
  const decision = { ...asked, options, deadline: null, runId: null, createdAt: 0 };
  return decisionBlock(plain, decision, 1_000).split("\n").at(-1)?.trim() ?? "";
};

test("a branch that waits to land is shown with how to look at it, to let it land and to send it back", () => {
  const asked = { id: "merge:6", kind: "merge", from: "b1", subject: "land b1?", context: "It would land." } as const;
  const decision = { ...asked, options: ["approve", "reject"], deadline: null, runId: null, createdAt: 0 };
  const block = decisionBlock(plain, decision, 1_000);
  expect(block).toContain("ov merge diff 6");
  expect(block).toContain("ov decide merge:6 approve");
  expect(block).toContain('ov decide merge:6 reject --note "<what is wrong>"');
});

test("the command that is suggested cannot run what an agent offered as an option", () => {
  expect(hint('yes"; id; "')).toEndWith(`ov decide msg-1 'yes"; id; "'`);
  expect(hint("$(id)")).toEndWith("ov decide msg-1 '$(id)'");
  expect(hint("it's")).toEndWith(String.raw`ov decide msg-1 'it'\''s'`);
  expect(hint("a\u001bb")).toEndWith("ov decide msg-1 <option>");
  expect(hint("Postgres")).toEndWith("ov decide msg-1 Postgres");
  expect(hint()).toEndWith("ov decide msg-1 <answer>");
});

const question = (id: string, facts: Partial<TrackedMessage> = {}): TrackedMessage => ({
  id,
  from: "system",
  to: "operator",
  subject: "?",
  body: "?",
  type: "decision_gate",
  priority: "high",
  threadId: id,
  replyTo: null,
  payload: null,
  blobPath: null,
  read: false,
  redelivered: false,
  verified: true,
  state: "queued",
  createdAt: 0,
  ...facts,
});

const waiting = [{ id: "merge:3" }, { id: "msg-open" }];

test("the question of a merge that waits is not shown a second time", () => {
  expect(isShownAbove(question("msg-1", { payload: '{"queueId":3}' }), waiting)).toBe(true);
});

test("any other question is shown while a merge waits, the engine's own too", () => {
  expect(isShownAbove(question("msg-2", { payload: '{"queueId":4}' }), waiting)).toBe(false);
  expect(isShownAbove(question("msg-3", { payload: '{"options":["merge it as it is"]}' }), waiting)).toBe(false);
  expect(isShownAbove(question("msg-4", { from: "b1", payload: '{"queueId":3}' }), waiting)).toBe(false);
});

test("an open decision is folded by its own message, and only by a question", () => {
  expect(isShownAbove(question("msg-open", { from: "lead-1" }), waiting)).toBe(true);
  expect(isShownAbove(question("msg-open", { type: "status" }), waiting)).toBe(false);
});

test("a look that leaves mail unread shows it in the order of one that takes it: urgent first, then the oldest", () => {
  const newestFirst = [
    { id: "5", priority: "normal" },
    { id: "4", priority: "low" },
    { id: "3", priority: "urgent" },
    { id: "2", priority: "normal" },
    { id: "1", priority: "urgent" },
  ] as const;
  expect(asTaken(newestFirst).map(({ id }) => id)).toEqual(["1", "3", "2", "5", "4"]);
});

test("C13: a question and its options are printed once, whatever the message repeats of them", () => {
  const asked = { id: "msg-1", kind: "decision", from: "coordinator", subject: "Blue or red?", createdAt: 0 } as const;
  const rest = { options: ["blue", "red"], deadline: null, runId: null } as const;
  const shown = (context: string): string => decisionBlock(plain, { ...asked, ...rest, context }, 0);
  const lists = "Options:\n- blue\n- red";
  for (const context of ["Blue or red?", lists, `Blue or red?\n\n${lists}`]) {
    expect(shown(context).match(/Blue or red/g)).toHaveLength(1);
    expect(shown(context).match(/Options:/g)).toHaveLength(1);
  }
  expect(shown(`For the header.\n\n${lists}`)).toContain("For the header.");
});
