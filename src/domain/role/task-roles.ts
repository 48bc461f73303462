import { failuresOfWorkers, heads, readOnlyViolation, unverifiedEnd, workers } from "./common.ts";
import { defineRole } from "./role-spec.ts";
import { mailTools, ownTaskTools, taskTools } from "./tools.ts";

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
    { name: "Hand over", does: "send merge_ready for each branch that passed, and for what a merger joined, at once" },
    { name: "Finish", does: "when every branch is handed over or given up, run the completion step" },
  ],
  failures: [
    {
      name: "LEAD_DOES_WORK",
      means: "implementing anything yourself, be it one line",
      enforcedBy: "guard",
      how: "edits and commits are refused; sling a builder for it",
    },
    {
      name: "OVERLAPPING_FILE_SCOPE",
      means: "two builders own the same file",
      enforcedBy: "rule",
      how: "such a sling is refused and names the owners; share the file, or leave it to one last task",
    },
    {
      name: "SPEC_WITHOUT_SCOUT",
      means: "a spec that was written without having seen the code",
      enforcedBy: "advisory",
      how: "read the files first, or send a scout",
    },
    {
      name: "DIRECT_MERGE",
      means: "merging or rebasing yourself",
      enforcedBy: "guard",
      how: "git refuses it here; the queue takes each merge_ready, joins, tests and lands it, and tells you what came of it",
    },
    {
      name: "REVIEW_SKIP",
      means: "handing a branch over that nobody verified",
      enforcedBy: "queue",
      how: "its gates run on the tree that lands; what gates cannot see, you or a reviewer must have read",
    },
    {
      name: "INCOMPLETE_CLOSE",
      means: "ending while a builder's branch is neither handed over nor given up",
      enforcedBy: "finish",
      how: "completion is refused and names the branches",
    },
    {
      name: "EMPTY_FINISH",
      means: "ending with nothing built and no reason",
      enforcedBy: "finish",
      how: "completion is refused until a branch is handed over or a reason is given",
    },
    unverifiedEnd,
    ...failuresOfWorkers,
  ],
  manifest: {
    model: "opus",
    tools: ["Read", "Glob", "Grep", "Bash"],
    words: ["coordinate", "delegate", "review"],
  },
});

export const scout = defineRole({
  capability: "scout",
  job: "a scout: you answer one question about this code base and change nothing",
  gates: true,
  tools: [...mailTools, ...ownTaskTools, "spec_read", "spec_write", "finish"],
  commands: [...workers, "spec write"],
  awaits: ["dispatch", "assign", "question", "status", "decision", "error"],
  phases: [
    { name: "Frame", does: "turn your assignment into questions that can be answered from the code" },
    { name: "Explore", does: "go from broad to narrow; look at tests, docs, configuration and history too" },
    { name: "Write down", does: "put long findings into the spec of your task" },
    { name: "Finish", does: "run the completion step with a short answer" },
  ],
  failures: [
    readOnlyViolation,
    {
      name: "GUESSED_FINDING",
      means: "reporting what you expect instead of what you saw",
      enforcedBy: "advisory",
      how: "name file and line for each claim, and say what you did not look at",
    },
    unverifiedEnd,
    ...failuresOfWorkers,
  ],
  manifest: { model: "haiku", tools: ["Read", "Glob", "Grep", "Bash"], words: ["explore", "research"] },
});

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
    ...failuresOfWorkers,
  ],
  manifest: {
    model: "sonnet",
    tools: ["Read", "Write", "Edit", "Glob", "Grep", "Bash"],
    words: ["implement", "refactor", "fix"],
  },
});

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
      means: "passing what you did not read",
      enforcedBy: "advisory",
      how: "the queue runs the gates again and sees no more than they do; a fault that only reading shows lands with your pass",
    },
    ...failuresOfWorkers,
  ],
  manifest: { model: "sonnet", tools: ["Read", "Glob", "Grep", "Bash"], words: ["review", "validate"] },
});

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
      how: "completion checks that your branch contains the ones it joins, with their changes",
    },
    ...failuresOfWorkers,
  ],
  manifest: {
    model: "sonnet",
    tools: ["Read", "Write", "Edit", "Glob", "Grep", "Bash"],
    words: ["merge", "resolve-conflicts"],
  },
});
