import type { Command } from "../../command.ts";

export const nudgeCommand: Command = {
  name: "nudge",
  summary: "Send an agent an urgent word that wakes it",
  details:
    "Returns at once; the agent reads it in its next turn, which starts now unless one is running. " +
    "Typed by you it also starts an agent at once that waits for its next try after a failure, but not one whose provider named a time.",
  group: "Work",
  arguments: [
    { name: "agent", summary: "Name of the agent", required: true, complete: "agents" },
    { name: "message", summary: "What to tell it (default: to check its mail)", variadic: true },
  ],
  flags: [
    { name: "from", value: "name", summary: "Speak in this name (operator only)", complete: "agents" },
    { name: "force", summary: "Also right after another nudge" },
  ],
  examples: [{ line: "ov nudge builder-T1 the tests are red", does: "tells one agent" }],
  run: async () => (await import("../agents.ts")).nudge,
};
