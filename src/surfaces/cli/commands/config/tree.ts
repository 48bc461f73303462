import type { Argument, Command } from "../../command.ts";

const key: Argument = { name: "key", summary: "Dotted name of the key", required: true, complete: "configKeys" };

/** `ov config`: the settings of the project and of this machine. */
export const configCommand: Command = {
  name: "config",
  summary: "Read, change, check and explain settings",
  group: "Setup",
  commands: [
    {
      name: "get",
      summary: "Print the value of a key",
      arguments: [key],
      run: async () => (await import("../config.ts")).get,
    },
    {
      name: "set",
      summary: "Change a key in the project's configuration",
      details: "The value is checked first; one that does not fit changes nothing. Comments and order stay.",
      arguments: [
        key,
        { name: "value", summary: "What to set it to; lists may be comma separated or JSON", required: true },
      ],
      flags: [{ name: "local", summary: "For this machine alone, in config.local.yaml" }],
      examples: [
        { line: "ov config set agents.maxConcurrent 4", does: "limits how many turns run at once" },
        { line: "ov config set agents.maxConcurrent 4 --local", does: "runs fewer agents at once on this machine" },
      ],
      run: async () => (await import("../config.ts")).set,
    },
    {
      name: "list",
      summary: "List keys with value and origin",
      arguments: [{ name: "section", summary: "Only keys below this one", complete: "configKeys" }],
      run: async () => (await import("../config.ts")).list,
    },
    {
      name: "validate",
      summary: "Check all settings and report everything that is wrong",
      run: async () => (await import("../config.ts")).validate,
    },
    {
      name: "explain",
      summary: "Say what a key means, takes and is",
      arguments: [key],
      examples: [{ line: "ov config explain merge.mode", does: "documents one key" }],
      run: async () => (await import("../config.ts")).explain,
    },
  ],
};
