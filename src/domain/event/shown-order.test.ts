import { expect, test } from "bun:test";
import { cpuTimer } from "../../../testkit/cpu-time.ts";
import type { Event } from "./event.ts";
import { inShownOrder } from "./shown-order.ts";

const event = (seq: number, type: string, data: object, turnId = "t1"): Event => ({
  seq,
  runId: "r",
  agentName: "b1",
  agentId: "a",
  turnId,
  line: null,
  part: null,
  source: "agent",
  level: "info",
  type,
  data: JSON.stringify(data),
  createdAt: seq,
});
const order = (...events: readonly Event[]) => inShownOrder(events).map(({ seq }) => seq);

test("mail stands behind the call that sent it, and stays where no later call of its turn sends any", () => {
  const send = (seq: number, turnId?: string) => event(seq, "tool_start", { summary: "ov mail send" }, turnId);
  const mail = (seq: number, turnId?: string) => event(seq, "mail_sent", {}, turnId);
  expect(order(mail(1), send(2), mail(3))).toEqual([2, 1, 3]);
  expect(order(mail(1), send(2, "t2"))).toEqual([1, 2]);
  expect(order(mail(1), mail(2), send(3), send(4))).toEqual([3, 1, 4, 2]);
});

test("a denial stands behind the call that it denied, and stays where the call came before it or never", () => {
  const call = (seq: number, id?: string) => event(seq, "tool_start", { id, tool: "Bash" });
  const denial = (seq: number, id?: string) => event(seq, "guard_denied", { id, rule: "git-push" });
  expect(order(denial(1, "c1"), call(2, "c1"), call(3, "c2"), denial(4, "c2"))).toEqual([2, 1, 3, 4]);
  expect(order(denial(1), call(2), denial(3, "gone"))).toEqual([1, 2, 3]);
});

test("thousands of denials are put in order at once", () => {
  const events = Array.from({ length: 10_000 }, (_, n) =>
    event(n + 1, n % 2 === 0 ? "guard_denied" : "tool_start", { id: `c${n >> 1}`, tool: "Bash" }),
  );
  const computed = cpuTimer();
  expect(inShownOrder(events)).toHaveLength(10_000);
  // Looking through all events for each denial would take several seconds.
  expect(computed()).toBeLessThan(1_000);
});
