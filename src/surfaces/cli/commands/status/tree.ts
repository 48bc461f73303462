import type { Command } from "../../command.ts";

export const statusCommand: Command = {
  name: "status",
  summary: "Show the agents of the current run and what they wait for",
  group: "Watch",
  flags: [
    { name: "all", summary: "All runs, ended agents included" },
    { name: "agent", value: "name", summary: "Whose unread mail to count (default: operator)", complete: "agents" },
  ],
  examples: [{ line: "ov status", does: "who is working, waiting or done" }],
  worksWithBrokenConfig: true,
  run: async () => (await import("../status.ts")).status,
};
