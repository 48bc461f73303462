import type { Command } from "../../command.ts";

export const stopCommand: Command = {
  name: "stop",
  summary: "Stop an agent and everything that runs for it",
  details:
    "Its worktree, branch and conversation are kept, unless its worktree is to go too. What it had queued is not started any more; its parent is told.\nStopping an agent that has ended changes nothing.",
  group: "Work",
  arguments: [{ name: "agent", summary: "Name of the agent", complete: "agents" }],
  flags: [
    { name: "all", summary: "Every agent that lives, instead of one" },
    { name: "tree", summary: "Also everybody below it, from the bottom up" },
    {
      name: "force",
      summary: "Kill its processes at once; with --clean-worktree also take unmerged work, saved first",
    },
    { name: "clean-worktree", summary: "Also take its worktree away, if nothing is lost with it" },
  ],
  examples: [
    { line: "ov stop builder-T1", does: "ends one agent" },
    { line: "ov stop --all", does: "ends everybody" },
    { line: "ov stop lead-1 --tree", does: "ends a lead and all it started" },
    { line: "ov stop builder-T1 --clean-worktree", does: "ends it and removes its worktree once its work has landed" },
  ],
  worksWithBrokenConfig: true,
  run: async () => (await import("../stop.ts")).stop,
};
