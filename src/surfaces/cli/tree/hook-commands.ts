import { hookEvents, loggedEvents } from "../../../domain/hook/hook.ts";
import type { Command } from "../command.ts";

/** `ov hook`: what the entries of `ov hooks install` call, one process per event. */
export const hookCommand: Command = {
  name: "hook",
  summary: "Answer a hook of a coding agent: guard, record, hand over mail",
  details:
    "Reads the hook's JSON from standard input and answers in the form the coding agent expects. `pre-tool` exits 2 to " +
    "deny the use of a tool; `stop` hands over mail that should wake the reader. To be called by hooks only.",
  group: "Watch",
  forPrograms: true,
  arguments: [{ name: "event", summary: "What happened", required: true, choices: hookEvents }],
  flags: [
    {
      name: "rules",
      value: "file",
      complete: "files",
      summary: "Guard by the rules in this file, and do nothing else: for the turns of agents",
    },
    {
      name: "digest",
      value: "sha256",
      summary: "Deny everything unless the agent's rules are exactly these",
    },
    {
      name: "runtime",
      value: "name",
      choices: ["claude", "codex", "gemini", "copilot", "pi", "opencode"],
      summary: "Whose hook this is: programs name their tools differently (default: claude)",
    },
  ],
  run: async () => (await import("../commands/hook.ts")).hook,
};

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
  run: async () => (await import("../commands/hook.ts")).log,
};

/** `ov mcp`: started by agents' programs, which find it in the configuration they are given. */
export const mcpCommand: Command = {
  name: "mcp",
  summary: "Serve an agent's tools over standard input and output (MCP)",
  details:
    "Agents' programs start it by themselves. Which tools there are depends on the capability of the agent\nwhose token is in OVERSTORY_TOKEN; without one it is refused. Standard output carries the protocol only.",
  group: "Engine",
  forPrograms: true,
  run: async () => (await import("../commands/engine.ts")).mcp,
};
