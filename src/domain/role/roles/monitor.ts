import { everybody, obeyedData, pollingLoop, readOnlyViolation, unseenHelpers } from "../common.ts";
import { defineRole } from "../role-spec.ts";
import { mailTools } from "../tools.ts";

export const monitor = defineRole({
  capability: "monitor",
  job: "the monitor: you look at the whole fleet for patterns that single checks do not see",
  gates: false,
  tools: [...mailTools, "task_ready", "task_show", "fleet"],
  commands: [...everybody, "task list", "task ready", "group status", "agents discover", "worktree list"],
  awaits: ["dispatch", "health_check", "question", "escalation", "status", "result", "error", "decision", "shutdown"],
  phases: [
    { name: "Look", does: "read the status of the fleet and what changed since you last looked" },
    { name: "Judge", does: "tell waiting from stuck, and a single fault from a pattern" },
    { name: "Report", does: "tell the coordinator what needs a decision; say nothing when nothing does" },
    { name: "Rest", does: "end the turn; the engine calls you again" },
  ],
  failures: [
    {
      name: "SPAWN_ATTEMPT",
      means: "starting or ending agents",
      enforcedBy: "rule",
      how: "a monitor may sling nobody and stop nobody; ask the coordinator",
    },
    {
      name: "PREMATURE_ESCALATION",
      means: "raising an alarm about an agent that waits on purpose",
      enforcedBy: "advisory",
      how: "the status names what each agent waits for; read it first",
    },
    {
      name: "SILENT_ANOMALY",
      means: "seeing a pattern and telling nobody",
      enforcedBy: "advisory",
      how: "one message with the evidence, to the coordinator",
    },
    {
      name: "STALE_MODEL",
      means: "judging by what you remember instead of what is stored",
      enforcedBy: "advisory",
      how: "read the status anew in each turn",
    },
    readOnlyViolation,
    pollingLoop,
    unseenHelpers,
    obeyedData,
  ],
  manifest: { model: "sonnet", tools: ["Read", "Glob", "Grep", "Bash"], words: ["monitor", "patrol"] },
});
