import type { Command } from "../../command.ts";

export const attachCommand: Command = {
  name: "attach",
  summary: "Take an agent over by hand: open its program here, in its worktree and on its conversation",
  details:
    "Waits for the turn that is running. While you are there nothing else starts for the agent; its mail waits. When " +
    "you leave, or the terminal closes, it goes on by itself. An agent that had submitted its work is reopened.",
  group: "Work",
  arguments: [{ name: "agent", summary: "Name of the agent", required: true, complete: "agents" }],
  flags: [
    { name: "interrupt", summary: "End the running turn instead of waiting; its input is given again afterwards" },
  ],
  examples: [{ line: "ov attach b1", does: "talk to b1 yourself" }],
  run: async () => (await import("../agents.ts")).attach,
};
