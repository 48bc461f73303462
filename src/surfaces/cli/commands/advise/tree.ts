import type { Command } from "../../command.ts";

/** `ov advise`: whether several agents would be faster than one. */
export const adviseCommand: Command = {
  name: "advise",
  summary: "Say whether to work in parallel, and how far",
  details:
    "Judges the open tasks by what they wait for and by the files they name. Every task counts the same, so it says how the work is shaped, not how long it takes.",
  group: "Work",
  examples: [{ line: "ov advise", does: "how many builders the open tasks are good for" }],
  run: async () => (await import("../sling.ts")).advise,
};
