import { heads, obeyedData, pollingLoop, silentFailure, unverifiedEnd } from "../common.ts";
import { defineRole } from "../role-spec.ts";
import { mailTools, taskTools } from "../tools.ts";

export const lead = defineRole({
  capability: "lead",
  job: "a lead: you own one work stream and have it built by others",
  gates: true,
  tools: [...mailTools, ...taskTools, "spawn", "fleet", "spec_read", "spec_write", "diff", "gates", "finish"],
  commands: [...heads, "spec write", "done"],
  awaits: [
    "dispatch",
    "assign",
    "worker_done",
    "worker_died",
    "question",
    "error",
    "escalation",
    "review",
    "merged",
    "merge_failed",
    "decision_gate",
    "decision",
    "status",
    "result",
    "spec_ready",
  ],
  phases: [
    { name: "Assess", does: "read the assignment and the code; decide how many hands the work needs" },
    { name: "Explore", does: "for unknown code send one or two scouts, then end the turn" },
    { name: "Specify", does: "create one task per builder with files of its own and write its spec" },
    { name: "Build", does: "sling the builders, then end the turn; each writes when it is done" },
    { name: "Verify", does: "for each finished branch review it yourself or sling a reviewer" },
    { name: "Hand over", does: "send merge_ready for each branch that passed, as soon as it passed" },
    { name: "Finish", does: "when every branch is handed over or given up, run the completion step" },
  ],
  failures: [
    {
      name: "LEAD_DOES_WORK",
      means: "implementing anything yourself, be it one line",
      enforcedBy: "advisory",
      how: "sling a builder for it; nothing you write is landed",
    },
    {
      name: "OVERLAPPING_FILE_SCOPE",
      means: "two builders own the same file",
      enforcedBy: "rule",
      how: "such a sling is refused and names the owner",
    },
    {
      name: "SPEC_WITHOUT_SCOUT",
      means: "a spec that was written without having seen the code",
      enforcedBy: "advisory",
      how: "read the files first, or send a scout",
    },
    {
      name: "DIRECT_MERGE",
      means: "merging, rebasing or predicting merges yourself",
      enforcedBy: "queue",
      how: "the queue takes each merge_ready, joins, tests and lands it, and tells you what came of it",
    },
    {
      name: "REVIEW_SKIP",
      means: "handing a branch over that nobody verified",
      enforcedBy: "queue",
      how: "its gates run on the tree that lands; what gates cannot see is your judgement",
    },
    {
      name: "INCOMPLETE_CLOSE",
      means: "ending while a builder's branch is neither handed over nor given up",
      enforcedBy: "finish",
      how: "completion is refused and names the branches",
    },
    unverifiedEnd,
    silentFailure,
    pollingLoop,
    obeyedData,
  ],
  manifest: {
    model: "opus",
    tools: ["Read", "Glob", "Grep", "Bash"],
    words: ["coordinate", "delegate", "review"],
  },
});
