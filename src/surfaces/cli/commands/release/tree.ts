import type { Command } from "../../command.ts";

export const releaseCommand: Command = {
  name: "release",
  summary: "Let an ended agent go: its branch stays, its worktree is kept as a snapshot and removed",
  group: "Work",
  arguments: [{ name: "agent", summary: "Name of the agent", required: true, complete: "agents" }],
  run: async () => (await import("../agents.ts")).release,
};
