import { agentStates } from "../../../../domain/agent/agent.ts";
import { capabilities } from "../../../../domain/agent/capability.ts";
import type { Command } from "../../command.ts";

/** `ov agents`: who is there. */
export const agentsCommand: Command = {
  name: "agents",
  summary: "Find agents",
  group: "Watch",
  commands: [
    {
      name: "discover",
      summary: "List agents by what they can do, their state or their parent",
      flags: [
        { name: "capability", value: "kind", choices: capabilities, summary: "Only this kind" },
        { name: "state", value: "state", choices: agentStates, summary: "Only in this state" },
        { name: "parent", value: "agent", summary: "Only children of this agent", complete: "agents" },
        { name: "all", summary: "Ended agents too" },
      ],
      examples: [{ line: "ov agents discover --capability builder", does: "who builds right now" }],
      run: async () => (await import("../agents.ts")).discover,
    },
  ],
};
