import type { Command } from "../../command.ts";

const instead = "a supervisor is a lead now: ov sling <task> --capability lead, ov stop <agent>, ov status";

/** `ov supervisor`: the older name of a lead, kept for scripts. */
export const supervisorCommand: Command = {
  name: "supervisor",
  summary: "Start, stop and show leads under their older name",
  group: "Operate",
  deprecated: instead,
  commands: [
    {
      name: "start",
      summary: "Start a lead on a task",
      flags: [
        { name: "task", value: "id", required: true, summary: "Task to lead", complete: "tasks" },
        { name: "name", value: "name", required: true, summary: "Name of the agent" },
        { name: "parent", value: "agent", summary: "Parent agent (default: the caller)", complete: "agents" },
        { name: "depth", value: "n", type: "integer", min: 0, summary: "Expected depth; the parent decides it" },
      ],
      run: async () => (await import("../supervisor.ts")).start,
    },
    {
      name: "stop",
      summary: "Stop a lead",
      flags: [{ name: "name", value: "name", required: true, summary: "Name of the agent", complete: "agents" }],
      run: async () => (await import("../supervisor.ts")).stop,
    },
    {
      name: "status",
      summary: "Show one lead, or all of them",
      flags: [{ name: "name", value: "name", summary: "Name of the agent", complete: "agents" }],
      run: async () => (await import("../supervisor.ts")).status,
    },
  ],
};
