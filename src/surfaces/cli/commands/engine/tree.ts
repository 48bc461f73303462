import type { Command } from "../../command.ts";

/** `ov engine`: the process that does everything that lasts. It starts by itself; nobody needs these commands to work. */
export const engineCommand: Command = {
  name: "engine",
  summary: "See, start and stop the process that runs turns",
  details: "Any command that leaves work starts the engine, and it leaves when nothing is left.",
  group: "Engine",
  commands: [
    {
      name: "start",
      summary: "Make sure an engine is running",
      run: async () => (await import("../engine.ts")).start,
    },
    {
      name: "status",
      summary: "Show whether an engine is running, and what is left to do",
      worksWithBrokenConfig: true,
      run: async () => (await import("../engine.ts")).status,
    },
    {
      name: "stop",
      summary: "Ask the engine to leave, and wait until it did",
      details: "Turns that are running go on; the next command that leaves work starts an engine again.",
      worksWithBrokenConfig: true,
      run: async () => (await import("../engine.ts")).stop,
    },
    {
      name: "install",
      summary: "Write a user service that starts the engine with this machine",
      details: "Writes a systemd unit for this project and says how to switch it on; switches nothing on itself.",
      flags: [{ name: "print", summary: "Print the unit and write nothing" }],
      run: async () => (await import("../engine.ts")).install,
    },
  ],
};
