import type { Command } from "../../command.ts";

/** `ov mcp`: started by agents' programs, which find it in the configuration they are given. */
export const mcpCommand: Command = {
  name: "mcp",
  summary: "Serve an agent's tools over standard input and output (MCP)",
  details:
    "Agents' programs start it by themselves. Which tools there are depends on the capability of the agent\nwhose token is in OVERSTORY_TOKEN; without one it is refused. Standard output carries the protocol only.",
  group: "Engine",
  forPrograms: true,
  run: async () => (await import("../engine.ts")).mcp,
};
