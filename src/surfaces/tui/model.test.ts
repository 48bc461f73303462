import { describe, expect, test } from "bun:test";
import type { QueuedMerge } from "../../usecases/merge/read-merges.ts";
import { filtered, firstModel, type Model, selectedAt, update } from "./model.ts";
import type { Row } from "./rows.ts";

const merge = { entry: { id: 7, branch: "overstory/b1/T1", status: "pending", agentName: "b1" } } as QueuedMerge;
const row = (key: string | null, text: string, subject: Row["subject"] = null): Row => ({ key, text, subject });
const rows: readonly Row[] = [
  row(null, "For you"),
  row("merge:7", "overstory/b1/T1 waits", { kind: "merge", merge }),
  row(null, "Latest"),
  row("event:1", "turn begins"),
];
const start = firstModel({ all: false, run: undefined });
const press = (model: Model, ...keys: readonly string[]) =>
  keys.reduce((last, key) => update(last.model, key, rows, { columns: 80, height: 10 }), { model } as ReturnType<
    typeof update
  >);

describe("moving", () => {
  test("headings cannot be selected, and the ends hold", () => {
    expect(selectedAt(start, rows)).toBe(1);
    expect(selectedAt(press(start, "down").model, rows)).toBe(3);
    expect(selectedAt(press(start, "down", "down").model, rows)).toBe(3);
    expect(selectedAt(press(start, "down", "k", "up").model, rows)).toBe(1);
  });

  test("the selection stays with its row when rows come before it", () => {
    const chosen = press(start, "down").model;
    expect(selectedAt(chosen, [row("new", "new"), ...rows])).toBe(4);
  });

  test("a number shows its view, and the view is read", () => {
    expect(press(start, "3")).toMatchObject({ model: { view: "merges" }, effect: { kind: "look" } });
    expect(press(start, "tab").model.view).toBe("agents");
  });
});

describe("acting", () => {
  test("an approval is asked about first, and only y does it", () => {
    const asked = press(start, "a");
    expect(asked).toEqual({ model: expect.objectContaining({ mode: expect.objectContaining({ kind: "confirm" }) }) });
    expect(press(asked.model, "y").effect).toEqual({ kind: "act", act: { kind: "approve", merge: 7 } });
    expect(press(asked.model, "n").effect).toBeUndefined();
    expect(press(asked.model, "enter").effect).toBeUndefined();
  });

  test("a branch is sent back with the reason that was typed", () => {
    expect(press(start, "x", "n", "o", "t", "backspace", "enter").effect).toEqual({
      kind: "act",
      act: { kind: "reject", merge: 7, reason: "no" },
    });
    expect(press(start, "x", "enter").model.mode.kind).toBe("write");
    expect(press(start, "x", "n", "escape").effect).toBeUndefined();
  });

  test("what a row is not about cannot be done to it", () => {
    const onEvent = press(start, "down").model;
    for (const key of ["n", "s", "m", "a", "x", "u"]) {
      const pressed = press(onEvent, key);
      expect([pressed.effect, pressed.model.mode.kind]).toEqual([undefined, "browse"]);
      expect(pressed.model.said?.text).toStartWith("select");
    }
  });

  test("an agent that is stopped, nudged or written to is that of the row", () => {
    expect(press(start, "s", "y").effect).toEqual({ kind: "act", act: { kind: "stop", agent: "b1" } });
    expect(press(start, "m", "h", "i", "enter").effect).toEqual({
      kind: "act",
      act: { kind: "message", to: "b1", text: "hi" },
    });
    expect(press(start, "n", "y").effect).toEqual({ kind: "act", act: { kind: "nudge", agent: "b1" } });
  });

  test("a landing is taken back from its row among the operations, or from that of its branch", () => {
    const operation = { kind: "operation", id: "op-1", words: "land on main: done" } as const;
    const landed = { entry: { ...merge.entry, status: "merged" } } as QueuedMerge;
    const taken = (subject: Row["subject"]) => {
      const shown = [row("x", "x", subject)];
      const asked = update(start, "u", shown, { columns: 80, height: 10 });
      expect(asked.model.mode.kind).toBe("confirm");
      return update(asked.model, "y", shown, { columns: 80, height: 10 }).effect;
    };
    expect(taken(operation)).toEqual({ kind: "act", act: { kind: "undo", operation: "op-1" } });
    expect(taken({ kind: "merge", merge: landed })).toEqual({ kind: "act", act: { kind: "undo", operation: "7" } });
  });
});

test("a filter keeps rows that contain it, whatever the case, and Escape brings the others back", () => {
  const narrow = press(start, "/", "W", "A", "I", "enter").model;
  expect(filtered(rows, narrow.filter).map(({ key }) => key)).toEqual(["merge:7"]);
  expect(press(narrow, "escape").model.filter).toBe("");
  expect(press(narrow, "/", "x", "escape").model.filter).toBe("WAI");
});

test("q quits from a list, goes back from a page, and is a letter while one writes", () => {
  expect(press(start, "q").effect).toEqual({ kind: "quit" });
  expect(press(start, "?", "q").model.mode.kind).toBe("browse");
  expect(press(start, "x", "q").effect).toBeUndefined();
  expect(press(start, "x", "ctrl-c").effect).toEqual({ kind: "quit" });
});
