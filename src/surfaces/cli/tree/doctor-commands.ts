import { doctorCategories } from "../../../domain/consistency/check.ts";
import type { Command } from "../command.ts";

/** `ov doctor`: finds what does not fit together, and mends it. */
export const doctorCommand: Command = {
  name: "doctor",
  summary: "Find what does not fit together in this project, and mend it",
  details:
    "Compares rows, worktrees, branches, processes, leases, refs and files, and looks at git, settings, programs and\nruntimes. Changes nothing without --fix. Each finding says what is wrong, what it affects and what its fix does. A fix\nnever deletes what an agent wrote: files go to the trash of the state directory, commits get a ref first. Afterwards the\nchecks run again. What the engine mends by itself when it starts is no failure, and is marked so. A live engine is asked to\nmend what it owns; a fix that it must not be disturbed by is refused, with the command to type.\nExits with 0 when no check fails, 5 when one does, 6 when a fix was refused because an engine runs.",
  group: "Setup",
  worksWithBrokenConfig: true,
  arguments: [{ name: "finding", summary: "With --fix: only these, by id or by rule (default: all)", variadic: true }],
  flags: [
    { name: "category", value: "name", choices: doctorCategories, summary: "Look at one category only" },
    { name: "fix", summary: "Mend what can be mended; asks first at a terminal, unless --yes" },
    { name: "dry-run", summary: "With --fix: show what would be done, and do nothing" },
  ],
  examples: [
    { line: "ov doctor", does: "Shows what is wrong; --verbose also what is right" },
    { line: "ov doctor --fix --dry-run", does: "Shows what a fix would do" },
    { line: "ov doctor --fix agent-without-worktree:builder-1", does: "Mends this one finding" },
  ],
  run: async () => (await import("../commands/doctor.ts")).doctor,
};

export const upgradeCommand: Command = {
  name: "upgrade",
  summary: "Show the versions of this program, its engine and its database",
  details:
    "Says whether the engine that runs is of another version, and which migrations the database would get. Installs nothing\nand asks no registry: ov is brought up to date the way it was installed.",
  group: "Setup",
  worksWithBrokenConfig: true,
  flags: [{ name: "check", summary: "Exit with 5 when the engine or the database is of another version" }],
  examples: [{ line: "ov upgrade --check", does: "For scripts: is everything of this version?" }],
  run: async () => (await import("../commands/doctor.ts")).upgrade,
};

export const ecosystemCommand: Command = {
  name: "ecosystem",
  summary: "Show which companion tools are installed, and their versions",
  details: "None of them is needed. Asks no registry.",
  group: "Setup",
  worksWithBrokenConfig: true,
  run: async () => (await import("../commands/doctor.ts")).ecosystem,
};
