import type { Tracker } from "../../ports/tracker.ts";
import { type AnswerForm, isObject, tasksIn } from "./answer.ts";
import { runProgram, type TrackerPlace } from "./program.ts";

export const seedsProgram = "sd";

/** Seeds, asked through `sd`. */
export const seeds = (place: TrackerPlace): Tracker => ({
  ready: async () => {
    const answer = await runProgram({ tracker: "seeds", program: seedsProgram, args: ["ready", "--json"] }, place);
    return answer.ok ? tasksIn(answer.value, seedsReady) : answer;
  },
});

/** `{"success":true,"command":"ready","issues":[...]}`, perhaps with other words before it. */
export const seedsReady: AnswerForm = {
  command: "sd ready --json",
  startsAt: brackets,
  list: (document) => (isObject(document) && Array.isArray(document.issues) ? document.issues : undefined),
  typeKey: "type",
};

/** Noise such as `[warn]` begins like a document too; what comes after so many of those is none. */
const mostBrackets = 20;

/** The first bracket of all, and those with which a line begins. */
function brackets(out: string): readonly number[] {
  const first = out.search(/[{[]/);
  const lines = out.matchAll(/^[{[]/gm).take(mostBrackets);
  return [...new Set([...(first < 0 ? [] : [first]), ...lines.map(({ index }) => index)])];
}
