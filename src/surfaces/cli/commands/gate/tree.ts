import type { Command } from "../../command.ts";

/** `ov gate`: what was checked before something landed. */
export const gateCommand: Command = {
  name: "gate",
  summary: "See what gates found, and the evidence for what landed",
  group: "Merging",
  commands: [
    {
      name: "list",
      summary: "List what gates found lately, newest first",
      flags: [
        { name: "gate", value: "name", summary: "Only this gate" },
        { name: "limit", value: "n", type: "integer", min: 1, summary: "How many (default 20)" },
      ],
      run: async () => (await import("../gate.ts")).list,
    },
    {
      name: "log",
      summary: "Print the whole output of one run of a gate",
      arguments: [{ name: "result-id", summary: "Id of the result (ov gate list)", required: true }],
      run: async () => (await import("../gate.ts")).log,
    },
    {
      name: "show",
      summary: "Show the evidence for a landing or a completion",
      details:
        "Base, head and tree, the commands with exit codes and durations, the ignored directories that were kept, and the digest of each log: enough to run it again elsewhere and compare.",
      arguments: [
        {
          name: "of",
          summary: "Receipt, number or branch of a merge, or agent",
          required: true,
          complete: "merges",
        },
      ],
      run: async () => (await import("../gate.ts")).show,
    },
    {
      name: "run",
      summary: "Run the gates on a branch, a commit or an agent's work",
      details:
        "Checks out exactly that commit in a place of its own and runs every gate there; what passed on the same tree " +
        "before counts. Leaves a receipt. Exits 5 when a required gate does not pass.",
      arguments: [
        {
          name: "ref",
          summary: "Branch, commit or agent (default: HEAD, or an agent's own branch)",
          complete: "branches",
        },
      ],
      run: async () => (await import("../gate.ts")).run,
    },
    {
      name: "verify",
      summary: "Run what a receipt rests on again, and compare",
      details: "Believes no earlier result. Answers reproduced, or says which gate ended otherwise and exits 5.",
      arguments: [{ name: "receipt", summary: "Id of the receipt", required: true }],
      run: async () => (await import("../gate.ts")).verify,
    },
  ],
};
