import type { Command } from "./command.ts";

/**
 * The part of the command line that these words can reach. What hooks and agents call often gets a tree of its own:
 * describing all other commands would take longer than running it.
 */
export async function treeFor(argv: readonly string[]): Promise<Command> {
  const [first = ""] = argv;
  const command = Object.hasOwn(oftenTyped, first) ? await oftenTyped[first]?.() : undefined;
  if (command === undefined) return (await import("./tree.ts")).tree;
  return { name: "ov", summary: "", commands: [command] };
}

const oftenTyped: Readonly<Record<string, () => Promise<Command>>> = {
  mail: async () => (await import("./tree/mail-commands.ts")).mailCommand,
  log: async () => (await import("./tree/hook-commands.ts")).logCommand,
  hook: async () => (await import("./tree/hook-commands.ts")).hookCommand,
  mcp: async () => (await import("./tree/hook-commands.ts")).mcpCommand,
  status: async () => (await import("./tree/watch-commands.ts")).statusCommand,
  merge: async () => (await import("./tree/merge-commands.ts")).mergeCommand,
  task: async () => (await import("./tree/task-commands.ts")).taskCommand,
  sling: async () => (await import("./tree/agent-commands.ts")).slingCommand,
  done: async () => (await import("./tree/agent-commands.ts")).doneCommand,
};
