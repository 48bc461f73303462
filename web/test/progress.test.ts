import { expect, test } from "bun:test";
import { progressOf } from "../src/api/progress.ts";

test("the progress of a run counts tasks where the board shows them, whatever their branches wait for", () => {
  const task = (column: string, mergeState: string) => ({ column, mergeState }) as never;
  expect(
    progressOf([
      // A branch that was begun has the state pending, long before it is in the queue.
      task("working", "pending"),
      task("working", "failed"),
      task("review", "pending"),
      task("queued", "queued"),
      task("ready", "none"),
      task("waiting", "none"),
      task("done", "merged"),
      task("done", "none"),
      task("done", "abandoned"),
    ]),
  ).toEqual({ total: 8, landed: 2, queued: 1, working: 3, ready: 1 });
});
