import type { Command } from "../../command.ts";

export const recoverCommand: Command = {
  name: "recover",
  summary: "Go on where an ended agent stopped",
  details:
    "Same worktree, branch and conversation, as the next generation of its name, with the mail that never reached it.",
  group: "Work",
  arguments: [{ name: "agent", summary: "Name of the agent, or id of its task", required: true, complete: "agents" }],
  flags: [{ name: "fresh", summary: "In a new worktree and conversation; the old work is kept aside" }],
  examples: [
    { line: "ov recover b1", does: "b1 goes on with what its dead process left" },
    { line: "ov recover b1 --fresh", does: "b1 begins again; what it had stays on its old branch" },
  ],
  run: async () => (await import("../agents.ts")).recover,
};
