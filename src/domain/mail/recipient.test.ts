import { describe, expect, test } from "bun:test";
import { heirOf, type RecipientFacts, type RoutedMail, reopening, routeMail } from "./recipient.ts";

const agent = (name: string, parentName: string | null, more: Partial<RecipientFacts> = {}): RecipientFacts => ({
  name,
  capability: "builder",
  state: "between_turns",
  parentName,
  runId: "run-1",
  submitted: false,
  successorName: null,
  reopenable: true,
  ...more,
});
const submitted = { state: "completed", submitted: true } as const;
const released = { state: "completed", submitted: false } as const;

const agents = new Map(
  [
    agent("coordinator", "operator", { capability: "coordinator" }),
    agent("monitor", "operator", { capability: "monitor", ...released }),
    agent("l1", "coordinator", { capability: "lead" }),
    agent("l2", "coordinator", { capability: "lead", ...submitted }),
    agent("live", "l1"),
    agent("sub", "l1", submitted),
    agent("orphan", "l2", submitted),
    agent("spent", "l1", { ...submitted, reopenable: false }),
    agent("rel", "l1", released),
    agent("dead", "l2", { state: "zombie" }),
    agent("top", "operator", released),
    agent("old", "l2", { ...released, successorName: "live" }),
    agent("older", "l1", { ...released, successorName: "rel" }),
    agent("loop-a", "loop-b", released),
    agent("loop-b", "loop-a", released),
  ].map((one) => [one.name, one]),
);

const mail = (to: string, more: Partial<RoutedMail> = {}): RoutedMail => ({
  from: "someone",
  to,
  type: "status",
  payload: null,
  origin: "agent",
  terminal: false,
  wake: false,
  strict: false,
  entitled: true,
  ...more,
});
const verdict = (word: string) => ({ type: "review", payload: JSON.stringify({ verdict: word }) }) as const;

describe("mail to a live agent", () => {
  test("is delivered, whatever it is", () => {
    expect(routeMail(mail("live"), agents)).toEqual({ ok: true, value: { kind: "deliver", to: "live" } });
    expect(routeMail(mail("live", { origin: "engine", type: "merged" }), agents)).toMatchObject({ ok: true });
  });
});

describe("mail to a submitted agent", () => {
  test.each([
    { type: "dispatch" },
    { type: "assign" },
    { type: "question" },
    { type: "merge_failed" },
    { type: "merge_failed", origin: "engine" },
    { type: "merge_failed", terminal: true },
    { type: "status", wake: true },
    verdict("fail"),
    verdict("needs_changes"),
  ] as const)("%j reopens it", (more) => {
    expect(routeMail(mail("sub", more), agents)).toEqual({ ok: true, value: { kind: "reopen", to: "sub" } });
  });

  const work = [
    { type: "dispatch" },
    { type: "assign" },
    { type: "status", wake: true },
    verdict("fail"),
    verdict("needs_changes"),
  ] as const;

  test.each(work)("composed as %j by a stranger is refused with whom to write to instead", (more) => {
    const stranger = { ...more, from: "l9", entitled: false };
    expect(routeMail(mail("sub", stranger), agents)).toMatchObject({
      ok: false,
      refusal: { kind: "not-allowed", caller: "l9", why: expect.stringContaining("Write to l1") },
    });
    expect(routeMail(mail("sub", { ...stranger, wake: true }), agents).ok).toBe(false);
    expect(routeMail(mail("sub", { ...stranger, origin: "operator" }), agents).ok).toBe(true);
    expect(routeMail(mail("sub", { ...stranger, origin: "engine" }), agents).ok).toBe(true);
    expect(routeMail(mail("live", stranger), agents).ok).toBe(true);
  });

  test.each([{ type: "question" }, { type: "merge_failed" }] as const)("%j reopens it, from every sender", (more) => {
    expect(routeMail(mail("sub", { ...more, entitled: false }), agents)).toMatchObject({ value: { kind: "reopen" } });
  });

  test.each([{ type: "status" }, { type: "error" }, { type: "merged" }, verdict("pass"), { type: "review" }] as const)(
    "composed as %j is refused with what would reopen it",
    (more) => {
      expect(routeMail(mail("sub", more), agents)).toEqual({
        ok: false,
        refusal: { kind: "recipient-ended", name: "sub", state: "submitted", reopening },
      });
      expect(routeMail(mail("sub", { ...more, origin: "operator" }), agents).ok).toBe(false);
    },
  );

  test.each([
    ["sub", { origin: "engine", type: "worker_died" }, "l1"],
    ["l2", { terminal: true, type: "worker_done" }, "coordinator"],
    ["orphan", { origin: "engine", type: "merged" }, "coordinator"],
    ["spent", { origin: "engine", type: "merge_failed" }, "l1"],
  ] as const)("to %s as %j goes silently to its nearest live ancestor", (to, more, heir) => {
    expect(routeMail(mail(to, more), agents)).toEqual({
      ok: true,
      value: { kind: "forward", to: heir, insteadOf: to, silent: true },
    });
  });

  test("that has used up its revivals is refused, without a hint that would not work", () => {
    expect(routeMail(mail("spent", { type: "dispatch" }), agents)).toMatchObject({
      refusal: { kind: "recipient-ended", reopening: [] },
    });
  });
});

describe("mail to a released or failed agent", () => {
  test.each([
    ["old", "live"],
    ["older", "l1"],
    ["rel", "l1"],
    ["top", "operator"],
  ])("%s is inherited by %s", (to, heir) => {
    expect(routeMail(mail(to, { type: "dispatch" }), agents)).toEqual({
      ok: true,
      value: { kind: "forward", to: heir, insteadOf: to, silent: false },
    });
  });

  test("is refused when nobody inherits, or only its own sender", () => {
    expect(routeMail(mail("dead"), agents)).toEqual({
      ok: false,
      refusal: { kind: "recipient-ended", name: "dead", state: "zombie", reopening: [] },
    });
    expect(routeMail(mail("rel", { from: "l1" }), agents)).toMatchObject({ refusal: { state: "completed" } });
    expect(routeMail(mail("top", { from: "operator", origin: "operator" }), agents).ok).toBe(false);
  });

  test("is never refused when it is a notice or terminal mail", () => {
    expect(routeMail(mail("dead", { terminal: true, type: "worker_done" }), agents)).toMatchObject({
      value: { kind: "forward", to: "coordinator", silent: true },
    });
    expect(routeMail(mail("loop-a", { origin: "engine" }), agents)).toMatchObject({ value: { to: "operator" } });
  });

  test("at a reserved address is kept for the next one there, but notices go up", () => {
    expect(routeMail(mail("monitor"), agents)).toEqual({ ok: true, value: { kind: "deliver", to: "monitor" } });
    expect(routeMail(mail("monitor", { origin: "engine" }), agents)).toMatchObject({ value: { to: "operator" } });
  });

  test("at a reserved address is refused when a person writes it, and kept when it answers a question", () => {
    const typed = { from: "operator", origin: "operator" } as const;
    expect(routeMail(mail("monitor", typed), agents)).toMatchObject({ refusal: { kind: "recipient-ended" } });
    expect(routeMail(mail("monitor", { ...typed, answering: true }), agents)).toMatchObject({
      value: { kind: "deliver" },
    });
  });

  test("that led a run which is over is kept for no other run", () => {
    const over = agent("coordinator", "operator", { capability: "coordinator", ...released, runIsOver: true });
    const known = new Map([...agents, ["coordinator", over]]);
    expect(routeMail(mail("coordinator"), known)).toMatchObject({ value: { kind: "forward", to: "operator" } });
    const typed = { from: "operator", origin: "operator", answering: true } as const;
    expect(routeMail(mail("coordinator", typed), known)).toMatchObject({
      refusal: { kind: "recipient-ended", next: 'begin another run: ov go "<objective>"' },
    });
  });
});

describe("mail to an unknown name", () => {
  test("is refused for agents, with the nearest name", () => {
    expect(routeMail(mail("lvie"), agents)).toEqual({
      ok: false,
      refusal: { kind: "not-found", noun: "agent", id: "lvie", nearest: "live" },
    });
  });

  test("is accepted with a warning for people and scripts, unless they are strict", () => {
    expect(routeMail(mail("lvie", { origin: "operator" }), agents)).toEqual({
      ok: true,
      value: { kind: "deliver", to: "lvie", unknown: { name: "lvie", nearest: "live" } },
    });
    expect(routeMail(mail("zzzzzzzz", { origin: "script" }), agents)).toMatchObject({
      value: { unknown: { nearest: null } },
    });
    expect(routeMail(mail("lvie", { origin: "script", strict: true }), agents).ok).toBe(false);
  });

  test.each(["operator", "orchestrator", "system"])("%s always exists", (name) => {
    expect(routeMail(mail(name, { strict: true }), agents)).toEqual({ ok: true, value: { kind: "deliver", to: name } });
  });

  test("from the engine reaches the operator instead of nobody", () => {
    expect(routeMail(mail("purged", { origin: "engine" }), agents)).toMatchObject({
      value: { kind: "forward", to: "operator", insteadOf: "purged" },
    });
  });
});

test("without a live successor or parent nobody inherits", () => {
  expect(heirOf({ parentName: "l2", successorName: "rel" }, agents)).toBeNull();
  expect(heirOf({ parentName: null, successorName: null }, agents)).toBe("operator");
});
