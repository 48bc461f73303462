import type { Command } from "../../command.ts";

export const recoverCommand: Command = {
  name: "recover",
  summary: "Go on where an ended agent stopped",
  details:
    "Same worktree, branch and conversation, as the next generation of its name, with the mail that never reached it.",
  group: "Work",
  arguments: [{ name: "agent", summary: "Name of the agent, or id of its task", required: true, complete: "agents" }],
  examples: [{ line: "ov recover b1", does: "b1 goes on with what its dead process left" }],
  run: async () => (await import("./recover.ts")).recover,
};
