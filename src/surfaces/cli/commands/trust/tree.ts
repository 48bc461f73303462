import type { Argument, Command } from "../../command.ts";

const names: Argument = {
  name: "name",
  summary: "A filter, hook:<name>, or git:attributes",
  required: true,
  variadic: true,
};

/** `ov trust`: the programs that the repository itself names. */
export const trustCommand: Command = {
  name: "trust",
  summary: "Say which filters, merge hooks and attributes of this repository count",
  details:
    "Agents can write the repository's configuration, so a filter that it defines, and a hook that it has, runs only after\nyou confirmed it. What you confirmed is pinned: one that changes later is refused until you confirm it again. Filters\nthat your own or the system's git configuration defines always run. In the same way .git/info/attributes, and core.autocrlf,\ncore.eol, core.symlinks, core.ignorecase and core.attributesFile of the repository, count only as you confirmed them, or as\nthey were when you ran ov init first: they change what gates see.",
  group: "Setup",
  commands: [
    {
      name: "list",
      summary: "List filters, hooks and attributes, and whether they count",
      run: async () => (await import("../trust.ts")).list,
    },
    {
      name: "add",
      summary: "Confirm filters, hooks or attributes as they are now",
      details: "A filter that is defined nowhere is confirmed as absent: files are then used as they are stored.",
      arguments: [names],
      examples: [
        { line: "ov trust add lfs", does: "lets the filter lfs of this repository run" },
        { line: "ov trust add hook:commit-msg", does: "lets this hook veto landings" },
      ],
      run: async () => (await import("../trust.ts")).add,
    },
    {
      name: "remove",
      summary: "Take a confirmation back",
      arguments: [names],
      run: async () => (await import("../trust.ts")).remove,
    },
  ],
};
