import { mergeStatuses } from "../../../domain/merge/entry.ts";
import type { Argument, Command, Flag } from "../command.ts";

const merge: Argument = {
  name: "merge",
  summary: "Number in the queue, or the branch",
  required: true,
  complete: "merges",
};
const into: Flag = {
  name: "into",
  value: "branch",
  summary: "Branch that receives the work (default: where the run lands)",
  complete: "branches",
};
const rest: readonly Flag[] = [
  { name: "commit-rest", summary: "Commit what the agents left uncommitted, and land it too" },
  {
    name: "leave-rest",
    summary: "Land without uncommitted changes and commits beside the branch; a snapshot keeps them",
  },
];
const limit: Flag = { name: "limit", value: "n", type: "integer", min: 1, summary: "Show at most this many" };

/** `ov merge`: how branches come back. */
export const mergeCommand: Command = {
  name: "merge",
  summary: "Land branches, see the queue, take back landings",
  details:
    "The engine merges, checks and lands; commands ask for it and wait. Your checkout, index and stash are never used. A branch lands only when all gates pass on exactly what would land. Without --dry-run, --branch and --all are your word that the branches may land.",
  group: "Merging",
  flags: [
    { name: "branch", value: "name", summary: "Land this branch now and wait for the result", complete: "branches" },
    { name: "all", summary: "Land everything that is on its way" },
    into,
    ...rest,
    { name: "dry-run", summary: "Only say what would happen; writes nothing" },
  ],
  examples: [
    { line: "ov merge --branch overstory/builder-1/app-x1y2", does: "lands one branch" },
    { line: "ov merge --branch my-feature --dry-run --json", does: "predicts conflicts and what would settle them" },
    { line: "ov merge --all", does: "approves and lands the whole queue" },
  ],
  run: async () => (await import("../commands/merge.ts")).merge,
  commands: [
    {
      name: "add",
      summary: "Put a branch into the queue",
      arguments: [{ name: "branch", summary: "Name of the branch", required: true, complete: "branches" }],
      flags: [
        into,
        {
          name: "depends-on",
          value: "a,b",
          type: "list",
          summary: "Merges that must land first",
          complete: "merges",
        },
        { name: "priority", value: "0-4", type: "integer", min: 0, summary: "0 is most urgent, 4 least" },
        ...rest,
      ],
      run: async () => (await import("../commands/merge-queue.ts")).add,
    },
    {
      name: "list",
      summary: "List the branches in the queue, each with its verdict and what it waits for",
      flags: [
        { name: "status", value: "status", choices: mergeStatuses, summary: "Only those with this status" },
        { name: "run", value: "run-id", summary: "Only those of this run", complete: "runs" },
        { name: "all", summary: "Those that have ended too" },
        limit,
      ],
      worksWithBrokenConfig: true,
      run: async () => (await import("../commands/merge-queue.ts")).list,
    },
    {
      name: "show",
      summary: "Show everything about one merge",
      arguments: [merge],
      run: async () => (await import("../commands/merge-log.ts")).show,
    },
    {
      name: "plan",
      summary: "Show the order in which branches would land now, and which would conflict",
      run: async () => (await import("../commands/merge-plan.ts")).plan,
    },
    {
      name: "radar",
      summary: "Show which branches that agents work on would collide, and in which files",
      details:
        "Merges every two live branches, and each with the branch it lands on, without writing anything. Owners are told by mail when a collision appears that no rule can settle.",
      run: async () => (await import("../commands/merge-plan.ts")).radar,
    },
    {
      name: "diff",
      summary: "Show what a merge brings, or brought, as a patch",
      arguments: [merge],
      run: async () => (await import("../commands/merge-log.ts")).diff,
    },
    {
      name: "log",
      summary: "List landings, undos and promotions, newest first",
      flags: [limit],
      run: async () => (await import("../commands/merge-log.ts")).log,
    },
    {
      name: "approve",
      summary: "Let a branch land that waits for your approval",
      arguments: [{ ...merge, required: false }],
      flags: [
        { name: "all", summary: "Every branch in the queue" },
        { name: "ignore-dependencies", summary: "Land it before the branches that it depends on" },
        ...rest,
      ],
      examples: [{ line: "ov merge approve 3", does: "lets merge 3 land" }],
      run: async () => (await import("../commands/merge-queue.ts")).approve,
    },
    {
      name: "reject",
      summary: "Send a branch back to its agent with a reason",
      arguments: [merge],
      flags: [{ name: "reason", value: "text", required: true, summary: "What is wrong with it" }],
      run: async () => (await import("../commands/merge-queue.ts")).reject,
    },
    {
      name: "cancel",
      summary: "Take a branch out of the queue and leave it as it is",
      arguments: [merge],
      run: async () => (await import("../commands/merge-queue.ts")).cancel,
    },
    {
      name: "retry",
      summary: "Try again what did not land, with the newer commits of its branch where it has some",
      arguments: [merge],
      run: async () => (await import("../commands/merge-queue.ts")).retry,
    },
    {
      name: "pause",
      summary: "Let nothing else land until the queue is resumed",
      details:
        "A train that is under way goes on; wait for it, or cancel its branches. Undo and promotion work as before. The pause outlives the engine.",
      flags: [{ name: "reason", value: "text", summary: "Why, for those who look at the queue" }],
      run: async () => (await import("../commands/merge-queue.ts")).pause,
    },
    {
      name: "resume",
      summary: "Let the paused queue go on; with a branch: look now whether it can land, instead of at the next try",
      arguments: [{ ...merge, required: false }],
      run: async () => (await import("../commands/merge-queue.ts")).resume,
    },
    {
      name: "move",
      summary: "Change when a waiting branch lands: its priority, or what must land before it",
      details:
        "Of the branches that are ready, the most urgent lands first. Urgency is the priority, and grows by one step with every half hour of waiting.",
      arguments: [merge],
      flags: [
        { name: "priority", value: "0-4", type: "integer", min: 0, summary: "0 is most urgent, 4 least" },
        {
          name: "after",
          value: "a,b",
          type: "list",
          summary: "Merges that must land first, in place of those it waits for; none: it waits for no other",
          complete: "merges",
        },
      ],
      examples: [
        { line: "ov merge move 7 --priority 0", does: "lets merge 7 land as soon as it can" },
        { line: "ov merge move 7 --after none", does: "lets merge 7 land without waiting for another" },
      ],
      run: async () => (await import("../commands/merge-queue.ts")).move,
    },
    {
      name: "undo",
      summary: "Take back a landing, or one branch of it; shows what, and asks first",
      details:
        "While nothing landed after it, the branch goes back to where it was; else what each branch brought is taken out on top, which must pass the gates. What cannot be taken out by itself is refused with exit code 4, and nothing changes. An undo can be undone.",
      arguments: [{ name: "what", summary: "Operation (ov merge log), number or branch", complete: "merges" }],
      flags: [
        { name: "last", summary: "The newest landing that was not taken back" },
        { name: "requeue", summary: "Put the branches into the queue again" },
      ],
      examples: [{ line: "ov merge undo --last --yes", does: "takes back the last landing without asking" }],
      run: async () => (await import("../commands/merge-operations.ts")).undo,
    },
    {
      name: "promote",
      summary: "Fast-forward your branch to what a run has landed",
      details:
        "Work for a branch that is checked out lands on overstory/integration/<run>. This moves your branch there, with files in your checkout following. Files you have changed are never overwritten: then nothing moves, and the exit code is 4. Work that no gate has proved is named before anything moves; at a terminal you are asked, unless --yes is given.",
      flags: [
        { name: "run", value: "run-id", summary: "Which run (default: the current one)", complete: "runs" },
        { name: "target", value: "branch", summary: "What waits for this branch, whichever run it is of" },
      ],
      run: async () => (await import("../commands/merge-operations.ts")).promote,
    },
  ],
};

/** `ov gate`: the results of gates, and receipts. */
export const gateCommand: Command = {
  name: "gate",
  summary: "See the results of gates, and the evidence for what landed",
  group: "Merging",
  commands: [
    {
      name: "list",
      summary: "List the latest results of gates, newest first",
      flags: [
        { name: "gate", value: "name", summary: "Only this gate" },
        { name: "limit", value: "n", type: "integer", min: 1, summary: "How many (default 20)" },
      ],
      run: async () => (await import("../commands/gate.ts")).list,
    },
    {
      name: "log",
      summary: "Print the whole output of one run of a gate",
      arguments: [{ name: "result-id", summary: "Id of the result (ov gate list)", required: true }],
      run: async () => (await import("../commands/gate.ts")).log,
    },
    {
      name: "show",
      summary: "Show the evidence for a landing or a completion",
      details:
        "Base, head and tree, the commands with exit codes and durations, the ignored directories that were kept, and the digest of each log: enough to run it again elsewhere and compare.",
      arguments: [
        {
          name: "of",
          summary: "Id of a receipt, number or branch of a merge, or name of an agent",
          required: true,
          complete: "merges",
        },
      ],
      run: async () => (await import("../commands/gate.ts")).show,
    },
    {
      name: "run",
      summary: "Run the gates on a branch, a commit or an agent's work",
      details:
        "Checks out exactly that commit in a place of its own and runs every gate there; what passed on the same tree " +
        "before counts. Leaves a receipt. Exits 5 when a required gate does not pass.",
      arguments: [
        {
          name: "ref",
          summary: "Branch, commit or agent (default: HEAD, or an agent's own branch)",
          complete: "branches",
        },
      ],
      run: async () => (await import("../commands/gate.ts")).run,
    },
    {
      name: "verify",
      summary: "Run the gates of a receipt again, and compare the results",
      details: "Believes no earlier result. Answers reproduced, or says which gate ended otherwise and exits 5.",
      arguments: [{ name: "receipt", summary: "Id of the receipt", required: true }],
      run: async () => (await import("../commands/gate.ts")).verify,
    },
  ],
};
