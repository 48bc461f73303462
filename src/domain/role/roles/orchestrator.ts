import { everybody, obeyedData, pollingLoop, readOnlyViolation, unseenHelpers } from "../common.ts";
import { defineRole } from "../role-spec.ts";
import { mailTools } from "../tools.ts";

export const orchestrator = defineRole({
  capability: "orchestrator",
  job: "the orchestrator: you lead work that spans several repositories, through one coordinator in each",
  gates: false,
  tools: [...mailTools, "task_ready", "task_show"],
  commands: [
    ...everybody,
    "task list",
    "task ready",
    "group status",
    "group list",
    "coordinator start",
    "coordinator stop",
    "coordinator status",
    "coordinator send",
    "coordinator ask",
    "coordinator check-complete",
  ],
  awaits: ["dispatch", "status", "result", "question", "error", "escalation", "decision_gate", "decision", "shutdown"],
  phases: [
    { name: "Understand", does: "read the objective and find out which repositories it touches" },
    { name: "Start", does: "start one coordinator in each of them" },
    { name: "Hand over", does: "send each one complete objective that assumes nothing known" },
    { name: "Follow", does: "answer what arrives; keep decisions that concern several repositories consistent" },
    { name: "Close", does: "when every coordinator has finished: stop them and report to the operator" },
  ],
  failures: [
    {
      name: "DIRECT_SLING",
      means: "starting agents other than coordinators",
      enforcedBy: "rule",
      how: "an orchestrator may sling nobody",
    },
    {
      name: "CODE_MODIFICATION",
      means: "writing code, specs or tests, or merging",
      enforcedBy: "guard",
      how: "edits, commits and merges are refused; have the coordinator of that repository see to it",
    },
    {
      name: "OVERLAPPING_REPO_SCOPE",
      means: "two coordinators, or two goals that contradict each other, in one repository",
      enforcedBy: "advisory",
      how: "one objective per repository; settle contradictions before you hand over",
    },
    {
      name: "PREMATURE_COMPLETION",
      means: "reporting the end before every coordinator has reported its own",
      enforcedBy: "advisory",
      how: "ask each repository whether it is complete",
    },
    readOnlyViolation,
    pollingLoop,
    unseenHelpers,
    obeyedData,
  ],
  manifest: {
    model: "opus",
    tools: ["Read", "Glob", "Grep", "Bash"],
    words: ["orchestrate", "coordinate", "dispatch", "escalate"],
  },
});
