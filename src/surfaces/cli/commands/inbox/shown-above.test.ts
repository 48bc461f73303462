import { expect, test } from "bun:test";
import type { MessageView } from "../../../../usecases/mail/view.ts";
import { isShownAbove } from "./shown-above.ts";

const question = (id: string, facts: Partial<MessageView> = {}): MessageView => ({
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
