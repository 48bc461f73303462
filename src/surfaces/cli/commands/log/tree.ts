import type { Command } from "../../command.ts";
import { hookEvents } from "./hook-events.ts";

export const logCommand: Command = {
  name: "log",
  summary: "Record what a hook saw",
  group: "Watch",
  arguments: [{ name: "event", summary: "What happened", required: true, choices: Object.keys(hookEvents) }],
  flags: [
    {
      name: "agent",
      value: "name",
      summary: "The agent it happened to; agents speak for themselves",
      complete: "agents",
    },
    { name: "tool-name", value: "tool", summary: "The tool, for tool events" },
  ],
  run: async () => (await import("./log.ts")).log,
};
