import type { GuardRule } from "./tool-use.ts";

/** The meaning of each rule and what to do instead: for an agent or a person that asks why a command was denied. */
export const ruleWords: Readonly<Record<GuardRule, { readonly means: string; readonly instead: string }>> = {
  unreadable: {
    means: "The guard was not told enough to decide, or its rules could not be read. Then everything is denied.",
    instead:
      "End the turn; the next one gets its rules anew. If it happens again, the operator should look at the agent.",
  },
  "team-tools": {
    means:
      "Agents that a program starts by itself are known to nobody: no budget, no worktree and no review is theirs.",
    instead: "Delegate with ov sling where the role may, or ask the parent for more hands.",
  },
  "person-tools": {
    means: "The tool waits for a person, and none sits in front of an agent.",
    instead: "Ask by mail: the parent for facts, the operator for decisions.",
  },
  "unknown-tool": {
    means: "Nobody knows what the tool changes.",
    instead: "Use the tools for files and the shell.",
  },
  "read-only": {
    means: "The role looks and reports; it changes nothing but files to throw away.",
    instead: "Report what should change and who owns it. Files to throw away go below $OVERSTORY_SCRATCH.",
  },
  boundary: {
    means:
      "An agent changes its own worktree and the directory for temporary files, nothing else. A program that is not known to only read may change any path that it is given.",
    instead: "Work on a copy in the worktree, or ask the parent for what lies outside.",
  },
  "guard-files": {
    means: "The file steers agents, guards them, or belongs to git. Whoever could change it would have no rules.",
    instead: "Report what should change there; the operator decides.",
  },
  syntax: {
    means: "The text is no shell command that can be read to its end.",
    instead: "Write it plainly, in several commands if need be.",
  },
  dynamic: {
    means: "What the command does is known only once it runs.",
    instead: "Write program, words and paths out. Patterns such as src/*.ts may stand for several files.",
  },
  "opaque-code": {
    means: "Code on a command line, or from the input, cannot be looked at before it runs.",
    instead: "Write it into a file of the worktree and run that, or run the commands one by one.",
  },
  variables: {
    means: "The variable decides what other programs do.",
    instead: "Leave it as it is, or use an option of the program.",
  },
  "git-push": {
    means: "Branches leave this machine by the operator alone.",
    instead: "Commit, then finish with ov done; the merge queue lands the branch.",
  },
  "git-discard": {
    means: "It throws work away that nobody could bring back.",
    instead: "Take a change back file by file: git show HEAD:<file> > <file>.",
  },
  "git-branch": {
    means: "An agent stays on its own branch.",
    instead: "Branches of its own are called overstory/<agent>/<name>.",
  },
  "git-merge": {
    means: "The merge queue joins branches, and tests what comes of it.",
    instead: "Finish with ov done, or ask the parent when the work cannot go on without a merge.",
  },
  "git-shared": {
    means: "Refs, settings, the stash and worktrees are shared by everybody in the project.",
    instead: "Commit on the own branch; for one call alone: git -c <name>=<value>.",
  },
  "git-elsewhere": {
    means: "Git would work in another worktree or repository.",
    instead: "Name the own worktree plainly, or leave the option out.",
  },
  "git-unknown": {
    means: "It is no command of git that agents have.",
    instead: "Write out what an alias stands for.",
  },
  publish: {
    means: "It would send something away from this machine.",
    instead: "Report that it is ready; the operator sends it.",
  },
  tracker: {
    means: "A task of somebody else is theirs to close.",
    instead: "Close only the own task.",
  },
  removal: {
    means:
      "It would remove a whole tree that others, or the agent itself, need: worktree, project, home or temporary files.",
    instead: "Name what is to go, below it. In the whole worktree find needs a name: find . -name '*.orig' -delete.",
  },
  identity: {
    means: "Variables that begin with OVERSTORY_ say who an agent is and where its project is.",
    instead: "Call ov as it is, without env -i, env -u or an assignment before it.",
  },
  "ov-rights": {
    means: "The role has no such command of ov.",
    instead: "Ask whoever may by mail; docs/roles.md lists the commands of each role.",
  },
  database: {
    means: "The database holds mail, tasks and tokens of everybody. Only ov reads and writes it.",
    instead: "Use ov status, ov mail, ov task and ov logs.",
  },
  machine: {
    means: "It concerns the whole machine, not the project.",
    instead: "Leave it to the operator; report what is needed and why.",
  },
  secrets: {
    means: "The file holds keys, logins or variables of others. No task of an agent needs to read them.",
    instead: "Report what they would be needed for; the operator decides. Files of the worktree may be read.",
  },
};
