import { boolean, choice, integer, milliseconds, optionalText, text, texts } from "./key.ts";

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

  "sandbox.mode": choice(["off", "guard", "os"], {
    doc: "What keeps agents from doing harm. guard: each use of a tool is judged before it is made. off: nothing does, and the operator's commands say so. os: the system confines agents and gates as well (Linux with bubblewrap); SECURITY.md says what each mode closes.",
    default: "guard",
  }),
  "sandbox.required": boolean({
    doc: "With sandbox.mode os: refuse to start agents where the system cannot confine them. Otherwise they are guarded only, with a warning.",
    default: false,
  }),
  "sandbox.readable": texts({
    doc: "Paths that confined agents and gates may read although they are hidden, such as ~/.npmrc. ~ is your home.",
    default: [],
  }),
  "sandbox.writable": texts({
    doc: "Paths outside of their worktree that confined agents and gates may write, such as ~/.cargo/registry. What one agent writes there, another one may run.",
    default: [],
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
  "serve.port": integer({
    min: 1,
    max: 65_535,
    doc: "The port at which ov serve shows the web page. Where it is taken, the next free one is used.",
    default: 7321,
  }),
  "serve.host": text({
    doc: "The address at which ov serve listens. Every other one than 127.0.0.1 lets other machines try to log in.",
    default: "127.0.0.1",
  }),
  "serve.allowedHosts": texts({
    doc: "Further names by which browsers may call the web page, each with a port (localhost:9000) or for any port. Requests with any other name are refused.",
    default: [],
  }),
  "turn.maxSameFailures": integer({
    doc: "A turn is ended when the same call of a tool fails in the same way this often, with nothing that works in between; 0 sets no limit.",
    default: 5,
  }),
  "turn.maxDenials": integer({
    doc: "A turn is ended when this many calls of tools in a row are denied; 0 sets no limit.",
    default: 10,
  }),
  "turn.stallTimeoutMs": milliseconds({
    doc: "A turn that shows no sign of life for this long is ended. While a tool runs, turn.toolTimeoutMs counts.",
    default: 600_000,
    min: 100,
  }),
  "turn.toolTimeoutMs": milliseconds({
    doc: "A turn in which a tool runs is ended after this long without a sign of life: tests that print nothing are no silence. It is never shorter than turn.stallTimeoutMs.",
    default: 3_600_000,
    min: 100,
  }),
};

/** Which coding-agent program runs. */
export const runtimeKeys = {
  "runtime.default": text({
    doc:
      "Runtime of agents for which nothing else is said: `claude`, `codex`, `gemini`, `copilot`, `opencode`, `pi`, or " +
      "`scripted`, which follows a written scenario and calls no model (docs/scripted-agent.md). A file of the project " +
      "can describe more (docs/guides/runtime-file.md).",
    default: "claude",
  }),
  "runtime.capabilities.*": optionalText({ doc: "Runtime of the agents of one capability." }),
};

/** The watchdog: how it looks after the agents, and how often. */
export const watchdogKeys = {
  "watchdog.tier0Enabled": boolean({ doc: "Whether the mechanical health check runs.", default: true }),
  "watchdog.tier0IntervalMs": milliseconds({ doc: "Time between health checks.", default: 30_000 }),
  "watchdog.tier2Enabled": boolean({ doc: "Whether a monitor agent watches the fleet.", default: false }),
  "watchdog.staleThresholdMs": milliseconds({
    doc: "Without activity for this long an agent is stalled.",
    default: 300_000,
    min: 1,
  }),
  "watchdog.zombieThresholdMs": milliseconds({
    doc: "Without activity for this long an agent is given up.",
    default: 600_000,
    min: 1,
  }),
  "watchdog.nudgeIntervalMs": milliseconds({
    doc: "Time between the steps of the escalation ladder.",
    default: 60_000,
    min: 1,
  }),
  "watchdog.maxEscalationLevel": integer({
    doc: "Step of the ladder at which an agent is ended.",
    default: 3,
    min: 1,
    max: 5,
  }),
  "watchdog.notifyParentOnDeath": boolean({ doc: "Whether a parent is told that its child died.", default: true }),
};
