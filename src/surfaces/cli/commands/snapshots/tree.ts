import type { Argument, Command } from "../../command.ts";

const snapshot: Argument = {
  name: "snapshot",
  summary: "Its name, as the list shows it, or an agent for its last one",
  required: true,
  complete: "snapshots",
};

/** `ov snapshots`: work that is kept though its worktree may be gone. */
export const snapshotsCommand: Command = {
  name: "snapshots",
  summary: "List what is kept of agents' work, look into it, get it back",
  details:
    "A snapshot holds commits and uncommitted files of a worktree, as an ordinary git ref below refs/overstory/. It is\ntaken when a turn ends with uncommitted work and before a worktree is removed. `ov recover` brings the newest one back\nwith its agent; `restore` writes it to a directory or a branch and starts nobody.",
  group: "Work",
  commands: [
    {
      name: "list",
      summary: "List snapshots and rescued work, newest first",
      flags: [{ name: "agent", value: "name", summary: "Only those of this agent", complete: "agents" }],
      run: async () => (await import("../snapshots.ts")).list,
    },
    {
      name: "show",
      summary: "Show which files a snapshot holds",
      arguments: [snapshot],
      run: async () => (await import("../snapshots.ts")).show,
    },
    {
      name: "restore",
      summary: "Write the files of a snapshot to a new directory, or make a branch of it",
      arguments: [snapshot],
      flags: [
        { name: "to", value: "dir", summary: "The directory (default: restored-<agent>-... here)", complete: "files" },
        { name: "branch", value: "name", summary: "Make this branch of it" },
      ],
      examples: [
        { line: "ov snapshots restore b1", does: "writes the last snapshot of b1 to a new directory" },
        { line: "ov snapshots restore snap/b1/1/2 --branch b1-again", does: "makes a branch that holds it" },
      ],
      run: async () => (await import("../snapshots.ts")).restore,
    },
  ],
};
