import { expect, test } from "bun:test";
import { boardMove, columnOf } from "./board.ts";
import type { Task } from "./task.ts";

type Facts = Partial<Pick<Task, "status" | "mergeState" | "claimedBy">>;
const task = (facts: Facts = {}) =>
  ({ id: "t1", status: "open", mergeState: "none", claimedBy: null, ...facts }) as const;

test("status, dependencies and the merge queue say where a task stands", () => {
  expect(columnOf(task(), [])).toBe("ready");
  expect(columnOf(task(), ["t0"])).toBe("waiting");
  expect(columnOf(task({ status: "blocked" }), [])).toBe("waiting");
  expect(columnOf(task({ status: "in_progress" }), [])).toBe("working");
  expect(columnOf(task({ status: "in_review", mergeState: "pending" }), [])).toBe("review");
  expect(columnOf(task({ status: "in_review", mergeState: "queued" }), [])).toBe("queued");
  expect(columnOf(task({ status: "in_review", mergeState: "failed" }), [])).toBe("queued");
  expect(columnOf(task({ status: "closed", mergeState: "merged" }), [])).toBe("done");
});

test("a person holds back, lets go, reopens and closes; nothing else is moved by hand", () => {
  const move = (facts: Facts, to: Parameters<typeof boardMove>[2], waitsFor: readonly string[] = []) =>
    boardMove(task(facts), waitsFor, to);
  expect(move({}, "waiting")).toEqual({ verb: "block" });
  expect(move({ status: "blocked" }, "ready")).toEqual({ verb: "unblock" });
  expect(move({}, "ready", ["t0"])).toEqual({ whyNot: "it waits for t0" });
  expect(move({ status: "closed" }, "ready")).toEqual({ verb: "reopen" });
  expect(move({ status: "in_progress" }, "ready")).toEqual({ verb: "reopen" });
  expect(move({ status: "in_progress", claimedBy: "b1" }, "ready")).toMatchObject({
    whyNot: expect.stringContaining("b1 holds it"),
  });
  expect(move({}, "done")).toEqual({ verb: "close" });
  expect(move({ status: "in_review", mergeState: "queued" }, "done")).toMatchObject({
    whyNot: expect.stringContaining("landing closes it"),
  });
  expect(move({ status: "in_review", mergeState: "queued" }, "ready")).toHaveProperty("whyNot");
  for (const to of ["working", "review", "queued"] as const) expect(move({}, to)).toHaveProperty("whyNot");
  expect(move({}, "ready")).toEqual({ whyNot: "t1 is there already" });
});
