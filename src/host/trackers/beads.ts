import type { Tracker } from "../../ports/tracker.ts";
import { type AnswerForm, tasksIn } from "./answer.ts";
import { runProgram, type TrackerPlace } from "./program.ts";

export const beadsProgram = "bd";

/** Beads, asked through `bd`. */
export const beads = (place: TrackerPlace): Tracker => ({
  ready: async () => {
    const answer = await runProgram({ tracker: "beads", program: beadsProgram, args: ["ready", "--json"] }, place);
    return answer.ok ? tasksIn(answer.value, beadsReady) : answer;
  },
});

/** A bare array and nothing else. */
export const beadsReady: AnswerForm = {
  command: "bd ready --json",
  startsAt: () => [0],
  list: (document) => (Array.isArray(document) ? document : undefined),
  typeKey: "issue_type",
};
