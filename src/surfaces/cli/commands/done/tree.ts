import type { Command } from "../../command.ts";

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
      summary: "What a review found: lines `file:line: text`, a JSON list, or a file that holds either",
    },
    {
      name: "branch",
      value: "branch",
      complete: "branches",
      summary: "The reviewed branch, if several could be meant",
    },
    { name: "expansion-reason", value: "text", summary: "Why files outside the scope had to change" },
    { name: "no-code", summary: "The task needed no change" },
    { name: "task", value: "id", complete: "tasks", summary: "Your task, to be sure that you mean it" },
    { name: "agent", value: "name", complete: "agents", summary: "For whom the operator speaks" },
  ],
  examples: [
    { line: 'ov done --summary "Parser accepts quoted commas"', does: "a builder finishes" },
    {
      line: 'ov done --verdict fail --summary "Empty input crashes" --findings "src/parse.ts:12: throws on an empty line"',
      does: "a reviewer sends a branch back",
    },
  ],
  run: async () => (await import("../done.ts")).done,
};
