import type { Command } from "../../command.ts";

/** `ov update`: after the program has changed, what it wrote into the project follows. */
export const updateCommand: Command = {
  name: "update",
  summary: "Bring what the program wrote into this project up to date",
  details:
    "For after an upgrade: the readme, the ignore rules and the manifest in .overstory, our section in the " +
    "instruction file, and the entries of `ov hooks` where they are installed. Configuration, data, worktrees and " +
    "texts of your own in agent-defs are never touched, and what you changed by hand is kept and named.",
  group: "Setup",
  flags: [
    { name: "agents", summary: "Only look at the project's own role texts, and say which are behind" },
    { name: "manifest", summary: "Only agent-manifest.json" },
    { name: "hooks", summary: "Only the entries of ov hooks" },
    { name: "dry-run", summary: "Say what would be done, and write nothing" },
    { name: "force", summary: "Replace also what was changed by hand, keeping a copy; never texts of your own" },
  ],
  examples: [
    { line: "ov update --dry-run", does: "says what is behind" },
    { line: "ov update", does: "brings it up to date" },
  ],
  run: async () => (await import("../update.ts")).update,
};
