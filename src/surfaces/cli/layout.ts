import type { Argument, Command, Flag } from "./command.ts";
import { isGlobalFlag } from "./globals.ts";

const nameField = 20;

/** A name in a field of 20 columns and its meaning beside it, wrapped under itself; a longer name gets two spaces. */
export function entry(options: { name: string; text: string; width: number; painted?: string }): string {
  const { name, text, width, painted = name } = options;
  const gap = name.length < nameField ? nameField - name.length : 2;
  const indent = 2 + nameField;
  const lines = wrap(text, { width, first: 2 + name.length + gap, indent });
  return `  ${painted}${lines === "" ? "" : " ".repeat(gap) + lines}`;
}

/** Words broken into lines no wider than `width`; `first` columns of the first line are taken already. */
export function wrap(text: string, { width, first, indent }: { width: number; first: number; indent: number }): string {
  const room = Math.max(20, Math.min(width, 100) - indent);
  const lines: string[] = [];
  let current = "";
  let left = Math.max(1, room - Math.max(0, first - indent));
  for (const word of text.split(" ")) {
    if (current !== "" && current.length + 1 + word.length > left) {
      lines.push(current);
      current = word;
      left = room;
    } else current = current === "" ? word : `${current} ${word}`;
  }
  lines.push(current);
  return lines.join(`\n${" ".repeat(indent)}`);
}

/**
 * Lines of a page broken at spaces where they are wider than a terminal. What goes on keeps the indent and the bar of its
 * line, so that text of others stays behind its bar. Colours take no room.
 */
export const wrapLines = (text: string, width: number): string =>
  text
    .split("\n")
    .map((line) => (Bun.stringWidth(line) <= width ? line : broken(line, width)))
    .join("\n");

function broken(line: string, width: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  const [, start = "", bar = ""] = /^((?:\u001b\[[\d;]*m)* *)(\| ?)?/.exec(line) ?? [];
  const lead = `${" ".repeat(Bun.stringWidth(start))}${bar === "" ? "  " : bar}`;
  const room = Math.max(20, width - lead.length);
  const lines: string[] = [];
  let current = start + bar;
  let isEmpty = true;
  let left = width - Bun.stringWidth(current);
  for (const word of line.slice(start.length + bar.length).split(" ")) {
    const size = Bun.stringWidth(word);
    if (!isEmpty && size + 1 > left) {
      lines.push(current);
      current = lead + word;
      left = room - size;
    } else {
      current += isEmpty ? word : ` ${word}`;
      left -= isEmpty ? size : size + 1;
    }
    isEmpty = false;
  }
  return [...lines, current].join("\n");
}

/** How a command is typed: `ov mail send <words...> [flags]`. */
export function usageLine(program: string, path: readonly string[], command: Command): string {
  const parts = [program, ...path];
  if (shownCommands(command).length > 0) parts.push(command.run === undefined ? "<command>" : "[command]");
  for (const argument of command.arguments ?? []) parts.push(argumentTerm(argument));
  for (const { required, name, value } of shownFlags(command)) {
    if (required === true) parts.push(value === undefined ? `--${name}` : `--${name} <${value}>`);
  }
  return [...parts, "[flags]"].join(" ");
}

/** `<id>`, `[id]`, `<id...>`. */
export function argumentTerm({ name, required, variadic }: Argument): string {
  const inner = variadic === true ? `${name}...` : name;
  return required === true ? `<${inner}>` : `[${inner}]`;
}

/** `-s, --long <value>` with every form that may be typed. */
export function flagTerm({ name, short, value, optionalValue, negatable }: Flag): string {
  const long = negatable === true ? `--[no-]${name}` : `--${name}`;
  const suffix = value !== undefined ? ` <${value}>` : optionalValue !== undefined ? `[=${optionalValue}]` : "";
  return `${short === undefined ? "" : `-${short}, `}${long}${suffix}`;
}

/** The summary with what else must be known: choices, smallest value, whether it is needed or no longer wanted. */
export function flagText(flag: Flag): string {
  const notes: string[] = [];
  if (flag.required === true) notes.push("required");
  if (flag.choices !== undefined) notes.push(flag.choices.join(", "));
  if (flag.type === "list") notes.push("comma separated, may be repeated");
  if (flag.type === "texts") notes.push("may be repeated");
  if (flag.min !== undefined) notes.push(`at least ${flag.min}`);
  if (flag.deprecated !== undefined) notes.push(`deprecated: ${flag.deprecated}`);
  return notes.length === 0 ? flag.summary : `${flag.summary} (${notes.join("; ")})`;
}

export const argumentText = ({ summary, choices }: Argument): string =>
  choices === undefined ? summary : `${summary} (${choices.join(", ")})`;

export const commandText = ({ summary, deprecated }: Command): string =>
  deprecated === undefined ? summary : `${summary} (deprecated: ${deprecated})`;

/** What help, docs and completions may show. */
export const shownCommands = (command: Command): readonly Command[] =>
  (command.commands ?? []).filter((child) => child.hidden !== true);

export const shownFlags = (command: Command): readonly Flag[] =>
  (command.flags ?? []).filter((flag) => flag.hidden !== true && !isGlobalFlag(flag.name));
