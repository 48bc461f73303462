import type { HeadCapability } from "../../../../usecases/coordinators/find.ts";
import type { Command, Flag } from "../../command.ts";

const workerWays = ["leave", "stop", "drain"] as const;

/** What `start` takes, whoever is started. */
const startFlags: readonly Flag[] = [
  { name: "objective", value: "text", summary: "What is wanted; - reads standard input" },
  { name: "profile", value: "name", summary: "Working style, named in its instructions" },
  { name: "runtime", value: "name", summary: "Agent CLI to run" },
  { name: "model", value: "name", summary: "Model to ask the runtime for" },
  { name: "attach", negatable: true, summary: "Follow its output until Ctrl-C" },
  { name: "watchdog", summary: "Accepted for older scripts: the engine's watchdog always looks after its agents" },
  { name: "accept-existing-watchdog", summary: "Accepted for older scripts: there is one watchdog, and it is shared" },
  { name: "monitor", summary: "Also start a monitor (needs watchdog.tier2Enabled)" },
];

const targetFlag: Flag = {
  name: "target",
  value: "branch",
  complete: "branches",
  summary: "Branch the work is meant for (default: the one checked out)",
};

/** Which one is meant, for every command about one that is there. */
const nameFlag = (capability: HeadCapability): Flag => ({
  name: "name",
  value: "name",
  complete: "agents",
  summary: `Which ${capability} (default: "${capability}", or the only one there is)`,
});

const body: Flag = { name: "body", value: "text", required: true, summary: "What it says; - reads standard input" };
const subject = (usual: string): Flag => ({ name: "subject", value: "text", summary: `Default: "${usual}"` });

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
      summary: "Say whether its run is over",
      details:
        "Judged by the triggers that coordinator.exitTriggers switches on; all of them must be met. For taskTrackerEmpty it asks the tracker that taskTracker.backend names too; one that cannot be asked counts as not empty.",
      flags: [
        nameFlag("coordinator"),
        { name: "exit-code", summary: "Exit with 5 when it is not over" },
        { name: "require-clean", negatable: true, summary: "Agents that failed keep it open" },
      ],
      run: async () => (await import("../coordinator.ts")).checkComplete,
    },
  ],
};

/** The commands that every agent which leads a run has. */
export function headCommands(capability: HeadCapability): readonly Command[] {
  const name = nameFlag(capability);
  return [
    {
      name: "start",
      summary: `Start ${capability === "orchestrator" ? "an" : "a"} ${capability} with a run of its own`,
      flags: [
        { ...name, summary: `Its name (default: "${capability}")` },
        ...(capability === "coordinator" ? [targetFlag] : []),
        ...startFlags,
      ],
      examples: [
        { line: `ov ${capability} start --objective "Move to the new API"`, does: "it begins at once" },
        { line: `ov ${capability} start --name docs`, does: "a second one beside the first, waiting for mail" },
      ],
      run: async () => (await import("../coordinator-start.ts")).start(capability),
    },
    {
      name: "stop",
      summary: "Stop it and end its run",
      flags: [
        name,
        {
          name: "workers",
          value: "how",
          choices: workerWays,
          summary: "Leave its agents alone (default), stop them too, or first let them finish",
        },
      ],
      run: async () => (await import("../coordinator.ts")).stop(capability),
    },
    {
      name: "status",
      summary: "Show whether it runs and where its run stands",
      flags: [name],
      run: async () => (await import("../coordinator.ts")).status(capability),
    },
    {
      name: "send",
      summary: "Give it something to do",
      flags: [name, body, subject("operator dispatch")],
      run: async () => (await import("../coordinator.ts")).send(capability),
    },
    {
      name: "ask",
      summary: "Ask it something and wait for the answer",
      flags: [
        name,
        body,
        subject("operator request"),
        { name: "timeout", value: "s", type: "integer", min: 1, summary: "Seconds to wait (default 120)" },
      ],
      examples: [{ line: `ov ${capability} ask --body "How far are you?"`, does: "prints what it answers" }],
      run: async () => (await import("../coordinator.ts")).ask(capability),
    },
    {
      name: "output",
      summary: "Show what it said in its turns",
      flags: [
        name,
        { name: "follow", short: "f", summary: "Go on until Ctrl-C" },
        { name: "lines", value: "n", type: "integer", min: 1, summary: "The newest so many lines (default 50)" },
        { name: "interval", value: "ms", type: "integer", min: 100, summary: "Time between looks (default 2000)" },
      ],
      run: async () => (await import("../coordinator-start.ts")).output(capability),
    },
  ];
}
