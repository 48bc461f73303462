import { no, ok, type Result } from "../../result.ts";
import type { ProjectTerms } from "../assignment.ts";
import type { FailureMode } from "../failures.ts";
import type { RoleSpec } from "../role-spec.ts";
import { bullets, codes, numbered, paragraphs } from "./markdown.ts";
import { fill } from "./placeholders.ts";

/** Largest prompt of a role, in bytes: how commands are written belongs into tool schemas and `--help`, not in here. */
export const promptBudget = 8 * 1024;

/** How an agent of this role works: the role's own text, then what follows from its rules. Refuses unknown placeholders. */
export function renderPrompt(
  role: RoleSpec,
  text: string,
  terms: ProjectTerms,
): Result<string, { readonly unknown: readonly string[] }> {
  const filled = fill(text, terms);
  if (!filled.ok) return no({ unknown: filled.refusal });
  const title = `${role.capability.charAt(0).toUpperCase()}${role.capability.slice(1)}`;
  return ok(`# ${title}\n\nYou are ${role.job}.\n\n${filled.value.trim()}\n\n${roleFacts(role)}`);
}

/** The part of a prompt that follows from the role itself; a role text never repeats it. */
function roleFacts(role: RoleSpec): string {
  return paragraphs([
    "## Phases",
    numbered(role.phases.map(({ name, does }) => `**${name}**: ${does}.`)),
    "## Rights",
    bullets(rights(role)),
    "## Mail types",
    bullets(mail(role)),
    "## Tools",
    // Their names and what each takes stand in the list that the program itself gets.
    "When your program offers the tools of the server `overstory`, use them instead of typing the same command; they know who you are. For everything else type the command.",
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

function mail({ sends, terminal }: RoleSpec): readonly string[] {
  return [
    `You may send: ${codes(sends)}.`,
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
