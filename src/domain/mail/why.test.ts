import { describe, expect, test } from "bun:test";
import { freshDelivery } from "./delivery.ts";
import type { Delivery } from "./types.ts";
import { explainDelivery, type WhyCode, type WhyFacts, type WhyRecipient, whyCodes } from "./why.ts";

const now = Date.parse("2026-01-02T03:04:05.000Z");
const delivery: Delivery = {
  ...freshDelivery,
  messageSeq: 7,
  toAgent: "b1",
  priorityRank: 2,
  wake: true,
  updatedAt: 0,
};
const idle: WhyRecipient = { ended: null, runningTurn: null, parked: null };
const facts: WhyFacts = {
  messageId: "msg-7",
  delivery,
  recipient: idle,
  forwardedTo: null,
  beforeFinish: false,
  engineRunning: true,
  now,
};
const when = (change: Partial<Delivery>, more: Partial<WhyFacts> = {}): WhyFacts => ({
  ...facts,
  ...more,
  delivery: { ...delivery, ...change },
});

const cases: readonly (readonly [WhyCode, WhyFacts, string, string | null])[] = [
  ["acked", when({ state: "acked", ackedAt: now }), "b1 has read it (2026-01-02T03:04:05.000Z).", null],
  ["forwarded", when({ state: "cancelled" }, { forwardedTo: "l1" }), "b1 had ended, so it went to l1.", null],
  ["forwarded", when({}, { forwardedTo: "l1" }), "b1 had ended, so it went to l1.", null],
  ["cancelled", when({ state: "cancelled", lastError: "spawn undone" }), "It was withdrawn: spawn undone.", null],
  [
    "dead",
    when({ state: "dead", attempts: 5, lastError: "exit 3" }),
    "Given up after 5 attempts; last error: exit 3.",
    "ov mail retry msg-7",
  ],
  [
    "dead",
    when({ state: "dead", attempts: 1, lastError: "not logged in" }, { recipient: { ...idle, ended: "zombie" } }),
    "Given up after 1 attempt; last error: not logged in.",
    "ov recover b1",
  ],
  [
    "delivered",
    when({ state: "delivered", deliveredAt: now }),
    "b1 was handed it (2026-01-02T03:04:05.000Z) and has not confirmed it yet.",
    null,
  ],
  [
    "in-turn",
    when({ state: "claimed", claimedBy: "sup-1", turnId: "turn-3" }),
    "It is part of turn turn-3 of b1.",
    null,
  ],
  [
    "held-by-reader",
    when({ state: "claimed", claimedBy: "mcp-1", claimExpires: now }),
    "mcp-1 is reading it and may hold it until 2026-01-02T03:04:05.000Z.",
    null,
  ],
  [
    "recipient-ended",
    when({}, { recipient: { ...idle, ended: "submitted" } }),
    "b1 is submitted, and mail of this kind does not reopen it.",
    "ov recover b1",
  ],
  [
    "recipient-ended",
    when({}, { recipient: { ...idle, ended: "zombie" } }),
    "b1 is zombie, and mail of this kind does not reopen it.",
    "ov recover b1",
  ],
  [
    "waits-for-reader",
    when({ toAgent: "operator" }, { recipient: null }),
    "It waits until operator looks at the inbox.",
    "ov mail check",
  ],
  [
    "waits-for-reader",
    when({}, { recipient: null, engineRunning: false }),
    "It waits until b1 looks at the inbox.",
    "ov mail check --agent b1",
  ],
  ["engine-not-running", when({}, { engineRunning: false }), "No engine is running to deliver it.", "ov engine start"],
  [
    "not-before",
    when({ notBefore: now + 1, attempts: 1, lastError: "exit 3" }),
    "It is not tried again before 2026-01-02T03:04:05.001Z after 1 attempt: exit 3.",
    null,
  ],
  [
    "parked",
    when({}, { recipient: { ...idle, parked: { reason: "rate_limit", until: now, next: null } } }),
    "b1 is parked (rate_limit) until 2026-01-02T03:04:05.000Z.",
    null,
  ],
  [
    "parked",
    when({}, { recipient: { ...idle, parked: { reason: "operator", until: null, next: "ov resume b1" } } }),
    "b1 is parked (operator).",
    "ov resume b1",
  ],
  [
    "turn-running",
    when({ wake: false }, { recipient: { ...idle, runningTurn: "turn-2" } }),
    "It waits for the end of turn turn-2 of b1.",
    null,
  ],
  ["does-not-wake", when({ wake: false }), "It starts no turn; b1 gets it with its next one.", "ov nudge b1"],
  ["due", when({}), "The next turn of b1 carries it.", null],
];

describe("why a message has not been seen", () => {
  test.each(cases)("%s", (code, given, sentence, next) => {
    expect(explainDelivery(given)).toEqual({ code, sentence, next });
  });

  test("every reason has a case above", () => {
    expect([...new Set(cases.map(([code]) => code))].sort()).toEqual([...whyCodes].sort());
  });
});
