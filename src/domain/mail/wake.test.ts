import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type MailType, mailTypes, type Priority } from "./types.ts";
import { coalesceUntil, defaultWakePolicy, type WakeFacts, wakes } from "./wake.ts";

const facts = (type: MailType, more: Partial<WakeFacts> = {}): WakeFacts => ({
  type,
  priority: "normal",
  group: false,
  answers: false,
  recipientCapability: "lead",
  ...more,
});

describe("what wakes", () => {
  test("news that only inform ride along; everything else starts a turn", () => {
    const silent = mailTypes.filter((type) => !wakes(facts(type)));
    expect(silent).toEqual(["status", "result", "merge_ready", "health_check", "spec_ready"]);
    expect(mailTypes.filter((type) => !wakes(facts(type, { priority: "low" })))).toEqual(silent);
  });

  test.each(["high", "urgent"] as const)("%s priority wakes whatever the type", (priority) => {
    expect(mailTypes.every((type) => wakes(facts(type, { priority })))).toBe(true);
  });

  test("a group send wakes nobody unless it says so", () => {
    const toGroup = { group: true, priority: "urgent", answers: true } as const;
    expect(mailTypes.some((type) => wakes(facts(type, toGroup)))).toBe(false);
    expect(mailTypes.every((type) => wakes(facts(type, { ...toGroup, override: true })))).toBe(true);
  });

  test("the sender's own word wins both ways", () => {
    expect(wakes(facts("status", { override: true }))).toBe(true);
    expect(wakes(facts("dispatch", { override: false, priority: "urgent" }))).toBe(false);
  });

  test("an awaited answer wakes although it is only a status", () => {
    expect(wakes(facts("status", { answers: true }))).toBe(true);
  });

  test("the policy may name the capabilities that a type wakes", () => {
    const policy = { ...defaultWakePolicy, spec_ready: ["lead"] } as const;
    expect(wakes(facts("spec_ready"), policy)).toBe(true);
    expect(wakes(facts("spec_ready", { recipientCapability: "builder" }), policy)).toBe(false);
    expect(wakes(facts("spec_ready", { recipientCapability: null }), policy)).toBe(false);
  });
});

describe("coalescing", () => {
  const now = 10_000;
  const waiting = { otherOpenChildWaits: 1, windowMs: 500, now };
  const mail = (type: MailType, createdAt = now, priority: Priority = "normal") => ({ type, priority, createdAt });

  test.each([
    ["worker_done while other children are out", [mail("worker_done")], waiting, now + 500],
    ["a waking status likewise", [mail("status")], waiting, now + 500],
    ["worker_done of the last child", [mail("worker_done")], { ...waiting, otherOpenChildWaits: 0 }, now],
    ["a question", [mail("question")], waiting, now],
    ["a death", [mail("worker_died")], waiting, now],
    ["an urgent worker_done", [mail("worker_done", now, "urgent")], waiting, now],
    ["one that has waited already", [mail("worker_done", now - 300)], waiting, now + 200],
    ["one that has waited long", [mail("worker_done", now - 9_000)], waiting, now],
    ["one from a clock that was set back", [mail("worker_done", now + 3_600_000)], waiting, now + 500],
    ["the oldest decides", [mail("worker_done"), mail("worker_done", now - 400)], waiting, now + 100],
    ["a question does not wait for a worker_done", [mail("worker_done"), mail("question")], waiting, now],
    ["no mail", [], waiting, null],
  ] as const)("%s", (_, waking, given, start) => {
    expect(coalesceUntil(waking, given)).toBe(start);
  });

  test("nothing is ever held beyond one window, nor more mail makes it later", () => {
    const any = fc.record({
      type: fc.constantFrom(...mailTypes),
      priority: fc.constantFrom<Priority>("low", "normal", "high", "urgent"),
      createdAt: fc.integer({ min: 0, max: 2 * now }),
    });
    fc.assert(
      fc.property(fc.array(any, { minLength: 1 }), any, fc.nat(3), (waking, another, otherOpenChildWaits) => {
        const given = { ...waiting, otherOpenChildWaits };
        const start = coalesceUntil(waking, given) ?? Number.NaN;
        expect(start).toBeGreaterThanOrEqual(now);
        expect(start).toBeLessThanOrEqual(now + 500);
        expect(coalesceUntil([...waking, another], given) ?? Number.NaN).toBeLessThanOrEqual(start);
      }),
    );
  });
});
