import { capabilities } from "../../../domain/agent/capability.ts";
import type { Argument, Command } from "../command.ts";

export const slingCommand: Command = {
  name: "sling",
  summary: "Give a task to a new agent in its own worktree",
  details:
    "Reserves the agent and returns at once; the engine prepares the worktree and starts its first turn. " +
    "A text with spaces instead of a task id makes the task on the fly.",
  group: "Work",
  arguments: [{ name: "task", summary: "Id of the task, or what is to be done", required: true, complete: "tasks" }],
  flags: [
    { name: "capability", value: "kind", summary: "What kind of agent (default: builder)", choices: capabilities },
    { name: "name", value: "name", summary: "Name of the agent (default: <capability>-<task>)" },
    { name: "title", value: "text", summary: "Make the task with this title" },
    { name: "spec", value: "path", summary: "Specification file", complete: "files" },
    { name: "files", value: "a,b", type: "list", summary: "Files or globs the agent owns (default: its task's)" },
    { name: "shares", value: "a,b", type: "list", summary: "Files that other agents change too (default: its task's)" },
    { name: "siblings", value: "a,b", type: "list", summary: "Agents working beside it, named in its instructions" },
    { name: "parent", value: "agent", summary: "Parent agent (default: the caller)", complete: "agents" },
    {
      name: "run",
      value: "id|new",
      summary: "Run it belongs to (default: its parent's, else the newest active one)",
      complete: "runs",
    },
    {
      name: "target",
      value: "branch",
      summary: "Branch a new run is for (default: the one checked out here)",
      complete: "branches",
    },
    { name: "depth", value: "n", type: "integer", min: 0, summary: "Expected depth; the parent decides it" },
    { name: "skip-scout", summary: "Tell a lead to go straight to building" },
    { name: "skip-review", summary: "Tell a lead to verify by itself" },
    { name: "skip-task-check", summary: "Do not look the task up, and do not claim it" },
    { name: "force-hierarchy", summary: "Start a kind of agent that the parent may not start (operator only)" },
    {
      name: "max-agents",
      value: "n",
      type: "integer",
      min: 0,
      summary: "How many children the parent may have, for this start only",
    },
    {
      name: "dispatch-max-agents",
      value: "n",
      type: "integer",
      min: 0,
      summary: "Agents a lead may have at work at once; its instructions say so",
    },
    { name: "scout-check", negatable: true, summary: "Warn when the parent never sent a scout (default)" },
    { name: "allow-overlap", summary: "Accept files that another agent owns" },
    { name: "runtime", value: "name", summary: "Agent CLI to run" },
    { name: "model", value: "name", summary: "Model to ask the runtime for" },
    {
      name: "base-branch",
      value: "branch",
      summary: "Branch or commit at which the worktree starts",
      complete: "branches",
    },
    { name: "profile", value: "name", summary: "Working style, named in its instructions" },
    { name: "headless", negatable: true, summary: "Run without a terminal (the only way so far)" },
    { name: "recover", summary: "Go on where the ended agent of this task or name stopped" },
    { name: "fresh", summary: "With --recover: in a new worktree and conversation; the old work is kept aside" },
    {
      name: "wait",
      optionalValue: "done",
      choices: ["done"],
      summary: "Wait for the first turn, or with =done for the agent's end",
    },
    { name: "dry-run", summary: "Show what would happen and change nothing" },
  ],
  examples: [
    { line: "ov sling T1 --capability builder", does: "a builder starts on T1" },
    { line: 'ov sling "Add a greeting" --files src/greet.ts', does: "makes the task, then a builder starts on it" },
    { line: "ov sling T1 --recover", does: "the ended agent of T1 goes on" },
  ],
  run: async () => (await import("../commands/sling.ts")).sling,
};

export const stopCommand: Command = {
  name: "stop",
  summary: "Stop an agent and everything that runs for it",
  details:
    "The worktree, branch and conversation of the agent are kept; --clean-worktree removes the worktree. Turns that were queued do not start. The parent of the agent is told.\nStopping an agent that has ended changes nothing.",
  group: "Work",
  arguments: [{ name: "agent", summary: "Name of the agent", complete: "liveAgents" }],
  flags: [
    { name: "all", summary: "Stop all agents instead of one" },
    { name: "tree", summary: "Also stop all agents below it, the lowest first" },
    {
      name: "force",
      summary: "Kill its processes at once; with --clean-worktree remove unmerged work too, after saving it",
    },
    { name: "clean-worktree", summary: "Also remove its worktree, if no work is lost with it" },
  ],
  examples: [
    { line: "ov stop builder-T1", does: "ends one agent" },
    { line: "ov stop --all", does: "stops all agents" },
    { line: "ov stop lead-1 --tree", does: "ends a lead and all it started" },
    { line: "ov stop builder-T1 --clean-worktree", does: "ends it and removes its worktree once its work has landed" },
  ],
  worksWithBrokenConfig: true,
  run: async () => (await import("../commands/stop.ts")).stop,
};

export const pauseCommand: Command = {
  name: "pause",
  summary: "Hold an agent back: its mail waits and starts no turn",
  details: "A turn that is running finishes. Go on with: ov resume <agent>",
  group: "Work",
  arguments: [{ name: "agent", summary: "Name of the agent", required: true, complete: "liveAgents" }],
  flags: [{ name: "tree", summary: "Also all agents below it" }],
  worksWithBrokenConfig: true,
  run: async () => (await import("../commands/agents.ts")).pause,
};

export const resumeCommand: Command = {
  name: "resume",
  summary: "Let a paused agent go on with the mail that waited",
  group: "Work",
  arguments: [{ name: "agent", summary: "Name of the agent", required: true, complete: "agents" }],
  flags: [{ name: "tree", summary: "Also all agents below it" }],
  run: async () => (await import("../commands/agents.ts")).resume,
};

export const attachCommand: Command = {
  name: "attach",
  summary: "Take an agent over by hand: open its program here, in its worktree and on its conversation",
  details:
    "Waits for the turn that is running. While you are there nothing else starts for the agent; its mail waits. When " +
    "you leave, or the terminal closes, it goes on by itself. An agent that had submitted its work is reopened.",
  group: "Work",
  arguments: [{ name: "agent", summary: "Name of the agent", required: true, complete: "agents" }],
  flags: [
    { name: "interrupt", summary: "End the running turn instead of waiting; its input is given again afterwards" },
  ],
  examples: [{ line: "ov attach b1", does: "talk to b1 yourself" }],
  run: async () => (await import("../commands/agents.ts")).attach,
};

export const recoverCommand: Command = {
  name: "recover",
  summary: "Go on where an ended agent stopped",
  details:
    "Same worktree, branch and conversation, as the next generation of its name, with the mail that never reached it.",
  group: "Work",
  arguments: [{ name: "agent", summary: "Name of the agent, or id of its task", required: true, complete: "agents" }],
  flags: [{ name: "fresh", summary: "In a new worktree and conversation; the old work is kept aside" }],
  examples: [
    { line: "ov recover b1", does: "b1 goes on with what its dead process left" },
    { line: "ov recover b1 --fresh", does: "b1 begins again; what it had stays on its old branch" },
  ],
  run: async () => (await import("../commands/agents.ts")).recover,
};

export const releaseCommand: Command = {
  name: "release",
  summary: "Let an ended agent go: its branch stays, its worktree is kept as a snapshot and removed",
  group: "Work",
  arguments: [{ name: "agent", summary: "Name of the agent", required: true, complete: "agents" }],
  flags: [
    { name: "reason", value: "text", summary: "Why; agents must say it where work is given up that landed nowhere" },
  ],
  run: async () => (await import("../commands/agents.ts")).release,
};

export const nudgeCommand: Command = {
  name: "nudge",
  summary: "Send an agent an urgent message that wakes it",
  details:
    "Returns at once; the agent reads it in its next turn, which starts now unless one is running. " +
    "Typed by you it also starts an agent at once that waits for its next try after a failure, but not one whose provider named a time.",
  group: "Work",
  arguments: [
    { name: "agent", summary: "Name of the agent", required: true, complete: "liveAgents" },
    { name: "message", summary: "What to tell it (default: to check its mail)", variadic: true },
  ],
  flags: [
    { name: "from", value: "name", summary: "Send the message in this name (operator only)", complete: "agents" },
    { name: "force", summary: "Send it even if another nudge was sent just before" },
  ],
  examples: [{ line: "ov nudge builder-T1 the tests are red", does: "tells one agent" }],
  run: async () => (await import("../commands/agents.ts")).nudge,
};

export const doneCommand: Command = {
  name: "done",
  summary: "Say that your work is done, and have it checked",
  details:
    "For agents. Looks at your worktree, your scope and what your capability has to deliver, runs the quality gates on " +
    "exactly your commit, and only then sends the mail that ends your work, with the evidence. When something is missing " +
    "it says what, sends nothing and exits 5 (2 when only a flag is missing, 4 when a merge is); mend it and run it again " +
    "in the same turn. Calling it again while the gates run waits for the same answer.",
  group: "Work",
  flags: [
    { name: "summary", value: "text", required: true, summary: "What was done, and what to know about it" },
    { name: "learned", value: "text", summary: "Something others should know, kept as a note" },
    { name: "verdict", value: "verdict", choices: ["pass", "fail", "needs_changes"], summary: "A reviewer's verdict" },
    {
      name: "findings",
      value: "text|file",
      summary:
        "What a review found: lines `file:line: severity: text`, each perhaps with `expected: text` below it, `criterion 2: text` for a criterion that is not met, a JSON list, or a file that holds either",
    },
    {
      name: "branch",
      value: "branch",
      complete: "branches",
      summary: "The reviewed branch, if several could be meant",
    },
    { name: "expansion-reason", value: "text", summary: "Why files outside the scope had to change" },
    { name: "no-code", summary: "The task needed no change; of a lead: nothing was to be built" },
    { name: "reason", value: "text", summary: "Why; a lead that hands nothing over must say it with --no-code" },
    { name: "task", value: "id", complete: "tasks", summary: "Your task, to be sure that you mean it" },
    { name: "agent", value: "name", complete: "agents", summary: "The agent whose work is done (operator only)" },
  ],
  examples: [
    { line: 'ov done --summary "Parser accepts quoted commas"', does: "a builder finishes" },
    {
      line: 'ov done --verdict fail --summary "Empty input crashes" --findings "src/parse.ts:12: critical: throws on an empty line"',
      does: "a reviewer sends a branch back",
    },
  ],
  worksWithBrokenConfig: true,
  run: async () => (await import("../commands/done.ts")).done,
};

/** `ov advise`: whether several agents would be faster than one. */
export const adviseCommand: Command = {
  name: "advise",
  summary: "Say whether several agents would be faster than one, and how many",
  details:
    "Judges the open tasks by what they wait for and by the files they name. Every task counts the same, so it says how the work is shaped, not how long it takes.",
  group: "Work",
  examples: [{ line: "ov advise", does: "how many builders the open tasks can keep busy" }],
  run: async () => (await import("../commands/sling.ts")).advise,
};

const snapshot: Argument = {
  name: "snapshot",
  summary: "Name of the snapshot, as the list shows it, or name of an agent for its newest one",
  required: true,
  complete: "snapshots",
};

/** `ov snapshots`: work that is kept though its worktree may be gone. */
export const snapshotsCommand: Command = {
  name: "snapshots",
  summary: "List the snapshots of agents' work, look into them, bring them back",
  details:
    "A snapshot holds commits and uncommitted files of a worktree, as an ordinary git ref below refs/overstory/. It is\ntaken when a turn ends with uncommitted work and before a worktree is removed. `ov recover` brings the newest one back\nwith its agent; `restore` writes it to a directory or a branch and starts nobody.",
  group: "Work",
  commands: [
    {
      name: "list",
      summary: "List snapshots and rescued work, newest first",
      flags: [{ name: "agent", value: "name", summary: "Only those of this agent", complete: "agents" }],
      run: async () => (await import("../commands/snapshots.ts")).list,
    },
    {
      name: "show",
      summary: "Show which files a snapshot holds",
      arguments: [snapshot],
      run: async () => (await import("../commands/snapshots.ts")).show,
    },
    {
      name: "restore",
      summary: "Write the files of a snapshot to a new directory, or make a branch of it",
      arguments: [snapshot],
      flags: [
        { name: "to", value: "dir", summary: "The directory (default: restored-<agent>-... here)", complete: "files" },
        { name: "branch", value: "name", summary: "Make this branch of it" },
      ],
      examples: [
        { line: "ov snapshots restore b1", does: "writes the last snapshot of b1 to a new directory" },
        { line: "ov snapshots restore snap/b1/1/2 --branch b1-again", does: "makes a branch that holds it" },
      ],
      run: async () => (await import("../commands/snapshots.ts")).restore,
    },
  ],
};

/** `ov worktree`: the directories agents work in. */
export const worktreeCommand: Command = {
  name: "worktree",
  summary: "List the worktrees of agents, and remove those that are no longer needed",
  group: "Agents",
  commands: [
    {
      name: "list",
      summary: "List worktrees with their agents",
      run: async () => (await import("../commands/worktree.ts")).list,
    },
    {
      name: "clean",
      summary: "Remove worktrees whose work is not lost with them",
      details:
        "A worktree stays while its agent is live, while it holds uncommitted work, or while its commits landed nowhere;\neach is listed with the reason. With --force such work is first saved under refs/overstory/rescue/ and the\ncommand that brings it back is printed. A live agent's worktree always stays,\nand so does one whose merge waits for your decision; ov release <agent> gives that one up.\nSo does one that git cannot read: it is named with what to type, the others are cleaned, and the exit code is 1.",
      flags: [
        { name: "completed", summary: "Look at worktrees of ended agents only (the default)" },
        { name: "all", summary: "Also list worktrees of live agents, which are kept" },
        { name: "force", summary: "Remove uncommitted and unmerged work too, after saving it" },
      ],
      examples: [
        { line: "ov worktree clean", does: "Removes what has landed" },
        { line: "ov worktree clean --force", does: "Removes all but live agents' worktrees, saving their work first" },
      ],
      run: async () => (await import("../commands/worktree.ts")).clean,
    },
  ],
};
