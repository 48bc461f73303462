import { eventLevels } from "../../../domain/event/event.ts";
import type { Command, Flag } from "../command.ts";
import { momentForms } from "../moments.ts";

const since: Flag = { name: "since", value: "moment", summary: `From this moment on: ${momentForms}` };
const until: Flag = { name: "until", value: "moment", summary: "Up to this moment; a day means all of it" };
const before: Flag = {
  name: "before",
  value: "number",
  type: "integer",
  min: 1,
  summary: "Only events before this one: the page before, by the nextCursor of an answer",
};
const agents: Flag = {
  name: "agent",
  value: "name",
  type: "texts",
  summary: "Only this agent",
  complete: "agents",
};
const run: Flag = { name: "run", value: "run-id", summary: "Only this run", complete: "runs" };
const limit = (what: string): Flag => ({
  name: "limit",
  short: "n",
  value: "count",
  type: "integer",
  min: 1,
  summary: what,
});

/** Whose events, and of which time. */
const searchFlags = (count: string): readonly Flag[] => [
  { ...agents, summary: "Only these agents" },
  run,
  since,
  until,
  limit(count),
  before,
];

export const logsCommand: Command = {
  name: "logs",
  summary: "Read what an agent did and said, as text",
  details:
    "Over all its turns; without a name, what all agents did. Control bytes are shown, never sent to the terminal. With " +
    "--level every event is shown that is at least so serious.",
  group: "Watch",
  arguments: [{ name: "agent", summary: "Name of the agent (default: all)", complete: "agents" }],
  flags: [
    { name: "follow", short: "f", summary: "Show new lines as they come, until the agent has ended or Ctrl-C" },
    { name: "agent", value: "name", summary: "The same as naming the agent", complete: "agents", hidden: true },
    { name: "turn", value: "turn", summary: "Only this turn: its id, or 1 for the first" },
    { name: "level", value: "level", choices: eventLevels, summary: "This level and worse" },
    since,
    until,
    limit("How many of the newest lines to show (default: 200)"),
    before,
    { name: "lines", value: "count", type: "integer", min: 1, summary: "The same as --limit", hidden: true },
  ],
  examples: [
    { line: "ov logs -f b1", does: "what b1 does, as it does it" },
    { line: "ov logs --level warn --since 1h", does: "what went wrong in the last hour" },
  ],
  run: async () => (await import("../commands/logs.ts")).logs,
};

export const feedCommand: Command = {
  name: "feed",
  summary: "Show the newest events of all agents, and follow them",
  group: "Watch",
  flags: [
    { name: "follow", short: "f", summary: "Go on with what happens, until Ctrl-C; with --json one document per line" },
    { ...agents, summary: "Only these agents" },
    run,
    { ...since, summary: "From this moment on (default: 5m ago)" },
    limit("How many of the newest events to show (default: 50)"),
    before,
    {
      name: "interval",
      value: "ms",
      type: "integer",
      min: 200,
      summary: "With --follow: show news at most so often (default: 1000)",
    },
  ],
  examples: [{ line: "ov feed -f --agent b1", does: "the events of b1, as they happen" }],
  run: async () => (await import("../commands/events.ts")).feed,
};

export const traceCommand: Command = {
  name: "trace",
  summary: "Show what happened to an agent, for a task or in a run, in order",
  group: "Watch",
  arguments: [
    { name: "target", summary: "Name of an agent, or id of a task or run", required: true, complete: "agents" },
  ],
  flags: [
    since,
    until,
    limit("How many of the newest events (default: 100), or turns (default: 20)"),
    before,
    { name: "turns", summary: "A tree of turns: tool calls with durations, mail, how each turn ended" },
    {
      name: "export",
      value: "file",
      summary: "Write events and turns to a file: JSON, or a line for each with .ndjson (default: the newest 100000)",
      complete: "files",
    },
  ],
  examples: [
    { line: "ov trace b1 --turns", does: "what b1 did, turn by turn" },
    { line: "ov trace run-1 --export run-1.ndjson", does: "keeps a run for later" },
  ],
  run: async () => (await import("../commands/events.ts")).trace,
};

export const errorsCommand: Command = {
  name: "errors",
  summary: "Show what went wrong: failed turns, tools and merges, denials, warnings",
  group: "Watch",
  flags: [
    { name: "group", summary: "By cause: how often, when, an example and the next command" },
    ...searchFlags("How many of the newest to look at (default: 100, with --group 500)"),
  ],
  examples: [{ line: "ov errors --group --since 1d", does: "the causes of today's trouble" }],
  run: async () => (await import("../commands/events.ts")).errors,
};

export const replayCommand: Command = {
  name: "replay",
  summary: "Walk through events one by one, by keys; without a terminal, list them",
  details:
    "Keys: space or n next, b back, / search, N search again, g first, G last, q quit. Without --run, --agent, --since or " +
    "--from: the current run, else the last day.",
  group: "Watch",
  flags: [
    { name: "from", value: "number", type: "integer", min: 1, summary: "Begin with this event, as lists number them" },
    ...searchFlags("How many events at once (default: 200)"),
  ],
  examples: [{ line: "ov replay --from 812", does: "what happened from event 812 on" }],
  run: async () => (await import("../commands/replay.ts")).replay,
};

export const whyCommand: Command = {
  name: "why",
  summary: "Say where lines of a file come from: commit, agent, task, mail, turn, evidence",
  details:
    "Reads the history of your checkout; a file that is not there is looked for on the landing branch of the current run. " +
    "Lines that a person committed, and lines that are not committed, are named as such.",
  group: "Watch",
  arguments: [
    { name: "file", summary: "A file, file:12 for one line, or file:12-20", required: true, complete: "files" },
  ],
  flags: [
    { name: "branch", value: "name", summary: "The file as it is on this branch", complete: "branches" },
    limit("How many parts of the file to explain (default: 20)"),
  ],
  examples: [
    { line: "ov why src/parser.ts:42", does: "which agent wrote line 42, for which task, and what proved it" },
  ],
  run: async () => (await import("../commands/why.ts")).why,
};

export const inspectCommand: Command = {
  name: "inspect",
  summary: "Show everything about one agent: state, checkpoint, turns, waits, files, tokens, tools",
  group: "Watch",
  arguments: [{ name: "agent", summary: "Name of the agent", required: true, complete: "agents" }],
  flags: [
    {
      name: "follow",
      short: "f",
      summary: "Show it again when it changes, until the agent has ended or Ctrl-C; with --json one document per line",
    },
    {
      name: "interval",
      value: "ms",
      type: "integer",
      min: 500,
      summary: "With --follow: show news at most so often (default: 3000)",
    },
    limit("How many of the newest tool calls (default: 20)"),
    { name: "no-tmux", summary: "Accepted for older scripts: no agent runs in tmux" },
  ],
  examples: [{ line: "ov inspect b1", does: "who b1 is, where it stands and what it did last" }],
  run: async () => (await import("../commands/inspect.ts")).inspect,
};

/** `ov notify`: how you hear of what waits for you. */
export const notifyCommand: Command = {
  name: "notify",
  summary: "Try how you are notified of what waits for you",
  details:
    "The engine tells you once of each decision, approval, question, agent in trouble, branch to hand over and blocked merge,\nby the channels of notify.command, notify.webhook, notify.desktop and notify.bell. See docs/notifications.md.",
  group: "Watch",
  commands: [
    {
      name: "test",
      summary: "Send a test by every channel that is configured",
      details: "Exits with 5 when a channel failed.",
      examples: [{ line: "ov notify test", does: "Tries the settings, and says what went wrong" }],
      run: async () => (await import("../commands/notify.ts")).testNotify,
    },
  ],
};
