import { describe, expect, test } from "bun:test";
import { aMessage } from "../../../testkit/contracts/store/rows.ts";
import { planReply, replySubject } from "./reply.ts";
import type { Message } from "./types.ts";

const question = {
  fromAgent: "b1",
  address: "l1",
  subject: "which port?",
  body: "8080 or 8081?",
  type: "question",
  priority: "high",
  threadId: "msg-1",
  replyTo: "msg-3",
  hop: 3,
} as const;
const original: Message = { ...aMessage("msg-4", question), seq: 4 };

describe("a reply", () => {
  test("goes to the author, in the thread, one hop further, as a status of the same priority", () => {
    expect(planReply(original, { replier: "l1" })).toEqual({
      address: "b1",
      subject: "Re: which port?",
      type: "status",
      priority: "high",
      threadId: "msg-1",
      replyTo: "msg-4",
      hop: 4,
      answers: true,
    });
  });

  test("by a bystander goes to the author too, even when the original went to a group", () => {
    expect(planReply({ ...original, address: "@builders" }, { replier: "operator" }).address).toBe("b1");
  });

  test("to one's own message goes to its recipients and answers nothing", () => {
    expect(planReply(original, { replier: "b1" })).toMatchObject({ address: "l1", answers: false });
  });

  test("to worker_done is a status, so it completes nobody", () => {
    const plan = planReply({ ...original, type: "worker_done" }, { replier: "l1" });
    expect(plan).toMatchObject({ type: "status", answers: false });
  });

  test("takes the type and priority it is given", () => {
    const plan = planReply(original, { replier: "l1", type: "decision", priority: "low" });
    expect(plan).toMatchObject({ type: "decision", priority: "low" });
  });

  test.each([
    ["question", false, true],
    ["decision_gate", false, true],
    ["dispatch", true, true],
    ["dispatch", false, false],
  ] as const)("to %s (reply expected: %p) answers a wait: %p", (type, expectsReply, answers) => {
    expect(planReply({ ...original, type, expectsReply }, { replier: "l1" }).answers).toBe(answers);
  });

  test.each([
    ["build", "Re: build"],
    ["Re: build", "Re: build"],
    ["RE: re:Re:  build", "Re: build"],
    ["Regarding build", "Re: Regarding build"],
    ["", "Re: "],
  ])("subject %j becomes %j", (subject, expected) => {
    expect(replySubject(subject)).toBe(expected);
  });
});
