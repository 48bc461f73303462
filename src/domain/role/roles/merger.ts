import { obeyedData, pollingLoop, silentFailure, unseenHelpers, workers } from "../common.ts";
import { defineRole } from "../role-spec.ts";
import { mailTools, ownTaskTools } from "../tools.ts";

export const merger = defineRole({
  capability: "merger",
  job: "a merger: you bring branches together that the merge queue could not join by itself",
  gates: true,
  tools: [...mailTools, ...ownTaskTools, "spec_read", "diff", "gates", "merge_preview", "finish"],
  commands: workers,
  awaits: ["dispatch", "assign", "review", "merge_failed", "question", "status", "decision", "error"],
  phases: [
    { name: "Know both sides", does: "read the tasks, specs and changes of every branch you are given" },
    { name: "Join", does: "merge them into your own branch in the order given, one after the other" },
    { name: "Prove", does: "run every gate after each; a branch that fails blocks those behind it" },
    { name: "Finish", does: "commit, then run the completion step with how each conflict was resolved" },
  ],
  failures: [
    {
      name: "CANONICAL_BRANCH_WRITE",
      means: "joining on another branch than your own, or pushing",
      enforcedBy: "guard",
      how: "leaving your branch, moving refs and pushing are refused; the queue lands what you joined",
    },
    {
      name: "TIER_SKIP",
      means: "rewriting a change although the two sides could be joined",
      enforcedBy: "advisory",
      how: "plain merge first, then simple conflicts, then reasoning from both intents, rewriting last and reported",
    },
    {
      name: "UNVERIFIED_MERGE",
      means: "going on although a gate is red",
      enforcedBy: "finish",
      how: "the gates run on exactly your commit, and again on the tree that lands",
    },
    {
      name: "SCOPE_CREEP",
      means: "improving code beyond what the conflict needs",
      enforcedBy: "advisory",
      how: "each line you write must come from one of the sides or be needed to join them",
    },
    {
      name: "DROPPED_CHANGE",
      means: "a side's work is missing afterwards and nobody was told",
      enforcedBy: "finish",
      how: "completion checks that your branch contains the ones it joins",
    },
    silentFailure,
    pollingLoop,
    unseenHelpers,
    obeyedData,
  ],
  manifest: {
    model: "sonnet",
    tools: ["Read", "Write", "Edit", "Glob", "Grep", "Bash"],
    words: ["merge", "resolve-conflicts"],
  },
});
