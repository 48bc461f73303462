import type { Task } from "./types.ts";

export interface Progress {
  readonly total: number;
  readonly landed: number;
  readonly queued: number;
  readonly working: number;
  readonly ready: number;
}

/** Counted by the places of the board, so that the Overview says what the Tasks page shows. */
export function progressOf(tasks: readonly Pick<Task, "column" | "mergeState">[]): Progress {
  const counted = tasks.filter(({ mergeState }) => mergeState !== "abandoned");
  const inColumn = (...columns: readonly Task["column"][]): number =>
    counted.filter(({ column }) => columns.includes(column)).length;
  return {
    total: counted.length,
    landed: inColumn("done"),
    queued: inColumn("queued"),
    working: inColumn("working", "review"),
    ready: inColumn("ready"),
  };
}
