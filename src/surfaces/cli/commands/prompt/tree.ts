import { capabilities } from "../../../../domain/agent/capability.ts";
import type { Argument, Command } from "../../command.ts";

const role: Argument = {
  name: "role",
  summary: "Capability of the agents that are told it",
  choices: capabilities.filter((known) => known !== "supervisor"),
};

/** `ov prompt`: what agents are told. The tree comes as a function because it holds this command, which checks against it. */
export const promptCommand = (tree: () => Command): Command => ({
  name: "prompt",
  summary: "Show, compare and check what agents are told",
  details:
    "A project may replace the text of a role in .overstory/agent-defs/<role>.md, or add to it in <role>.local.md.\n" +
    "Both are yours: no command of ours ever writes them.",
  group: "Setup",
  commands: [
    {
      name: "show",
      summary: "Print the prompt of a role, or what one agent was last told",
      arguments: [{ ...role, required: false }],
      flags: [
        { name: "agent", value: "name", summary: "The whole instructions of this agent", complete: "agents" },
        { name: "kept", value: "role@hash", summary: "A prompt that agents were once given, by its version" },
        { name: "text", summary: "The text that ships for the role, as the beginning of one of your own" },
        { name: "manifest", summary: "All roles as JSON, in the form of agent-manifest.json" },
      ],
      examples: [
        { line: "ov prompt show builder", does: "what every builder is told" },
        { line: "ov prompt show --agent builder-T1", does: "what this one was told, its task included" },
        { line: "ov prompt show lead --text > .overstory/agent-defs/lead.md", does: "begins a text of your own" },
      ],
      run: async () => (await import("../prompt.ts")).show,
    },
    {
      name: "diff",
      summary: "Compare the project's own role texts with those that ship",
      arguments: [role],
      run: async () => (await import("../prompt.ts")).diff,
    },
    {
      name: "test",
      summary: "Check that prompts ask for nothing that the program refuses",
      details:
        "Every command in them must exist and be the role's own, every mail type allowed, every placeholder known,\nand the whole not too long. Exits with 5 when something is wrong.",
      arguments: [role],
      run: async () => (await import("../prompt.ts")).testPrompts(tree()),
    },
  ],
});
