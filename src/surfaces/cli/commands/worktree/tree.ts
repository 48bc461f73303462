import type { Command } from "../../command.ts";

/** `ov worktree`: the directories agents work in. */
export const worktreeCommand: Command = {
  name: "worktree",
  summary: "List the agents' worktrees, remove those that are done with",
  group: "Agents",
  commands: [
    {
      name: "list",
      summary: "List worktrees with their agents",
      run: async () => (await import("../worktree.ts")).list,
    },
    {
      name: "clean",
      summary: "Remove worktrees with which nothing is lost",
      details:
        "A worktree stays while its agent is live, while it holds uncommitted work, or while its commits landed nowhere;\neach is listed with the reason. With --force such work is first saved under refs/overstory/rescue/ and the\ncommand that brings it back is printed. A live agent's worktree always stays,\nand so does one whose merge waits for your decision; ov release <agent> gives that one up.\nSo does one that git cannot read: it is named with what to type, the others are cleaned, and the exit code is 1.",
      flags: [
        { name: "completed", summary: "Look at worktrees of ended agents only (the default)" },
        { name: "all", summary: "Also list worktrees of live agents, which are kept" },
        { name: "force", summary: "Remove uncommitted and unmerged work too, after saving it" },
      ],
      examples: [
        { line: "ov worktree clean", does: "Removes what has landed" },
        { line: "ov worktree clean --force", does: "Removes all but live agents' worktrees, saving their work first" },
      ],
      run: async () => (await import("../worktree.ts")).clean,
    },
  ],
};
