import { hookEvents } from "../../../../domain/hook/hook.ts";
import type { Command } from "../../command.ts";

/** `ov hook`: what the entries of `ov hooks install` call, one process per event. */
export const hookCommand: Command = {
  name: "hook",
  summary: "Answer a hook of a coding agent: guard, record, hand over mail",
  details:
    "Reads the hook's JSON from standard input and answers in the form the coding agent expects. `pre-tool` exits 2 to " +
    "deny the use of a tool; `stop` hands over mail that should wake the reader. To be called by hooks only.",
  group: "Watch",
  forPrograms: true,
  arguments: [{ name: "event", summary: "What happened", required: true, choices: hookEvents }],
  flags: [
    {
      name: "rules",
      value: "file",
      complete: "files",
      summary: "Guard by the rules in this file, and do nothing else: for the turns of agents",
    },
    {
      name: "digest",
      value: "sha256",
      summary: "Deny everything unless the agent's rules are exactly these",
    },
  ],
  run: async () => (await import("../hook.ts")).hook,
};
