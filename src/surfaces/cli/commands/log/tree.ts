import { loggedEvents } from "../../../../domain/hook/hook.ts";
import type { Command } from "../../command.ts";

export const logCommand: Command = {
  name: "log",
  summary: "Record what a hook saw",
  details:
    "For settings that an earlier version wrote; ov hooks install replaces them. It never forbids anything: what it cannot " +
    "understand is a failure that lets the tool run.",
  group: "Watch",
  forPrograms: true,
  inHooks: true,
  arguments: [{ name: "event", summary: "What happened", required: true, choices: Object.keys(loggedEvents) }],
  flags: [
    {
      name: "agent",
      value: "name",
      summary: "The agent it happened to; agents speak for themselves",
      complete: "agents",
    },
    { name: "tool-name", value: "tool", summary: "The tool, for tool events" },
    { name: "stdin", summary: "Read what happened from standard input, as a hook gets it" },
    { name: "transcript", value: "path", summary: "File of the conversation, at the end of a session" },
  ],
  run: async () => (await import("../hook.ts")).log,
};
