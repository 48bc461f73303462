import type { Command } from "../../command.ts";

/** `ov decide`: a person's answer to what only a person can answer. */
export const decideCommand: Command = {
  name: "decide",
  summary: "Make a decision that an agent or the merge queue waits for",
  details:
    "Whoever asked gets the decision as mail and goes on. For a branch that waits to land the options are approve and reject; reject needs a note.",
  group: "Operate",
  arguments: [
    {
      name: "id",
      summary: "Id of the decision, or merge:<number>; see ov inbox",
      required: true,
      complete: "messages",
    },
    { name: "option", summary: "One of the options, or its number", required: true },
  ],
  flags: [{ name: "note", value: "text", summary: "Why, or what to mind; a rejected branch goes back with it" }],
  examples: [
    { line: 'ov decide msg-7f3a "Use Postgres" --note "we run it already"', does: "answers an agent" },
    { line: "ov decide merge:12 approve", does: "lets a branch land" },
  ],
  run: async () => (await import("../decide.ts")).decide,
};
