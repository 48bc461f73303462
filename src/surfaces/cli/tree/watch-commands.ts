import { agentStates } from "../../../domain/agent/agent.ts";
import { capabilities } from "../../../domain/agent/capability.ts";
import { budgetScopes, budgetUnits } from "../../../domain/budget/budget.ts";
import { costGroupings } from "../../../domain/cost/spending.ts";
import type { Argument, Command, Flag } from "../command.ts";

const ofRun: Flag = {
  name: "run",
  value: "run-id",
  summary: "Which run (default: the current one, else the newest)",
  complete: "runs",
};
const criterion: Argument = { name: "number", summary: "Number of the criterion", required: true };

/** `ov run`: everything done for one objective. */
export const runCommand: Command = {
  name: "run",
  summary: "Show the current run, list past ones, change what one is for, end one",
  group: "Runs",
  run: async () => (await import("../commands/run.ts")).current,
  commands: [
    {
      name: "list",
      summary: "List runs, newest first",
      flags: [{ name: "last", value: "n", type: "integer", min: 1, summary: "How many (default 10)" }],
      run: async () => (await import("../commands/run.ts")).list,
    },
    {
      name: "show",
      summary: "Show a run, its agents and when they worked",
      details:
        "The bars show the time of the run: a block where a turn of the agent ran, a dot where the agent waited.",
      arguments: [
        { name: "run-id", summary: "Id of the run (default: the current one, else the newest)", complete: "runs" },
      ],
      run: async () => (await import("../commands/run.ts")).show,
    },
    {
      name: "change",
      summary: "Change the objective of a run: its coordinator is told once and plans anew; for the operator",
      details:
        "The words are put behind the objective, which stays. Where the objective is split they become a criterion, so that the run cannot end without them. Words that only take something back (no xml after all) become none. The coordinator may then put other criteria into new words, once each, and drop tasks.",
      arguments: [{ name: "words", summary: "The change, in your words", required: true }],
      flags: [
        {
          name: "waive",
          value: "1,3",
          type: "list",
          summary: "Criteria that the change makes needless; the words are the reason",
        },
        ofRun,
      ],
      examples: [
        {
          line: 'ov run change "export JSON instead of CSV" --waive 2',
          does: "adds it to the objective and waives criterion 2",
        },
      ],
      run: async () => (await import("../commands/run.ts")).change,
    },
    {
      name: "retarget",
      summary: "Let a run work for another branch",
      details:
        "For a target that was renamed, or chosen wrongly. What has landed stays where it is and is promoted to the new target.",
      arguments: [{ name: "branch", summary: "Branch that is to get the work", required: true, complete: "branches" }],
      flags: [
        {
          name: "run",
          value: "run-id",
          summary: "Which run (default: the current one, else the newest)",
          complete: "runs",
        },
      ],
      examples: [{ line: "ov run retarget trunk", does: "promotes to trunk from now on" }],
      run: async () => (await import("../commands/run.ts")).retarget,
    },
    {
      name: "complete",
      summary: "End the current run, once nothing of it is open",
      details:
        "It is refused while a task of the run is not closed, an agent is not released, a branch is on its way to land, or a criterion is neither proved nor waived. The refusal names each of them with the command that clears it.",
      flags: [
        { name: "waive", value: "1,3", type: "list", summary: "Criteria that need not be met; for the operator" },
        { name: "reason", value: "text", summary: "Why they are waived" },
        { name: "force", summary: "End it with open ends, which are then listed; for the operator" },
        { name: "run", value: "run-id", summary: "Which run (default: the current one)", complete: "runs" },
      ],
      examples: [
        {
          line: 'ov run complete --waive 3 --reason "comes with the next release"',
          does: "ends it without criterion 3",
        },
      ],
      run: async () => (await import("../commands/run.ts")).complete,
    },
    {
      name: "criteria",
      summary: "Show the checklist of a run: its objective in numbered criteria",
      details:
        "A run with an objective ends only when each criterion is proved or waived. The coordinator adds the criteria, and names for each a file, a test or a commit that shows it; the evidence must be there on the landed tree. A commit from before the run proves nothing; a file or a test that is as it was before is shown as unchanged. When the coordinator has not split the objective, the objective itself is criterion 1, and stays beside what the operator adds. Criteria are never deleted.",
      flags: [ofRun],
      run: async () => (await import("../commands/criteria.ts")).list,
      commands: [
        {
          name: "list",
          summary: "The same",
          flags: [ofRun],
          run: async () => (await import("../commands/criteria.ts")).list,
        },
        {
          name: "add",
          summary: "Add criteria, one for each argument",
          arguments: [{ name: "text", summary: "What has to be true in the end", required: true, variadic: true }],
          flags: [ofRun],
          examples: [
            {
              line: 'ov run criteria add "dates are parsed" "the changelog names it"',
              does: "adds two numbered criteria",
            },
          ],
          run: async () => (await import("../commands/criteria.ts")).add,
        },
        {
          name: "prove",
          summary: "Name what shows a criterion; it must be there on the landed tree",
          arguments: [criterion],
          flags: [
            { name: "file", value: "path", summary: "A file of the landed tree" },
            { name: "test", value: "path:name", summary: "A test file, and a name that stands in it" },
            { name: "commit", value: "id", summary: "A commit that has landed" },
            ofRun,
          ],
          examples: [
            { line: 'ov run criteria prove 1 --test "test/dates.test.ts:leap years"', does: "proves criterion 1" },
          ],
          run: async () => (await import("../commands/criteria.ts")).prove,
        },
        {
          name: "amend",
          summary: "Put a criterion into other words; the older words are kept",
          details:
            "The evidence of the criterion is forgotten, for it showed the older words. A coordinator may do this once for each criterion after each change of the objective (ov run change).",
          arguments: [criterion, { name: "text", summary: "What has to be true in the end", required: true }],
          flags: [ofRun],
          run: async () => (await import("../commands/criteria.ts")).amend,
        },
        {
          name: "waive",
          summary: "Decide that a criterion need not be met; for the operator",
          arguments: [criterion],
          flags: [{ name: "reason", value: "text", required: true, summary: "Why" }, ofRun],
          run: async () => (await import("../commands/criteria.ts")).waive,
        },
        {
          name: "unwaive",
          summary: "Take a waiver back: the criterion has to be met again; for the operator",
          arguments: [criterion],
          flags: [ofRun],
          run: async () => (await import("../commands/criteria.ts")).unwaive,
        },
      ],
    },
  ],
};

/** `ov budget`: limits, the spent amounts, and the agents that wait for more. */
export const budgetCommand: Command = {
  name: "budget",
  summary: "Show limits and spending, and raise a limit",
  group: "Runs",
  run: async () => (await import("../commands/budget.ts")).show,
  commands: [
    {
      name: "show",
      summary: "Show every ledger: limit, spent, set aside for running turns, agents that wait",
      run: async () => (await import("../commands/budget.ts")).show,
    },
    {
      name: "raise",
      summary: "Add to a limit; agents that wait for it go on",
      details: "Limits are set for all with ov config set budgets.<scope>.<unit>; this adds to one subject's.",
      arguments: [
        { name: "scope", summary: "What the limit is for", required: true, choices: budgetScopes },
        {
          name: "subject",
          summary: "Name of the agent, id of the task or run, or a day (2026-01-31, today)",
          required: true,
        },
        { name: "unit", summary: "What is limited", required: true, choices: budgetUnits },
        { name: "amount", summary: "How much more; dollars and minutes may have decimals", required: true },
      ],
      examples: [
        { line: "ov budget raise agent builder-1 usd 2.50", does: "lets builder-1 spend 2.50 dollars more" },
        { line: "ov budget raise day today tokens 1000000", does: "gives today a million tokens more" },
      ],
      run: async () => (await import("../commands/budget.ts")).raise,
    },
  ],
};

/** `ov prices`: what models cost, by the list that prices turns. */
export const pricesCommand: Command = {
  name: "prices",
  summary: "Show what models cost",
  group: "Runs",
  commands: [
    {
      name: "show",
      summary: "Show the prices of all models or of one, with their version and age",
      details:
        "A turn is priced by this list when its runtime does not say what it cost. A model is found by its whole name, else " +
        "by the longest beginning of it. Prices of your own in .overstory/prices.json count before the built-in ones.",
      arguments: [{ name: "model", summary: "Name of a model" }],
      examples: [{ line: "ov prices show gpt-5-codex", does: "shows what a turn with this model is priced by" }],
      run: async () => (await import("../commands/prices.ts")).show,
    },
  ],
};

/** Faster than a person reads. */
const shortestStatusMs = 500;

export const statusCommand: Command = {
  name: "status",
  summary: "Show the agents of the current run and what they wait for",
  group: "Watch",
  flags: [
    { name: "all", summary: "All runs, ended agents included" },
    { name: "agent", value: "name", summary: "Whose unread mail to count (default: operator)", complete: "agents" },
    { name: "watch", summary: "Show it again whenever something happens, until Ctrl-C" },
    {
      name: "interval",
      value: "ms",
      type: "integer",
      min: shortestStatusMs,
      summary: "With --watch: the shortest time between two looks (default: 3000)",
    },
    { name: "check", summary: "Exit with 5 when something waits for you" },
  ],
  details:
    "What waits for you comes first, then the run, then the agents as a tree: coordinators, leads, workers. With --verbose each agent is shown with its runtime, branch, worktree, logs and last mail. Looking changes nothing.",
  examples: [
    { line: "ov status", does: "who is working, waiting or done" },
    { line: "ov status --check --quiet || ov inbox", does: "in a script: reads the inbox when there is need" },
  ],
  worksWithBrokenConfig: true,
  run: async () => (await import("../commands/status.ts")).status,
};

/** Shorter would only repeat itself, and costs a look at every agent. */
const shortestIntervalMs = 1000;

export const watchCommand: Command = {
  name: "watch",
  summary: "Follow the health of the agents",
  details:
    "Makes sure an engine runs, whose watchdog looks after the agents, and prints a line whenever an agent's health " +
    "changes, until Ctrl-C. Looking changes nothing.",
  group: "Watch",
  flags: [
    {
      name: "interval",
      value: "ms",
      type: "integer",
      min: shortestIntervalMs,
      summary: "Time between looks (default: watchdog.tier0IntervalMs)",
    },
    { name: "background", summary: "Only make sure that an engine runs, and return" },
    { name: "kill-others", summary: "Accepted for older scripts: a project has one engine, so there are no others" },
  ],
  examples: [
    { line: "ov watch", does: "who is working, waiting or stalled, as it changes" },
    { line: "ov watch --background --json", does: "the engine's pid, for a script" },
  ],
  run: async () => (await import("../commands/watch.ts")).watch,
};

const lastCount: Flag = {
  name: "last",
  value: "n",
  type: "integer",
  min: 1,
  summary: "The newest so many (default: 20)",
};

/** `ov costs`: what turns used and cost. */
export const costsCommand: Command = {
  name: "costs",
  summary: "Show what agents used and cost, by agent, task, day and more",
  details:
    "The cost of a turn is what its program says, else its tokens by the prices of ov prices, else n/a: an unknown cost is in no sum. Days are yours, by the time zone of your shell. A session of your own counts when ov hooks install has its hooks in place.",
  group: "Watch",
  flags: [
    { name: "by", value: "what", choices: costGroupings, summary: "Sum up by this" },
    { name: "by-capability", summary: "The same as --by capability" },
    { name: "agent", value: "name", summary: "Only this agent", complete: "agents" },
    { name: "run", value: "run-id", summary: "Only this run", complete: "runs" },
    { name: "task", value: "task-id", summary: "Only this task", complete: "tasks" },
    { name: "bead", value: "task-id", summary: "The same as --task, for older scripts", complete: "tasks" },
    { name: "capability", value: "kind", choices: capabilities, summary: "Only this kind of agent" },
    { name: "runtime", value: "name", summary: "Only agents of this runtime" },
    lastCount,
    { name: "live", summary: "The agents that are live, with the turns they are in" },
    { name: "self", summary: "Your own newest session in this directory, from the file its program keeps" },
    { name: "csv", summary: "Print comma separated values" },
  ],
  examples: [
    { line: "ov costs --by day", does: "what each day cost" },
    { line: "ov costs --by model --run run-1", does: "which models a run used" },
  ],
  run: async () => (await import("../commands/costs.ts")).costs,
};

export const metricsCommand: Command = {
  name: "metrics",
  summary: "Show how the newest agents fared: durations, gates, merges",
  group: "Watch",
  flags: [lastCount],
  examples: [{ line: "ov metrics --last 50", does: "the fifty agents that worked last" }],
  run: async () => (await import("../commands/metrics.ts")).metrics,
};

/** Faster than a person reads. */
const fastestFrameMs = 100;

export const dashboardCommand: Command = {
  name: "dashboard",
  summary: "Watch and steer the fleet on a full screen",
  details:
    "Views by number: overview, agents, merges, mail, costs, logs. It follows what happens, costs nothing while nothing does, and asks before it acts. Press ? for the keys and q to quit. Without a terminal it prints one frame.",
  group: "Watch",
  flags: [
    { name: "all", summary: "Agents of all runs, ended ones included" },
    { name: "run", value: "run-id", summary: "Agents of this run (default: the current one)", complete: "runs" },
    {
      name: "interval",
      value: "ms",
      type: "integer",
      min: fastestFrameMs,
      summary: "Shortest time between two looks (default: 500)",
    },
  ],
  examples: [{ line: "ov dashboard", does: "shows what needs you first, and keeps it up to date" }],
  run: async () => (await import("../commands/dashboard.ts")).dashboard,
};

/** `ov agents`: the agents, found by name or capability. */
export const agentsCommand: Command = {
  name: "agents",
  summary: "Find agents",
  group: "Watch",
  commands: [
    {
      name: "discover",
      summary: "List agents by what they can do, their state or their parent",
      flags: [
        { name: "capability", value: "kind", choices: capabilities, summary: "Only this kind" },
        { name: "state", value: "state", choices: agentStates, summary: "Only in this state" },
        { name: "parent", value: "agent", summary: "Only children of this agent", complete: "agents" },
        { name: "all", summary: "Ended agents too" },
      ],
      examples: [{ line: "ov agents discover --capability builder", does: "who builds right now" }],
      run: async () => (await import("../commands/agents.ts")).discover,
    },
  ],
};

/** `ov prime`: for the start of a session, and for after its memory was shortened. */
export const primeCommand: Command = {
  name: "prime",
  summary: "Print where the project stands and what comes next",
  details:
    "Tells a person where the project stands, and an agent who it is, what it works on, what it waits for and where it stood. Both are told what agents wrote down for others.",
  group: "Watch",
  inHooks: true,
  flags: [
    { name: "agent", value: "name", summary: "The agent to brief (default: the caller)", complete: "agents" },
    { name: "compact", summary: "What a shortened conversation goes on from: the facts, the checkpoint and the notes" },
  ],
  examples: [{ line: "ov prime", does: "where the project stands" }],
  run: async () => (await import("../commands/prime.ts")).prime,
};

export const diffCommand: Command = {
  name: "diff",
  summary: "Show what an agent has changed since it started, committed or not",
  details:
    "Of a branch it shows what the branch changes against where it will land; of a landing branch, what its run changes on the target. Piped, the patch is exact; at a terminal control bytes are made visible.",
  group: "Watch",
  arguments: [{ name: "agent", summary: "Name of the agent, or of a branch", required: true, complete: "agents" }],
  flags: [{ name: "stat", summary: "Only the files, with how many lines came and went" }],
  examples: [
    { line: "ov diff b1 --stat", does: "which files b1 has touched" },
    { line: "ov diff overstory/integration/main", does: "all that has landed and waits to be promoted" },
  ],
  run: async () => (await import("../commands/agents.ts")).diff,
};
