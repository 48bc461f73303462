import type { Command } from "../../command.ts";

/** Shorter would only repeat itself, and costs a look at every agent. */
const shortestIntervalMs = 1000;

export const watchCommand: Command = {
  name: "watch",
  summary: "Follow the health of the agents",
  details:
    "Makes sure an engine runs, whose watchdog looks after the agents, and prints a line whenever an agent's health " +
    "changes, until Ctrl-C. Looking changes nothing.",
  group: "Watch",
  flags: [
    {
      name: "interval",
      value: "ms",
      type: "integer",
      min: shortestIntervalMs,
      summary: "Time between looks (default: watchdog.tier0IntervalMs)",
    },
    { name: "background", summary: "Only make sure that an engine runs, and return" },
    { name: "kill-others", summary: "Accepted for older scripts: a project has one engine, so there are no others" },
  ],
  examples: [
    { line: "ov watch", does: "who is working, waiting or stalled, as it changes" },
    { line: "ov watch --background --json", does: "the engine's pid, for a script" },
  ],
  run: async () => (await import("../watch.ts")).watch,
};
