import type { Command } from "../../command.ts";

export const pauseCommand: Command = {
  name: "pause",
  summary: "Hold an agent back: its mail queues and starts nothing",
  details: "A turn that is running finishes. Go on with: ov resume <agent>",
  group: "Work",
  arguments: [{ name: "agent", summary: "Name of the agent", required: true, complete: "agents" }],
  flags: [{ name: "tree", summary: "Also everybody below it" }],
  worksWithBrokenConfig: true,
  run: async () => (await import("../agents.ts")).pause,
};
