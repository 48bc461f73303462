import type { Command } from "../../command.ts";

/** `ov clean`: removes what agents leave behind. */
export const cleanCommand: Command = {
  name: "clean",
  summary: "Remove worktrees, branches, logs and mail of agents that have ended",
  details:
    "Shows what it will do, and refuses while agents are live; --dry-run shows it all the same. Before anything goes, the branches concerned and the\ndatabase are copied to backups/<time>/ of the state directory; ov clean --restore <time> brings them back. Uncommitted and\nunmerged work is saved under refs/overstory/rescue/. Agents and runs are archived, never deleted.\nA worktree that git cannot read stays and is named; the rest is cleaned all the same, and the exit code is 1.",
  group: "Setup",
  flags: [
    { name: "all", summary: "Everything below except --rescue; asks first, or needs --yes" },
    { name: "worktrees", summary: "Worktrees, their work saved first" },
    { name: "branches", summary: "Agents' branches that have landed; with --force all of them" },
    { name: "mail", summary: "All messages" },
    { name: "sessions", summary: "Release every agent that has ended" },
    { name: "metrics", summary: "What turns have used" },
    { name: "logs", summary: "Logs of turns" },
    { name: "agents", summary: "Files kept for agents" },
    { name: "specs", summary: "Specifications of tasks" },
    { name: "trash", summary: "Ignored files of removed worktrees" },
    { name: "rescue", summary: "Work that was saved when its worktree was forcibly removed" },
    { name: "agent", value: "name", complete: "agents", summary: "Everything of one agent, nothing of others" },
    { name: "force", summary: "Also branches whose commits landed nowhere" },
    { name: "dry-run", summary: "Show what would be done, and do nothing" },
    { name: "restore", value: "time", summary: "Bring back what the clean of that time removed" },
  ],
  examples: [
    { line: "ov clean --all --dry-run", does: "Shows all that could go" },
    { line: "ov clean --worktrees --branches", does: "Removes worktrees, and branches that have landed" },
    { line: "ov clean --agent builder-1", does: "Removes what one agent left behind" },
  ],
  run: async () => (await import("../clean.ts")).clean,
};
