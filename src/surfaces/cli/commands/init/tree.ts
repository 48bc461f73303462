import type { Command, Flag } from "../../command.ts";

const gone = "init sets up nothing but Overstory itself; leave the flag out";

/** Flags of earlier versions, so that scripts written for them still run. */
const former: readonly Flag[] = [
  { name: "tools", value: "a,b", type: "list", summary: "Tools to set up as well", hidden: true, deprecated: gone },
  ...["skip-mulch", "skip-seeds", "skip-canopy", "skip-onboard"].map((name) => ({
    name,
    summary: "Leave out a tool",
    hidden: true,
    deprecated: gone,
  })),
];

/** `ov init`: from a repository to a project. */
export const initCommand: Command = {
  name: "init",
  summary: "Set up this repository, or complete what is missing",
  details:
    "Detects the project's name, branch, coding agent and quality gates, and proposes a command that installs dependencies before gates (merge.setup). What is there already is changed only when you agree, so it can be run again at any time. Where nobody can be asked, --yes takes the setup command; gates that cannot run here are only named, with the command that removes them.",
  group: "Setup",
  flags: [
    { name: "name", value: "name", summary: "Name of the project (default: that of the repository)" },
    { name: "reset", summary: "Replace the configuration by a fresh one, keeping a copy of the old" },
    { name: "no-commit", summary: "Leave the new files uncommitted" },
    { name: "no-instructions", summary: "Leave the instruction file of your coding agent alone" },
    { name: "new-database", summary: "Begin with an empty database although the one of this project is gone" },
    {
      name: "trust",
      value: "a,b",
      type: "list",
      summary: "Confirm these filters and hooks of the repository without a question (see ov trust)",
    },
    { name: "force", summary: "Do not warn when the project is set up already" },
    ...former,
  ],
  examples: [
    { line: "ov init", does: "sets up the repository you are in" },
    { line: "ov init --reset", does: "starts over with a fresh configuration" },
  ],
  run: async () => (await import("../init.ts")).init,
};
