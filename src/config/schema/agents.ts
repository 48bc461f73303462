import { boolean, integer, milliseconds, text } from "./key.ts";

/** How many agents there may be, and how the engine runs them. */
export const agentKeys = {
  "agents.baseDir": text({
    doc: "Directory of the role texts, relative to the project.",
    default: ".overstory/agent-defs",
  }),
  "agents.maxConcurrent": integer({ doc: "Turns that may run at once; further ones wait.", default: 25, min: 1 }),
  "agents.staggerDelayMs": milliseconds({ doc: "Time between the first turns of new agents, at least.", default: 0 }),
  "agents.maxDepth": integer({ doc: "How deep agents may spawn agents below the coordinator.", default: 2 }),
  "agents.maxSessionsPerRun": integer({ doc: "Agents one run may have in all; 0 sets no limit.", default: 0 }),
  "agents.maxAgentsPerLead": integer({ doc: "Live children one lead may have; 0 sets no limit.", default: 5 }),
  "agents.maxRevivals": integer({ doc: "How often a submitted agent may be reopened.", default: 5 }),
  "agents.continuePrompts": integer({
    doc: "Reminders an agent gets when it ends a turn without finishing or waiting for anything.",
    default: 2,
    max: 20,
  }),

  "engine.idleExitMs": milliseconds({ doc: "The engine leaves after this long without work.", default: 60_000 }),
  "engine.maxTurns": integer({
    doc: "Turns this machine runs at once over all runs; 0 leaves it to agents.maxConcurrent.",
    default: 0,
  }),
  "engine.mcpHttp": boolean({
    doc: "Whether the engine also serves agents' tools over HTTP, on this machine only; the address is in run/mcp.json of the state directory (.git/ov-state).",
    default: false,
  }),
  "turn.stallTimeoutMs": milliseconds({
    doc: "A turn that shows no sign of life for this long is ended.",
    default: 600_000,
    min: 100,
  }),
};
