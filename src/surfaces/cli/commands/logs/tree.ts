import type { Command } from "../../command.ts";

export const logsCommand: Command = {
  name: "logs",
  summary: "Read what an agent did and said, as text",
  details: "Over all its turns. Control bytes are shown, never sent to the terminal.",
  group: "Watch",
  arguments: [{ name: "agent", summary: "Name of the agent", required: true, complete: "agents" }],
  flags: [
    { name: "follow", short: "f", summary: "Go on as it works, until it has ended or Ctrl-C" },
    { name: "turn", value: "turn", summary: "Only this turn: its id, or 1 for the first" },
    { name: "lines", short: "n", value: "count", type: "integer", min: 1, summary: "The newest lines (default: 200)" },
  ],
  examples: [{ line: "ov logs -f b1", does: "what b1 does, as it does it" }],
  run: async () => (await import("../logs.ts")).logs,
};
