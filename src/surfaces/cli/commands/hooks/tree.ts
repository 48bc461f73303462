import type { Command } from "../../command.ts";

export const hooksCommand: Command = {
  name: "hooks",
  summary: "Connect your own coding session to the team",
  details:
    "Writes entries into .claude/settings.local.json that call `ov hook`: your session then starts with where the " +
    "project stands, gets the mail of your agents as it comes, and does not stop while mail waits that should wake " +
    "you. Your own settings keep every byte.",
  group: "Setup",
  commands: [
    {
      name: "install",
      summary: "Add our entries to the settings, beside your own",
      flags: [{ name: "force", summary: "Write our entries anew, also those that were changed by hand" }],
      examples: [{ line: "ov hooks install", does: "mail and state of the team in your next session" }],
      run: async () => (await import("../hooks.ts")).install,
    },
    {
      name: "uninstall",
      summary: "Take our entries out again, and nothing else",
      run: async () => (await import("../hooks.ts")).uninstall,
    },
    {
      name: "status",
      summary: "Say whether they are installed",
      run: async () => (await import("../hooks.ts")).status,
    },
  ],
};
