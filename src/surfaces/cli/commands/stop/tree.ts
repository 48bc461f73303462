import type { Command } from "../../command.ts";

export const stopCommand: Command = {
  name: "stop",
  summary: "Stop an agent and everything that runs for it",
  details:
    "Its worktree, branch and conversation are kept. What it had queued is not started any more; its parent is told.\nStopping an agent that has ended changes nothing.",
  group: "Work",
  arguments: [{ name: "agent", summary: "Name of the agent", required: true, complete: "agents" }],
  flags: [
    { name: "tree", summary: "Also everybody below it, from the bottom up" },
    { name: "force", summary: "Kill its processes at once, without time to leave" },
    { name: "clean-worktree", summary: "Also take its worktree away", deprecated: "use ov worktree clean" },
  ],
  examples: [
    { line: "ov stop builder-T1", does: "ends one agent" },
    { line: "ov stop lead-1 --tree", does: "ends a lead and all it started" },
  ],
  run: async () => (await import("./stop.ts")).stop,
};
