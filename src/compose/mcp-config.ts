import { selfCommand } from "./self.ts";

/** What agents' programs call the server; it becomes a part of the tools' names. */
const serverName = "overstory";

/**
 * What tells an agent's program how to start `ov mcp`. It goes onto the command line as it is: a file could be changed by
 * another agent, whose server would then run with the token of whoever starts it.
 */
export function mcpConfig(): string {
  const [command, ...words] = selfCommand();
  // Otherwise Claude Code tells its model only the tools' names, and each must be looked up before it can be called.
  const always = { alwaysLoad: true };
  const server = { type: "stdio", command, args: [...words, "mcp"], ...always };
  return JSON.stringify({ mcpServers: { [serverName]: server } });
}
