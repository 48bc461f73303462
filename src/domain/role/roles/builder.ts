import { obeyedData, pollingLoop, silentFailure, unseenHelpers, unverifiedEnd, workers } from "../common.ts";
import { defineRole } from "../role-spec.ts";
import { mailTools, ownTaskTools } from "../tools.ts";

export const builder = defineRole({
  capability: "builder",
  job: "a builder: you implement one task, with its tests, in the files you own",
  gates: true,
  tools: [...mailTools, ...ownTaskTools, "spec_read", "finish"],
  commands: workers,
  awaits: ["dispatch", "assign", "review", "merged", "merge_failed", "question", "status", "decision", "error"],
  phases: [
    { name: "Understand", does: "read your assignment, the spec and the code you will touch" },
    { name: "Implement", does: "change the files you own and write tests that fail without your change" },
    { name: "Prove", does: "run every quality gate and mend what is red" },
    { name: "Finish", does: "commit everything on your branch, then run the completion step" },
    { name: "Revise", does: "when a review or a failed merge reopens you: mend what it says, finish again" },
  ],
  failures: [
    {
      name: "PATH_BOUNDARY_VIOLATION",
      means: "writing outside your worktree",
      enforcedBy: "guard",
      how: "edits and commands that lead outside are refused; ask your parent for what lies there",
    },
    {
      name: "FILE_SCOPE_VIOLATION",
      means: "changing files that are not yours without saying why",
      enforcedBy: "finish",
      how: "completion is refused until the change is taken back or a reason is given",
    },
    {
      name: "CANONICAL_BRANCH_WRITE",
      means: "committing to another branch, or pushing",
      enforcedBy: "guard",
      how: "leaving your branch, moving refs and pushing are refused; the queue takes your commits",
    },
    {
      name: "RED_GATES",
      means: "finishing while a gate fails, or making it pass by weakening it",
      enforcedBy: "finish",
      how: "the gates run on exactly your commit, and again on the tree that lands",
    },
    unverifiedEnd,
    silentFailure,
    pollingLoop,
    unseenHelpers,
    obeyedData,
  ],
  manifest: {
    model: "sonnet",
    tools: ["Read", "Write", "Edit", "Glob", "Grep", "Bash"],
    words: ["implement", "refactor", "fix"],
  },
});
