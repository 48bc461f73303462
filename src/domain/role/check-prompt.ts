import { isMailType } from "../mail/types.ts";
import { placeholdersIn } from "./render/placeholders.ts";
import { promptBudget } from "./render/prompt.ts";
import type { RoleSpec } from "./role-spec.ts";

export const promptProblems = [
  "unknown-command",
  "not-its-command",
  "not-its-mail",
  "placeholder",
  "too-long",
] as const;

/** Something a text asks of an agent that the program would refuse. */
export interface PromptProblem {
  readonly kind: (typeof promptProblems)[number];
  /** What stands in the text. */
  readonly found: string;
  readonly why: string;
}

/** Answers why the command line cannot be run, or undefined when it can. */
export type Parses = (words: readonly string[]) => string | undefined;

/** Everything in the text that does not agree with the command line and the rules of this role. */
export function checkPrompt(role: RoleSpec, text: string, parses: Parses): readonly PromptProblem[] {
  return [...checkCommands(role, text, parses), ...checkMail(role, text), ...checkPlaceholders(text)];
}

/** The same for the prompt of a role without an assignment, which also has a limit of size. */
export function checkRolePrompt(role: RoleSpec, text: string, parses: Parses): readonly PromptProblem[] {
  const bytes = new TextEncoder().encode(text).length;
  const why = `it takes ${bytes} bytes of ${promptBudget}`;
  const long: readonly PromptProblem[] =
    bytes <= promptBudget ? [] : [{ kind: "too-long", found: role.capability, why }];
  return [...checkPrompt(role, text, parses), ...long];
}

function checkCommands(role: RoleSpec, text: string, parses: Parses): readonly PromptProblem[] {
  return commandLines(text).flatMap((words): readonly PromptProblem[] => {
    const found = `ov ${words.join(" ")}`;
    const why = parses(words);
    if (why !== undefined) return [{ kind: "unknown-command", found, why }];
    const mine = role.commands.some((command) => command === words.slice(0, command.split(" ").length).join(" "));
    const notMine = `a ${role.capability} does not have this command`;
    return mine ? [] : [{ kind: "not-its-command", found, why: notMine }];
  });
}

/** A type in a code span may arrive or be sent; one after `--type` must be the role's own to send. */
function checkMail(role: RoleSpec, text: string): readonly PromptProblem[] {
  const named = [...text.matchAll(/`([a-z_]+)`/g)].map(([, word = ""]) => word).filter(isMailType);
  const sent = commandLines(text).flatMap((words) => {
    const type = words[words.indexOf("--type") + 1];
    return words[0] === "mail" && words.includes("--type") && type !== undefined ? [type] : [];
  });
  const strange = named.filter((type) => !role.sends.includes(type) && !role.awaits.includes(type));
  const forbidden = sent.filter((type) => !isMailType(type) || !role.sends.includes(type));
  return [
    ...strange.map((found) => problem(found, `a ${role.capability} neither sends nor expects it`)),
    ...forbidden.map((found) => problem(found, `a ${role.capability} may not send it`)),
  ];
}

const problem = (found: string, why: string): PromptProblem => ({ kind: "not-its-mail", found, why });

const checkPlaceholders = (text: string): readonly PromptProblem[] =>
  placeholdersIn(text).map((name) => ({ kind: "placeholder", found: `{{${name}}}`, why: "it was left unfilled" }));

/**
 * Every `ov ...` that a text tells its reader to type, as words: in a code span, or as a line of a code block. What
 * others wrote stands indented in our texts and is not looked at.
 */
export function commandLines(text: string): readonly (readonly string[])[] {
  const found: string[] = [];
  let inBlock = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) inBlock = !inBlock;
    else if (inBlock) found.push(...(line.startsWith("ov ") ? [line.replace(/\s+#.*$/, "")] : []));
    else if (!line.startsWith("    ")) found.push(...[...line.matchAll(/`(ov [^`]+)`/g)].map(([, span = ""]) => span));
  }
  return found.map((line) => wordsOf(line).slice(1));
}

/** The words of a line as a shell would read them, placeholders such as `<task-id>` included. */
function wordsOf(line: string): readonly string[] {
  return [...line.trim().matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}
