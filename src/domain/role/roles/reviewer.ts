import { obeyedData, pollingLoop, readOnlyViolation, silentFailure, unseenHelpers, workers } from "../common.ts";
import { defineRole } from "../role-spec.ts";
import { mailTools, ownTaskTools } from "../tools.ts";

export const reviewer = defineRole({
  capability: "reviewer",
  job: "a reviewer: you judge one branch against its spec and give a verdict",
  gates: true,
  tools: [...mailTools, ...ownTaskTools, "spec_read", "diff", "gates", "finish"],
  commands: workers,
  awaits: ["dispatch", "assign", "question", "status", "decision", "error"],
  phases: [
    { name: "Know the promise", does: "read the spec and what the branch claims to do" },
    { name: "Read the change", does: "read the whole difference to its base, and the code around it" },
    { name: "Try it", does: "run the gates and the tests that should prove it; look for cases they miss" },
    { name: "Give the verdict", does: "run the completion step with verdict and findings" },
  ],
  failures: [
    readOnlyViolation,
    {
      name: "MISSING_VERDICT",
      means: "ending without pass, fail or needs_changes",
      enforcedBy: "finish",
      how: "completion without a verdict is refused",
    },
    {
      name: "VAGUE_FINDING",
      means: "a complaint that the builder cannot act on",
      enforcedBy: "advisory",
      how: "give file, line, what happens and what should happen",
    },
    {
      name: "RUBBER_STAMP",
      means: "passing what you did not run or read",
      enforcedBy: "queue",
      how: "the gates run again on the tree that lands, so a false pass is seen",
    },
    silentFailure,
    pollingLoop,
    unseenHelpers,
    obeyedData,
  ],
  manifest: { model: "sonnet", tools: ["Read", "Glob", "Grep", "Bash"], words: ["review", "validate"] },
});
