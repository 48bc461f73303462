import { branchName, relativePath } from "../../domain/name/name.ts";
import { trackerBackends } from "../../domain/tracker/tracker.ts";
import { boolean, choice, integer, optionalText, records, text, texts } from "./key.ts";

/** What the project is, and the tools beside it. */
export const projectKeys = {
  "project.name": text({
    doc: "Name of the project, shown in titles; ids of new tasks begin with it.",
    default: "",
    defaultIs: "the name of the project's directory",
  }),
  "project.canonicalBranch": text({
    doc: "Branch that finished work is meant for.",
    default: "main",
    shape: branchName,
  }),
  "project.qualityGates": records(
    {
      name: "required",
      command: "required",
      description: "optional",
      timeoutMs: { type: "integer", min: 1, max: 2 ** 31 - 1, default: 300_000 },
      required: { type: "boolean", default: true },
      paths: { type: "list of text", shape: relativePath, default: [] },
    },
    { doc: "Commands that must pass on exactly the tree that lands. Without any, nothing lands unasked.", default: [] },
  ),
  "project.defaultProfile": optionalText({ doc: "Profile given to agents that are slung without one." }),

  "taskTracker.backend": choice(trackerBackends, {
    doc: "Tracker that taskTrackerEmpty asks beside the tasks of ov task: none (native), seeds through sd, beads through bd, or with auto an external one when its files and its program are both there.",
    default: "auto",
  }),

  "coordinator.exitTriggers.allAgentsDone": boolean({
    doc: "A run is complete when all its agents are released or dead and nothing of it waits to land.",
    default: false,
  }),
  "coordinator.exitTriggers.taskTrackerEmpty": boolean({
    doc: "A run is complete when no task is ready to be started, neither here nor in the external tracker.",
    default: false,
  }),
  "coordinator.exitTriggers.onShutdownSignal": boolean({
    doc: "A run is complete when the coordinator was sent a shutdown message.",
    default: false,
  }),
  "coordinator.requireClean": boolean({
    doc: "Whether an agent that failed keeps its run from being complete.",
    default: false,
  }),
  "coordinator.lastReview": boolean({
    doc: "Whether a reviewer reads all that has landed against the checklist before a run ends that had more than one task, or of which some evidence is older than the run.",
    default: true,
  }),

  "logging.redactSecrets": boolean({
    doc: "Whether secrets are taken out of what is stored and logged: events, mail, tasks, the output of turns and gates, logs. With false they are kept as they came.",
    default: true,
  }),

  "worktrees.baseDir": text({
    doc: "Directory that holds the agents' worktrees, relative to the project.",
    default: ".overstory/worktrees",
  }),
  "worktree.include": texts({
    doc: "Ignored files copied into each new worktree, such as .env; they are never stored anywhere else.",
    default: [],
    shape: relativePath,
  }),
  "snapshot.maxFileBytes": integer({
    doc: "Untracked files above this size are left out of snapshots.",
    default: 10 * 1024 * 1024,
  }),
  "history.retentionDays": integer({
    doc: "Days that turns, processes, tokens, transitions, usage and the audit are kept; 0 keeps them for ever. Those of an agent that is not released always stay.",
    default: 30,
    max: 36_500,
  }),
  "history.landedDays": integer({
    doc: "Days that released agents are remembered whose work is in its target, with their branches, merges and the evidence of their landings; 0 keeps them for ever. Work that landed nowhere always stays.",
    default: 365,
    max: 36_500,
  }),
  "events.retentionDays": integer({
    doc: "Days that events are kept; 0 keeps them for ever, as many as events.maxRows allows. Those of an agent that is not released always stay.",
    default: 14,
    max: 36_500,
  }),
  "events.maxRows": integer({
    doc: "The most events that are kept: the oldest go before their days are over; 0 sets no limit. Those of an agent that is not released always stay.",
    default: 1_000_000,
  }),
  "logs.retentionDays": integer({
    doc: "Days that the files of turns are kept: what an agent was told, and what its program wrote; 0 keeps them for ever. Those of an agent that is not released always stay.",
    default: 14,
    max: 36_500,
  }),
  "costs.retentionDays": integer({
    doc: "Days that ov costs and ov metrics know what turns and sessions used and cost; 0 keeps it for ever.",
    default: 365,
    max: 36_500,
  }),
  "snapshot.retentionDays": integer({
    doc: "Days that snapshots and ignored files of landed work are kept after their worktree went, and replaced specs; 0 keeps them for ever. Of work that landed nowhere both stay.",
    default: 14,
    max: 36_500,
  }),
};
