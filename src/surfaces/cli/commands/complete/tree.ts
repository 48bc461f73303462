import type { Command } from "../../command.ts";

/** Asked by completion scripts at a key press; never typed by people. */
export const completeCommand: Command = {
  name: "__complete",
  summary: "Values for a shell's completion",
  hidden: true,
  arguments: [
    { name: "source", summary: "What kind of value", required: true },
    { name: "prefix", summary: "What was typed so far" },
  ],
  run: async () => (await import("../complete.ts")).complete,
};
