import type { Command } from "../../command.ts";

export const runUntilIdleCommand: Command = {
  name: "run-until-idle",
  summary: "Run turns in the foreground until nothing is left",
  details:
    "For places where nothing may run in the background, such as a CI job. Where an engine runs already, waits for it.",
  group: "Engine",
  flags: [
    { name: "timeout", value: "s", type: "integer", min: 1, summary: "Give up after so many seconds (exit 124)" },
  ],
  examples: [{ line: "ov run-until-idle --timeout 3600", does: "works for an hour at most" }],
  run: async () => (await import("../engine.ts")).runUntilIdle,
};
