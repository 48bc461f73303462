import type { Command } from "../../command.ts";

/** `ov run`: everything done for one objective. */
export const runCommand: Command = {
  name: "run",
  summary: "Show the current run, list past ones, give one another target, end one",
  group: "Runs",
  run: async () => (await import("../run.ts")).current,
  commands: [
    {
      name: "list",
      summary: "List runs, newest first",
      flags: [{ name: "last", value: "n", type: "integer", min: 1, summary: "How many (default 10)" }],
      run: async () => (await import("../run.ts")).list,
    },
    {
      name: "show",
      summary: "Show a run and its agents",
      arguments: [
        { name: "run-id", summary: "Id of the run (default: the current one, else the newest)", complete: "runs" },
      ],
      run: async () => (await import("../run.ts")).show,
    },
    {
      name: "retarget",
      summary: "Let a run work for another branch",
      details:
        "For a target that was renamed, or chosen wrongly. What has landed stays where it is and is promoted to the new target.",
      arguments: [{ name: "branch", summary: "Branch that is to get the work", required: true, complete: "branches" }],
      flags: [
        {
          name: "run",
          value: "run-id",
          summary: "Which run (default: the current one, else the newest)",
          complete: "runs",
        },
      ],
      examples: [{ line: "ov run retarget trunk", does: "promotes to trunk from now on" }],
      run: async () => (await import("../run.ts")).retarget,
    },
    {
      name: "complete",
      summary: "End the current run, once its agents are released",
      flags: [{ name: "force", summary: "Also while agents are not released" }],
      run: async () => (await import("../run.ts")).complete,
    },
  ],
};
