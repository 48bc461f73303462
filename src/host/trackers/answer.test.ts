import { describe, expect, test } from "bun:test";
import type { ProgramAnswer } from "./trackers.ts";
import { type AnswerForm, beadsReady, seedsReady, tasksIn } from "./trackers.ts";

const said = (out: string, more: Partial<ProgramAnswer> = {}): ProgramAnswer => ({ code: 0, out, err: "", ...more });
const task = { id: "app-1", title: "One", status: "open", priority: 1, type: "bug" };
const envelope = JSON.stringify({ success: true, command: "ready", issues: [task] });
const array = JSON.stringify([{ id: "bd-1", title: "One", status: "open", priority: 1, issue_type: "bug" }]);

describe("seeds", () => {
  test("answers with an envelope", () => {
    expect(tasksIn(said(envelope), seedsReady)).toEqual({ ok: true, value: [task] });
    expect(tasksIn(said('{"success":true,"issues":[]}\n'), seedsReady)).toEqual({ ok: true, value: [] });
  });

  test.each([
    ["a sentence", "Loading the store\n"],
    ["the same line", "ready: "],
    ["a mark in brackets", "[warn] the lock is old\n"],
    ["a list in the noise", "found {1, 2} and [3]\n{not this}\n"],
  ])("may say something before it: %s", (_, noise) => {
    expect(tasksIn(said(noise + envelope), seedsReady)).toEqual({ ok: true, value: [task] });
  });

  test("printed over several lines is the same answer", () => {
    const pretty = JSON.stringify(JSON.parse(envelope), null, 2);
    expect(tasksIn(said(`noise\n${pretty}\n`), seedsReady)).toEqual({ ok: true, value: [task] });
  });
});

describe("beads", () => {
  test("answers with a bare array, and has its own name for the type", () => {
    expect(tasksIn(said(array), beadsReady)).toEqual({ ok: true, value: [{ ...task, id: "bd-1" }] });
    expect(tasksIn(said("[]\n"), beadsReady)).toEqual({ ok: true, value: [] });
  });

  test("a task without a type is of an unknown one", () => {
    const found = tasksIn(said('[{"id":"bd-1","type":"bug"}]'), beadsReady);
    expect(found).toEqual({
      ok: true,
      value: [{ id: "bd-1", title: "", status: "open", priority: null, type: "unknown" }],
    });
  });
});

describe.each<[string, AnswerForm]>([
  ["seeds", seedsReady],
  ["beads", beadsReady],
])("whatever %s says that is no list", (_, form) => {
  const { command } = form;

  test.each([
    ["", "it said nothing"],
    [" \n", "it said nothing"],
    ["no tasks today", "that is not JSON"],
    ['{"success":true,"issues":[', "that is not JSON"],
    ['{"success":true}', "the list is not where it should be"],
    [form === seedsReady ? "[]" : '{"issues":[]}', "the list is not where it should be"],
    [form === seedsReady ? '{"issues":[{"id":""}]}' : '[{"id":""}]', "a task in it has no id"],
    [form === seedsReady ? '{"issues":["app-1"]}' : '["app-1"]', "a task in it has no id"],
  ])("is malformed: %p", (out, problem) => {
    expect(tasksIn(said(out), form)).toEqual({ ok: false, refusal: { kind: "malformed-output", command, problem } });
  });

  test.each<[string, Partial<ProgramAnswer>, string]>([
    ["an envelope that says so", { out: '{"success":false,"error":"no store here"}' }, "answered: no store here"],
    ["one without a reason", { out: '{"success":false}' }, "answered: it did not succeed"],
    ["an exit code with words", { code: 3, err: "\n  locked \nby pid 7\n" }, "exited 3: locked"],
    ["words on the wrong stream", { code: 3, out: "not my day\n" }, "exited 3: not my day"],
    ["both", { code: 1, out: '{"success":false,"error":"no store"}', err: "trace" }, "exited 1: no store"],
    ["an exit code alone", { code: 2 }, "exited 2"],
    ["a signal", { code: null }, "was ended by a signal"],
    ["many words", { code: 1, err: "x".repeat(300) }, `exited 1: ${"x".repeat(200)}...`],
  ])("is a failure: %s", (_, answer, problem) => {
    const found = tasksIn(said("", answer), form);
    expect(found).toEqual({ ok: false, refusal: { kind: "program-failed", command, problem } });
  });

  test("a list does not count when the program failed", () => {
    const full = form === seedsReady ? envelope : array;
    expect(tasksIn(said(full), form).ok).toBe(true);
    expect(tasksIn(said(full, { code: 1 }), form)).toMatchObject({ refusal: { kind: "program-failed" } });
  });
});
