import { expect, test } from "bun:test";
import { type SettleFacts, settle } from "./settle.ts";

const clean: SettleFacts = {
  end: { kind: "clean" },
  stopRequestedBy: null,
  terminalMail: false,
  outstanding: false,
  persistent: false,
  reminders: 0,
  maxReminders: 2,
  attempt: 1,
  maxAttempts: 4,
  parksBefore: 0,
  now: 1_000,
};
const crash = { kind: "failed", reason: "exit 1" } as const;

test("terminal mail completes the agent, whatever its process did afterwards", () => {
  for (const end of [clean.end, crash, { kind: "stalled" }, { kind: "rate-limited", resetAt: null }] as const) {
    const settled = settle({ ...clean, terminalMail: true, end });
    expect(settled).toMatchObject({ state: "completed", outcome: "done", input: "ack", death: null });
  }
});

test("a requested stop outranks everything and is told to the parent", () => {
  const settled = settle({ ...clean, stopRequestedBy: "operator", terminalMail: true });
  expect(settled).toMatchObject({ state: "completed", outcome: "stopped", death: "stopped by operator" });
});

test("an agent that the watchdog ended is a zombie whose mail waits for its recovery, unless it had finished", () => {
  for (const end of [clean.end, crash, { kind: "stalled" }] as const) {
    const settled = settle({ ...clean, stopRequestedBy: "watchdog", end });
    expect(settled).toMatchObject({ turn: "failed", state: "zombie", outcome: "stalled", input: "keep" });
    expect(settled.death).not.toBeNull();
  }
  const finished = settle({ ...clean, stopRequestedBy: "watchdog", terminalMail: true });
  expect(finished).toMatchObject({ state: "completed", outcome: "done", death: null });
});

test("a failure that would only repeat itself ends the agent at the first attempt", () => {
  const settled = settle({ ...clean, end: { ...crash, permanent: true } });
  const next = { kind: "none" };
  expect(settled).toMatchObject({ state: "zombie", outcome: "crashed", input: "dead", next, death: "exit 1" });
  expect(settle({ ...clean, end: { ...crash, permanent: true }, terminalMail: true })).toMatchObject({
    outcome: "done",
  });
});

test("a clean turn with outstanding work waits", () => {
  const settled = settle({ ...clean, outstanding: true });
  expect(settled).toMatchObject({ state: "between_turns", outcome: null, input: "ack", next: { kind: "none" } });
});

test("a clean turn with nothing outstanding is reminded twice, then ends unexplained", () => {
  expect(settle(clean)).toMatchObject({ state: "between_turns", next: { kind: "reminder" } });
  expect(settle({ ...clean, reminders: 1 })).toMatchObject({ next: { kind: "reminder" } });
  expect(settle({ ...clean, reminders: 2 })).toMatchObject({
    state: "completed",
    outcome: "no_signal",
    next: { kind: "none" },
  });
  expect(settle({ ...clean, reminders: 2 }).death).not.toBeNull();
});

test("a persistent agent is never reminded", () => {
  expect(settle({ ...clean, persistent: true })).toMatchObject({ state: "between_turns", next: { kind: "none" } });
});

test("a failure is tried four times with growing pauses, then the agent is given up and its mail with it", () => {
  const pauses = [1, 2, 3].map((attempt) => settle({ ...clean, end: crash, attempt }).next);
  expect(pauses).toEqual([
    { kind: "retry", notBefore: 6_000, countsAttempt: true },
    { kind: "retry", notBefore: 31_000, countsAttempt: true },
    { kind: "retry", notBefore: 121_000, countsAttempt: true },
  ]);
  const last = settle({ ...clean, end: crash, attempt: 4 });
  expect(last).toMatchObject({
    state: "zombie",
    outcome: "crashed",
    input: "dead",
    death: "exit 1",
    next: { kind: "none" },
  });
  expect(settle({ ...clean, end: { kind: "stalled" }, attempt: 4 }).outcome).toBe("stalled");
});

test("a rate limit parks until its stated reset and uses no attempt", () => {
  const stated = settle({ ...clean, end: { kind: "rate-limited", resetAt: 90_000 }, attempt: 4 });
  expect(stated).toMatchObject({ state: "between_turns", input: "keep" });
  expect(stated.next).toEqual({ kind: "retry", notBefore: 90_000, countsAttempt: false });
  const unstated = { ...clean, end: { kind: "rate-limited", resetAt: null } } as const;
  expect([0, 1, 2, 3, 4, 9].map((parksBefore) => settle({ ...unstated, parksBefore, now: 0 }).next)).toMatchObject(
    [60_000, 120_000, 240_000, 480_000, 900_000, 900_000].map((notBefore) => ({ notBefore })),
  );
});

test("a turn that ended because a person takes over is settled, and its input comes again without using an attempt", () => {
  const settled = settle({ ...clean, end: crash, takenOver: true, attempt: 4 });
  expect(settled).toMatchObject({ turn: "settled", state: "between_turns", outcome: null, input: "keep", death: null });
  expect(settled.next).toEqual({ kind: "retry", notBefore: clean.now, countsAttempt: false });
  expect(settle({ ...clean, takenOver: true, outstanding: true })).toMatchObject({
    input: "ack",
    next: { kind: "none" },
  });
  expect(settle({ ...clean, end: crash, takenOver: true, terminalMail: true })).toMatchObject({ outcome: "done" });
});
