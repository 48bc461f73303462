import type { Command } from "./command.ts";

/**
 * The part of the command line that these words can reach. What hooks call on every step of an agent gets a tree of its
 * own: describing all other commands would take longer than running it.
 */
export async function treeFor(argv: readonly string[]): Promise<Command> {
  const [first] = argv;
  if (first === "mail") return only((await import("./tree/mail-commands.ts")).mailCommand);
  if (first === "log") return only((await import("./tree/hook-commands.ts")).logCommand);
  if (first === "hook") return only((await import("./tree/hook-commands.ts")).hookCommand);
  if (first === "mcp") return only((await import("./tree/hook-commands.ts")).mcpCommand);
  return (await import("./tree.ts")).tree;
}

const only = (command: Command): Command => ({ name: "ov", summary: "", commands: [command] });
