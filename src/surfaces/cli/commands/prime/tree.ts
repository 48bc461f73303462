import type { Command } from "../../command.ts";

/** `ov prime`: for the start of a session, and for after its memory was shortened. */
export const primeCommand: Command = {
  name: "prime",
  summary: "Print what you need to know to go on here",
  details: "Tells a person where the project stands, and an agent who it is, what it works on and what it waits for.",
  group: "Watch",
  inHooks: true,
  flags: [
    { name: "agent", value: "name", summary: "Brief this agent (default: whoever calls)", complete: "agents" },
    { name: "compact", summary: "The facts alone, without limits and next commands" },
  ],
  examples: [{ line: "ov prime", does: "where the project stands" }],
  run: async () => (await import("../prime.ts")).prime,
};
