import { discoveryCategories } from "../../../domain/coordination/discovery.ts";
import type { HeadCapability } from "../../../usecases/coordinators/find.ts";
import type { Command, Flag } from "../command.ts";

/** `ov go`: from an objective to a team at work. */
export const goCommand: Command = {
  name: "go",
  summary: "Give an objective to a team: set up if needed, confirm, start",
  details:
    "Shows limits, budget, gates and what the adviser thinks, asks, and starts a coordinator with a run of its own. " +
    "Before it asks, it runs the gates on the target as it is: a gate that fails there proves nothing about the team's " +
    "work. With --yes it goes on all the same where the work stays on a branch of its own until you promote it, and " +
    "otherwise starts nothing and exits 5. " +
    "Limits and gates given here are kept in the project's local configuration; the budget belongs to the run it starts. Your checkout is never touched: " +
    "what lands goes to the target branch only while it is checked out nowhere, otherwise to a branch that you take over " +
    "with ov merge promote.",
  group: "Operate",
  arguments: [
    { name: "objective", summary: "What is wanted, in your words; - reads it from standard input", required: true },
  ],
  flags: [
    {
      name: "target",
      value: "branch",
      complete: "branches",
      summary: "Branch the work is meant for (default: the one checked out)",
    },
    {
      name: "gate",
      value: "command",
      type: "texts",
      summary: "One shell command that must pass before anything lands",
    },
    {
      name: "check-gates",
      negatable: true,
      summary: "Run the gates on the target first (default); --no-check-gates starts without",
    },
    { name: "land-unverified", summary: "Let branches land that no gate has checked" },
    { name: "runtime", value: "name", summary: "Agent CLI to run" },
    { name: "model", value: "name", summary: "Model to ask the runtime for" },
    { name: "max-agents", value: "n", type: "integer", min: 1, summary: "Agents the run may have in all" },
    {
      name: "budget-usd",
      value: "usd",
      summary: "US dollars this run may cost (default: budgets.run.usd)",
    },
    { name: "name", value: "name", summary: 'Name of the coordinator (default: "coordinator")' },
    { name: "attach", negatable: true, summary: "Follow its output until Ctrl-C" },
  ],
  examples: [
    { line: 'ov go "Move the parser to the new grammar" --gate "npm test"', does: "asks, then a team begins" },
    { line: 'ov go "Fix the flaky tests" --budget-usd 5 --yes', does: "begins without asking, within five dollars" },
  ],
  run: async () => (await import("../commands/go.ts")).go,
};

/** The flags of every command that starts an agent which leads. */
const agentFlags: readonly Flag[] = [
  { name: "runtime", value: "name", summary: "Agent CLI to run" },
  { name: "model", value: "name", summary: "Model to ask the runtime for" },
  { name: "attach", negatable: true, summary: "Follow its output until Ctrl-C" },
  { name: "watchdog", summary: "Accepted for older scripts: the engine's watchdog always looks after its agents" },
];

const workerWays = ["leave", "stop", "drain"] as const;

/** The flags of `start`, whichever agent is started. */
const startFlags: readonly Flag[] = [
  { name: "objective", value: "text", summary: "The objective; - reads it from standard input" },
  { name: "profile", value: "name", summary: "Working style, named in its instructions" },
  ...agentFlags,
  { name: "accept-existing-watchdog", summary: "Accepted for older scripts: there is one watchdog, and it is shared" },
  { name: "monitor", summary: "Also start a monitor (needs watchdog.tier2Enabled)" },
];

const targetFlag: Flag = {
  name: "target",
  value: "branch",
  complete: "branches",
  summary: "Branch the work is meant for (default: the one checked out)",
};

/** The flag that names a coordinator or orchestrator, for every command about an existing one. */
const nameFlag = (capability: HeadCapability): Flag => ({
  name: "name",
  value: "name",
  complete: "agents",
  summary: `Which ${capability} (default: "${capability}", or the only one there is)`,
});

const body: Flag = {
  name: "body",
  value: "text",
  required: true,
  summary: "Text of the message; - reads it from standard input",
};
const subject = (usual: string): Flag => ({
  name: "subject",
  value: "text",
  summary: `Subject of the message (default: "${usual}")`,
});

/** `ov coordinator`: an agent that leads a run. */
export const coordinatorCommand: Command = {
  name: "coordinator",
  summary: "Start, ask, follow and stop the agent that leads a run",
  details: "Several may work at once, each under its own name and with its own run.",
  group: "Operate",
  commands: [
    ...headCommands("coordinator"),
    {
      name: "check-complete",
      summary: "Say what keeps the run of the coordinator open, and whether it is over",
      details:
        "Lists agents at work, open tasks, branches on their way to land and criteria without proof. With --exit-code it is judged by the triggers that coordinator.exitTriggers switches on; all of them must be met. For taskTrackerEmpty it asks the tracker that taskTracker.backend names too; one that cannot be asked counts as not empty.",
      flags: [
        nameFlag("coordinator"),
        { name: "exit-code", summary: "Exit with 5 when it is not over" },
        { name: "require-clean", negatable: true, summary: "Agents that failed keep the run open" },
      ],
      run: async () => (await import("../commands/coordinator.ts")).checkComplete,
    },
  ],
};

/** The commands that every agent which leads a run has. */
function headCommands(capability: HeadCapability): readonly Command[] {
  const name = nameFlag(capability);
  return [
    {
      name: "start",
      summary: `Start ${capability === "orchestrator" ? "an" : "a"} ${capability} with a run of its own`,
      flags: [
        { ...name, summary: `Name of the ${capability} (default: "${capability}")` },
        ...(capability === "coordinator" ? [targetFlag] : []),
        ...startFlags,
      ],
      examples: [
        { line: `ov ${capability} start --objective "Move to the new API"`, does: "it begins at once" },
        { line: `ov ${capability} start --name docs`, does: "a second one beside the first, waiting for mail" },
      ],
      run: async () => (await import("../commands/coordinator-start.ts")).start(capability),
    },
    {
      name: "stop",
      summary: `Stop the ${capability} and end its run`,
      flags: [
        name,
        {
          name: "workers",
          value: "how",
          choices: workerWays,
          summary: "Leave its agents alone (default), stop them too, or first let them finish",
        },
      ],
      run: async () => (await import("../commands/coordinator.ts")).stop(capability),
    },
    {
      name: "status",
      summary: `Show whether the ${capability} runs, and where its run stands`,
      flags: [name],
      run: async () => (await import("../commands/coordinator.ts")).status(capability),
    },
    {
      name: "send",
      summary: `Send the ${capability} something to do`,
      flags: [name, body, subject("operator dispatch")],
      run: async () => (await import("../commands/coordinator.ts")).send(capability),
    },
    {
      name: "ask",
      summary: `Ask the ${capability} a question and wait for the answer`,
      flags: [
        name,
        body,
        subject("operator request"),
        { name: "timeout", value: "s", type: "integer", min: 1, summary: "Seconds to wait (default 120)" },
      ],
      examples: [{ line: `ov ${capability} ask --body "How far are you?"`, does: "prints what it answers" }],
      run: async () => (await import("../commands/coordinator.ts")).ask(capability),
    },
    {
      name: "output",
      summary: `Show what the ${capability} said in its turns`,
      flags: [
        name,
        { name: "follow", short: "f", summary: "Show new lines as they come, until Ctrl-C" },
        {
          name: "lines",
          value: "n",
          type: "integer",
          min: 1,
          summary: "How many of the newest lines to show (default 50)",
        },
        {
          name: "interval",
          value: "ms",
          type: "integer",
          min: 100,
          summary: "Accepted for older scripts: lines are shown as they come",
        },
      ],
      run: async () => (await import("../commands/coordinator-start.ts")).output(capability),
    },
  ];
}

/** `ov orchestrator`: an agent that leads coordinators in several repositories. */
export const orchestratorCommand: Command = {
  name: "orchestrator",
  summary: "Start, ask, follow and stop the agent that leads several repositories",
  details:
    "An orchestrator starts only coordinators, one in each repository that it needs, with: ov --project <path> coordinator start.",
  group: "Operate",
  commands: headCommands("orchestrator"),
};

/** `ov discover`: a team that only looks. */
export const discoverCommand: Command = {
  name: "discover",
  summary: "Let a team get to know the code base and write down what it found",
  details:
    `Starts a coordinator that explores: ${discoveryCategories.join(", ")}. Nothing is built. ` +
    "It costs money and asks first; where no terminal can ask you it needs --yes.",
  group: "Operate",
  flags: [
    { name: "skip", value: "a,b", type: "list", summary: "Categories to leave out" },
    { name: "name", value: "name", summary: 'Name of the coordinator (default: "discover-coordinator")' },
    ...agentFlags,
    { name: "task-id", value: "id", summary: "Accepted for older scripts", hidden: true },
  ],
  examples: [{ line: "ov discover --skip config,implicit", does: "explores the other four" }],
  run: async () => (await import("../commands/coordinator-start.ts")).discover,
};

/** `ov inbox`: open decisions and questions, then unread mail. */
export const inboxCommand: Command = {
  name: "inbox",
  summary: "Show what waits for your decision, then your new mail",
  details:
    "Decisions and approvals come first and stay until they are made. Budgets that are nearly used up and branches that will collide come last, before the mail: nothing waits for you there yet. Mail that is shown counts as read by you; nobody else's mail is touched. Behind a pipe (ov inbox | head) it stays unread, for the reader may take only a part.",
  group: "Operate",
  flags: [
    { name: "peek", summary: "Leave the mail unread" },
    { name: "read", summary: "Count the mail as read also where it goes to a pipe" },
  ],
  examples: [
    { line: "ov inbox", does: "what needs you now" },
    { line: "ov inbox --peek --json", does: "the same for a script, which changes nothing" },
  ],
  worksWithBrokenConfig: true,
  run: async () => (await import("../commands/inbox.ts")).inbox,
};

/** `ov decide`: a person's answer to what only a person can answer. */
export const decideCommand: Command = {
  name: "decide",
  summary: "Make a decision that an agent or the merge queue waits for",
  details:
    "Whoever asked gets the decision as mail and goes on. For a branch that waits to land the options are approve and reject; reject needs a note.",
  group: "Operate",
  arguments: [
    {
      name: "id",
      summary: "Id of the decision, or merge:<number>; without it, the command names those that are open",
      complete: "decisions",
    },
    { name: "option", summary: "One of the options, or its number; without it, the command names them" },
  ],
  flags: [{ name: "note", value: "text", summary: "Why, or what to mind; a rejected branch goes back with it" }],
  examples: [
    { line: 'ov decide msg-7f3a "Use Postgres" --note "we run it already"', does: "answers an agent" },
    { line: "ov decide merge:12 approve", does: "lets a branch land" },
  ],
  run: async () => (await import("../commands/decide.ts")).decide,
};

const instead = "a supervisor is a lead now: ov sling <task> --capability lead, ov stop <agent>, ov status";

/** `ov supervisor`: the older name of a lead, kept for scripts. */
export const supervisorCommand: Command = {
  name: "supervisor",
  summary: "Start, stop and show leads under their older name",
  group: "Operate",
  deprecated: instead,
  commands: [
    {
      name: "start",
      summary: "Start a lead on a task",
      flags: [
        { name: "task", value: "id", required: true, summary: "Task to lead", complete: "tasks" },
        { name: "name", value: "name", required: true, summary: "Name of the agent" },
        { name: "parent", value: "agent", summary: "Parent agent (default: the caller)", complete: "agents" },
        { name: "depth", value: "n", type: "integer", min: 0, summary: "Expected depth; the parent decides it" },
      ],
      run: async () => (await import("../commands/supervisor.ts")).start,
    },
    {
      name: "stop",
      summary: "Stop a lead",
      flags: [{ name: "name", value: "name", required: true, summary: "Name of the agent", complete: "agents" }],
      run: async () => (await import("../commands/supervisor.ts")).stop,
    },
    {
      name: "status",
      summary: "Show one lead, or all of them",
      flags: [{ name: "name", value: "name", summary: "Name of the agent", complete: "agents" }],
      run: async () => (await import("../commands/supervisor.ts")).status,
    },
  ],
};
