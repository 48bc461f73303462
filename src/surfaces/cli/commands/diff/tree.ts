import type { Command } from "../../command.ts";

export const diffCommand: Command = {
  name: "diff",
  summary: "Show what an agent has changed since it started, committed or not",
  details: "Piped, the patch is exact; at a terminal control bytes are made visible.",
  group: "Watch",
  arguments: [{ name: "agent", summary: "Name of the agent", required: true, complete: "agents" }],
  flags: [{ name: "stat", summary: "Only the files, with how many lines came and went" }],
  examples: [{ line: "ov diff b1 --stat", does: "which files b1 has touched" }],
  run: async () => (await import("../agents.ts")).diff,
};
