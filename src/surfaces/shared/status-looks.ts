import type { StatusTone } from "../../domain/agent/status.ts";
import type { MergeStatus } from "../../domain/merge/entry.ts";
import type { Paint } from "./paint.ts";

type Hue = Exclude<keyof Paint, "bold">;

/** One sign and colour per tone of an agent's status, the same in every list and on the dashboard. */
export const toneLooks: Readonly<Record<StatusTone, readonly [icon: string, hue: Hue]>> = {
  active: [">", "green"],
  waiting: ["~", "cyan"],
  good: ["✓", "cyan"],
  ended: ["-", "dim"],
  trouble: ["!", "red"],
};

/** One colour per status of a merge, likewise. */
export const mergeHues: Readonly<Record<MergeStatus, Hue>> = {
  pending: "yellow",
  merging: "blue",
  gating: "blue",
  merged: "green",
  conflict: "red",
  failed: "red",
  blocked: "yellow",
  cancelled: "dim",
  superseded: "dim",
  reverted: "magenta",
};
