import type { Command } from "../../command.ts";

export const resumeCommand: Command = {
  name: "resume",
  summary: "Let a paused agent go on with what queued up",
  group: "Work",
  arguments: [{ name: "agent", summary: "Name of the agent", required: true, complete: "agents" }],
  flags: [{ name: "tree", summary: "Also everybody below it" }],
  run: async () => (await import("../agents.ts")).resume,
};
