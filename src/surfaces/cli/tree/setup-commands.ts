import { capabilities } from "../../../domain/agent/capability.ts";
import type { Argument, Command, Flag } from "../command.ts";

const leaveOut = "init sets up nothing but Overstory itself; leave the flag out";

/** Flags of earlier versions, so that scripts written for them still run. */
const former: readonly Flag[] = [
  { name: "tools", value: "a,b", type: "list", summary: "Tools to set up as well", hidden: true, deprecated: leaveOut },
  ...["skip-mulch", "skip-seeds", "skip-canopy", "skip-onboard"].map((name) => ({
    name,
    summary: "Leave out a tool",
    hidden: true,
    deprecated: leaveOut,
  })),
];

/** `ov init`: from a repository to a project. */
export const initCommand: Command = {
  name: "init",
  summary: "Set up this repository, or complete what is missing",
  details:
    "Detects the project's name, branch, coding agent and quality gates, and proposes a command that installs dependencies before gates (merge.setup). What is there already is changed only when you agree, so it can be run again at any time. Where nobody can be asked, --yes takes the setup command; gates that cannot run here are only named, with the command that removes them.",
  group: "Setup",
  flags: [
    { name: "name", value: "name", summary: "Name of the project (default: that of the repository)" },
    { name: "reset", summary: "Replace the configuration by a fresh one, keeping a copy of the old" },
    { name: "no-commit", summary: "Leave the new files uncommitted" },
    { name: "no-instructions", summary: "Leave the instruction file of your coding agent alone" },
    {
      name: "new-database",
      summary: "Begin with an empty database where the one of this project is gone or damaged; a damaged one is kept",
    },
    {
      name: "trust",
      value: "a,b",
      type: "list",
      summary: "Confirm these filters and hooks of the repository without a question (see ov trust)",
    },
    { name: "force", summary: "Do not warn when the project is set up already" },
    ...former,
  ],
  examples: [
    { line: "ov init", does: "sets up the repository you are in" },
    { line: "ov init --reset", does: "starts over with a fresh configuration" },
  ],
  run: async () => (await import("../commands/project.ts")).init,
};

/** `ov import`: from a project of version 0.11 to one of ours. */
export const importCommand: Command = {
  name: "import",
  summary: "Take over a project of an earlier version, and tasks of beads or seeds",
  details:
    "Reads the five databases, groups.json and agents/ of version 0.11 in .overstory/, and the files in .seeds/ and .beads/. Agents come as ended ones with their branches, mail with what was read, open entries of the merge queue wait for your approval, and costs, runs, tasks and events are shown like our own. Files of the earlier version are only read. A repeated import takes what is new, and goes on where one was cut short.",
  group: "Setup",
  flags: [{ name: "dry-run", summary: "Show what would be taken over, and change nothing" }],
  examples: [
    { line: "ov import --dry-run", does: "counts what would be taken over" },
    { line: "ov import", does: "takes it over" },
  ],
  run: async () => (await import("../commands/import.ts")).importProject,
};

const role: Argument = {
  name: "role",
  summary: "Capability of the agents that are told it",
  choices: capabilities.filter((known) => known !== "supervisor"),
};

/** `ov prompt`: what agents are told. The tree comes as a function because it holds this command, which checks against it. */
export const promptCommand = (tree: () => Command): Command => ({
  name: "prompt",
  summary: "Show, compare and check the instructions of agents",
  details:
    "A project may replace the text of a role in .overstory/agent-defs/<role>.md, or add to it in <role>.local.md.\n" +
    "Both are yours: no command of ours ever writes them.",
  group: "Setup",
  commands: [
    {
      name: "show",
      summary: "Print the prompt of a role, or what one agent was last told",
      arguments: [{ ...role, required: false }],
      flags: [
        { name: "agent", value: "name", summary: "The whole instructions of this agent", complete: "agents" },
        { name: "kept", value: "role@hash", summary: "A prompt that agents were once given, by its version" },
        { name: "text", summary: "The text that ships for the role, as the beginning of one of your own" },
        { name: "manifest", summary: "All roles as JSON, in the form of agent-manifest.json" },
      ],
      examples: [
        { line: "ov prompt show builder", does: "what every builder is told" },
        { line: "ov prompt show --agent builder-T1", does: "what this one was told, its task included" },
        {
          line: "mkdir -p .overstory/agent-defs && ov prompt show lead --text > .overstory/agent-defs/lead.md",
          does: "begins a text of your own",
        },
      ],
      run: async () => (await import("../commands/prompt.ts")).show,
    },
    {
      name: "diff",
      summary: "Compare the project's own role texts with those that ship",
      arguments: [role],
      run: async () => (await import("../commands/prompt.ts")).diff,
    },
    {
      name: "test",
      summary: "Check that prompts ask for nothing that the program refuses",
      details:
        "Every command in them must exist and be the role's own, every mail type allowed, every placeholder known,\nand the whole not too long. Exits with 5 when something is wrong.",
      arguments: [role],
      run: async () => (await import("../commands/prompt.ts")).testPrompts(tree()),
    },
  ],
});

export const hooksCommand: Command = {
  name: "hooks",
  summary: "Connect your own coding session to the team",
  details:
    "Writes entries into .claude/settings.local.json that call `ov hook`: your session then starts with where the " +
    "project stands, gets the mail of your agents as it comes, and does not stop while mail waits that should wake " +
    "you. Your own settings keep every byte.",
  group: "Setup",
  commands: [
    {
      name: "install",
      summary: "Add our entries to the settings, beside your own",
      flags: [{ name: "force", summary: "Write our entries anew, also those that were changed by hand" }],
      examples: [{ line: "ov hooks install", does: "mail and state of the team in your next session" }],
      run: async () => (await import("../commands/project.ts")).installHooks,
    },
    {
      name: "uninstall",
      summary: "Take our entries out again, and nothing else",
      run: async () => (await import("../commands/project.ts")).uninstallHooks,
    },
    {
      name: "status",
      summary: "Say whether the entries are installed",
      run: async () => (await import("../commands/project.ts")).hookStatus,
    },
  ],
};

/** `ov update`: brings files of the project up to date that an older version of the program wrote. */
export const updateCommand: Command = {
  name: "update",
  summary: "Bring what the program wrote into this project up to date",
  details:
    "For after an upgrade: the readme, the ignore rules and the manifest in .overstory, our section in the " +
    "instruction file, and the entries of `ov hooks` where they are installed. Configuration, data, worktrees and " +
    "texts of your own in agent-defs are never touched, and what you changed by hand is kept and named.",
  group: "Setup",
  flags: [
    { name: "agents", summary: "Only look at the project's own role texts, and say which are behind" },
    { name: "manifest", summary: "Only agent-manifest.json" },
    { name: "hooks", summary: "Only the entries of ov hooks" },
    { name: "dry-run", summary: "Say what would be done, and write nothing" },
    { name: "force", summary: "Replace also what was changed by hand, keeping a copy; never texts of your own" },
  ],
  examples: [
    { line: "ov update --dry-run", does: "says what is behind" },
    { line: "ov update", does: "brings it up to date" },
  ],
  run: async () => (await import("../commands/project.ts")).update,
};

const key: Argument = { name: "key", summary: "Dotted name of the key", required: true, complete: "configKeys" };

/** `ov config`: the settings of the project and of this machine. */
export const configCommand: Command = {
  name: "config",
  summary: "Read, change, check and explain settings",
  group: "Setup",
  commands: [
    {
      name: "get",
      summary: "Print the value of a key",
      arguments: [key],
      run: async () => (await import("../commands/config.ts")).get,
    },
    {
      name: "set",
      summary: "Change a key in the project's configuration",
      details: "The value is checked first; one that does not fit changes nothing. Comments and order stay.",
      arguments: [
        key,
        { name: "value", summary: "What to set it to; lists may be comma separated or JSON", required: true },
      ],
      flags: [{ name: "local", summary: "For this machine alone, in config.local.yaml" }],
      examples: [
        { line: "ov config set agents.maxConcurrent 4", does: "limits how many turns run at once" },
        { line: "ov config set agents.maxConcurrent 4 --local", does: "runs fewer agents at once on this machine" },
      ],
      run: async () => (await import("../commands/config.ts")).set,
    },
    {
      name: "unset",
      summary: "Remove a key from the project's configuration, so that its default counts",
      details: "Comments and order stay. Says what counts now. A key that the file does not set is no mistake.",
      arguments: [key],
      flags: [{ name: "local", summary: "For this machine alone, from config.local.yaml" }],
      examples: [{ line: "ov config unset agents.maxConcurrent", does: "lets the default count again" }],
      run: async () => (await import("../commands/config.ts")).unset,
    },
    {
      name: "list",
      summary: "List keys with value and origin",
      arguments: [{ name: "section", summary: "Only keys below this one", complete: "configKeys" }],
      run: async () => (await import("../commands/config.ts")).list,
    },
    {
      name: "validate",
      summary: "Check all settings and report everything that is wrong",
      run: async () => (await import("../commands/config.ts")).validate,
    },
    {
      name: "explain",
      summary: "Say what a key means, which values it takes, and what it is set to",
      arguments: [key],
      examples: [{ line: "ov config explain merge.mode", does: "documents one key" }],
      run: async () => (await import("../commands/config.ts")).explain,
    },
  ],
};

const names: Argument = {
  name: "name",
  summary: "A filter, hook:<name>, or git:attributes",
  required: true,
  variadic: true,
};

/** `ov trust`: the programs that the repository itself names. */
export const trustCommand: Command = {
  name: "trust",
  summary: "Confirm the filters, merge hooks and attributes that this repository names",
  details:
    "Agents can write the repository's configuration, so a filter that it defines, and a hook that it has, runs only after\nyou confirmed it. What you confirmed is pinned: one that changes later is refused until you confirm it again. Filters\nthat your own or the system's git configuration defines always run. In the same way .git/info/attributes, and core.autocrlf,\ncore.eol, core.symlinks, core.ignorecase and core.attributesFile of the repository, count only as you confirmed them, or as\nthey were when you ran ov init first: they change what gates see.",
  group: "Setup",
  commands: [
    {
      name: "list",
      summary: "List filters, hooks and attributes, and whether they count",
      run: async () => (await import("../commands/trust.ts")).list,
    },
    {
      name: "add",
      summary: "Confirm filters, hooks or attributes as they are now",
      details: "A filter that is defined nowhere is confirmed as absent: files are then used as they are stored.",
      arguments: [names],
      examples: [
        { line: "ov trust add lfs", does: "lets the filter lfs of this repository run" },
        { line: "ov trust add hook:commit-msg", does: "lets this hook veto landings" },
      ],
      run: async () => (await import("../commands/trust.ts")).add,
    },
    {
      name: "remove",
      summary: "Take a confirmation back",
      arguments: [names],
      run: async () => (await import("../commands/trust.ts")).remove,
    },
  ],
};

/** `ov clean`: removes what agents leave behind. */
export const cleanCommand: Command = {
  name: "clean",
  summary: "Remove worktrees, branches, logs and mail of agents that have ended",
  details:
    "Shows what it will do, and refuses while agents are live; --dry-run shows it all the same. Before anything goes, the branches concerned and the\ndatabase are copied to backups/<time>/ of the state directory; ov clean --restore <time> brings them back. Uncommitted and\nunmerged work is saved under refs/overstory/rescue/. Agents and runs are archived, never deleted.\nA worktree that git cannot read stays and is named; the rest is cleaned all the same, and the exit code is 1.",
  group: "Setup",
  flags: [
    { name: "all", summary: "Everything below except --rescue; asks first, or needs --yes" },
    { name: "worktrees", summary: "Worktrees, their work saved first" },
    { name: "branches", summary: "Agents' branches that have landed; with --force all of them" },
    { name: "mail", summary: "All messages" },
    { name: "sessions", summary: "Release every agent that has ended" },
    { name: "metrics", summary: "What turns have used and cost" },
    { name: "events", summary: "Events: what ov feed, trace, errors, replay and logs show; --all leaves them" },
    { name: "logs", summary: "Logs of turns" },
    { name: "agents", summary: "Files kept for agents" },
    { name: "specs", summary: "Specifications of tasks" },
    { name: "trash", summary: "Ignored files of removed worktrees" },
    { name: "rescue", summary: "Work that was saved when its worktree was forcibly removed" },
    { name: "agent", value: "name", complete: "agents", summary: "Everything of one agent, nothing of others" },
    { name: "force", summary: "Also branches whose commits landed nowhere" },
    { name: "dry-run", summary: "Show what would be done, and do nothing" },
    {
      name: "restore",
      value: "time",
      summary:
        "Bring back what the clean of that time removed; newest: that of the last one. A damaged database is kept aside, and the copy takes its place",
    },
  ],
  examples: [
    { line: "ov clean --all --dry-run", does: "Shows all that could go" },
    { line: "ov clean --worktrees --branches", does: "Removes worktrees, and branches that have landed" },
    { line: "ov clean --agent builder-1", does: "Removes what one agent left behind" },
  ],
  run: async () => (await import("../commands/clean.ts")).clean,
};

/** `ov guard`: what agents may do, asked beforehand and afterwards. */
export const guardCommand: Command = {
  name: "guard",
  summary: "Ask what the guard of agents' tools allows, and why it denied something",
  details: "The guard judges every tool that an agent uses, before it is used. Nothing is run by these commands.",
  group: "Watch",
  commands: [
    {
      name: "test",
      summary: "Say whether an agent of a role may run a command",
      details:
        "Works outside a project, too. Exits with 5 when the command is denied. With --stdin it reads one JSON object per " +
        'line ({"role","command","cwd","worktree","task"}, all but the command may be left out) and answers each with one ' +
        'line, in order: {"decision","ruleId","reason"}. A line that cannot be read is answered with a denial.',
      worksWithBrokenConfig: true,
      arguments: [{ name: "command", summary: "The command, behind --", variadic: true }],
      flags: [
        { name: "role", value: "role", choices: capabilities, summary: "Who would run it (default: builder)" },
        { name: "worktree", value: "path", complete: "files", summary: "Its worktree (default: this directory)" },
        { name: "cwd", value: "path", complete: "files", summary: "Where it would be typed (default: the worktree)" },
        { name: "task", value: "task", complete: "tasks", summary: "The task of the agent" },
        { name: "stdin", summary: "Read many commands from standard input, one JSON object per line" },
      ],
      examples: [
        { line: "ov guard test -- 'git push'", does: "says that a builder may not, and what to do instead" },
        { line: "ov guard test --role scout --json -- 'git log | head'", does: "the same for programs" },
      ],
      run: async () => (await import("../commands/guard.ts")).testCommand,
    },
    {
      name: "explain",
      summary: "Explain a denial: the rule, the part of the command, what to do instead",
      details: "The number of the event is in `ov logs <agent> --json` (seq).",
      worksWithBrokenConfig: true,
      arguments: [{ name: "event", summary: "The number of the event", required: true }],
      examples: [{ line: "ov guard explain 412", does: "why event 412 was denied" }],
      run: async () => (await import("../commands/guard.ts")).explain,
    },
  ],
};
