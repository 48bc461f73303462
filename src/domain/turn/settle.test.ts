import { expect, test } from "bun:test";
import { type FailureCause, failureAdvice, failureCauses, failures } from "./failure.ts";
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
  resumed: true,
  spent: true,
  now: 1_000,
};
const failed = (cause: FailureCause, reason = "as said") => ({ kind: "failed", cause, reason }) as const;
const crash = failed("unknown", "exit 1");

test("terminal mail completes the agent, whatever its process did afterwards", () => {
  for (const end of [clean.end, crash, { kind: "stalled" }, failed("overloaded"), failed("login")] as const) {
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
  for (const cause of ["login", "credit", "model", "program", "mode", "refusal"] as const) {
    const settled = settle({ ...clean, end: failed(cause) });
    const next = { kind: "none" };
    expect(settled).toMatchObject({ state: "zombie", outcome: "crashed", input: "dead", next, death: "as said" });
  }
  expect(settle({ ...clean, end: failed("login"), terminalMail: true })).toMatchObject({ outcome: "done" });
});

test("a conversation that cannot go on is begun anew once, without using an attempt; a new one that fails so ends", () => {
  for (const cause of ["session_lost", "context_full", "rejected"] as const) {
    const anew = settle({ ...clean, end: failed(cause), attempt: 4 });
    const next = { kind: "retry", notBefore: 1_000, countsAttempt: false };
    expect(anew).toMatchObject({ state: "between_turns", input: "keep", forgetsConversation: true, next });
    expect(settle({ ...clean, end: failed(cause), resumed: false })).toMatchObject({
      state: "zombie",
      death: "as said",
    });
  }
});

test("a spent budget keeps the input and uses no attempt; one that ran out before anything was spent uses one", () => {
  const next = { kind: "retry", notBefore: 1_000, countsAttempt: false };
  expect(settle({ ...clean, end: failed("budget"), attempt: 4 })).toMatchObject({ input: "keep", next });
  expect(settle({ ...clean, end: failed("budget"), spent: false }).next).toMatchObject({ countsAttempt: true });
});

test("what ends an agent, or keeps it waiting, names a command", () => {
  for (const cause of failureCauses) {
    expect([cause, failureAdvice(cause, "b1")]).toEqual([cause, expect.stringContaining("ov ")]);
    expect(failures[cause].words).not.toContain(".");
  }
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

test("what passes by itself parks until its stated end and uses no attempt", () => {
  const stated = settle({ ...clean, end: { ...failed("rate_limit"), resetAt: 90_000 }, attempt: 4 });
  expect(stated).toMatchObject({ state: "between_turns", input: "keep" });
  expect(stated.next).toEqual({ kind: "retry", notBefore: 90_000, countsAttempt: false });
  const pauses = (cause: FailureCause) =>
    [0, 1, 2, 3, 4, 9].map((parksBefore) => settle({ ...clean, end: failed(cause), parksBefore, now: 0 }).next);
  expect(pauses("rate_limit")).toMatchObject(
    [60_000, 120_000, 240_000, 480_000, 900_000, 900_000].map((notBefore) => ({ notBefore, countsAttempt: false })),
  );
  for (const cause of ["overloaded", "server_error", "network"] as const) {
    expect(pauses(cause)).toMatchObject(
      [10_000, 20_000, 40_000, 80_000, 160_000, 900_000].map((notBefore) => ({ notBefore, countsAttempt: false })),
    );
  }
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
