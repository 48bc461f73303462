import type { FailureMode, RoleSpec } from "../role-spec.ts";
import { toolsOf } from "../roles.ts";
import { bullets, codes, numbered, paragraphs } from "./words.ts";

/** The part of a prompt that follows from the role itself; a role text never repeats it. */
export function roleFacts(role: RoleSpec, options: { readonly expertise: boolean }): string {
  return paragraphs([
    "## Phases",
    numbered(role.phases.map(({ name, does }) => `**${name}**: ${does}.`)),
    "## Rights",
    bullets(rights(role)),
    "## Mail types",
    bullets(mail(role)),
    "## Tools",
    `When your program offers the tools of the server \`overstory\`, use them instead of typing commands; they know who you are: ${codes(toolsOf(role, options))}.`,
    "## Mistakes to recognise",
    "When you notice one of these, stop and put it right.",
    bullets(role.failures.map(failureLine)),
  ]);
}

function rights({ access, spawns }: RoleSpec): readonly string[] {
  return [
    access.files === "read-only"
      ? "Files: read everything, change nothing."
      : "Files: read everything, change only what you own inside your worktree.",
    access.commits
      ? "Git: commit on your own branch; never push, never switch to another branch."
      : "Git: look only (log, show, diff, blame).",
    access.gates ? "Quality gates: run them." : "Quality gates: leave them to those who build and review.",
    spawns.length === 0 ? "Agents: start none." : `Agents: you may sling ${codes(spawns)}.`,
    access.files === "read-only"
      ? "Shell: programs that only look, written out so that one can see what they do."
      : "Shell: write programs and paths out; code for an interpreter goes into a file, not onto the command line.",
    "A guard sees each tool call before it runs and says why it denies one. Do not try the same in other words.",
  ];
}

function mail({ sends, awaits, terminal }: RoleSpec): readonly string[] {
  return [
    `You may send: ${codes(sends)}.`,
    `Expect: ${codes(awaits)}.`,
    terminal.length === 0
      ? "Nothing you send ends you: you go on until you are stopped."
      : `Your work ends with ${codes(terminal)}, which the completion step sends for you.`,
  ];
}

/** One line about a mistake and what becomes of it. */
export const failureLine = ({ name, means, enforcedBy, how }: FailureMode): string =>
  `**${name}**: ${means}. ${enforcedBy === "advisory" ? "Instead" : enforcer[enforcedBy]}: ${how}.`;

const enforcer = {
  rule: "Refused",
  guard: "Denied",
  finish: "Checked at the end",
  engine: "Watched",
  queue: "Caught by the queue",
} as const;
