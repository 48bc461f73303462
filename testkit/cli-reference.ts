import type { Command, Flag } from "../src/surfaces/cli/command.ts";
import { globalFlags } from "../src/surfaces/cli/globals.ts";
import {
  argumentTerm,
  argumentText,
  flagTerm,
  flagText,
  shownCommands,
  shownFlags,
  usageLine,
} from "../src/surfaces/cli/layout.ts";
import { exitMeanings } from "../src/surfaces/shared/exits.ts";

/** The page `docs/cli.md`: the whole tree in Markdown. The same tree always gives the same text. */
export function renderDocs(tree: Command): string {
  const sections = [
    "# Command line",
    "This page is generated from the command tree; change the tree, not the page.",
    tree.summary,
    "## Global flags",
    "Every command takes these, in any position.",
    table(["Flag", "Meaning"], globalFlags.map(flagRow)),
    "## Exit codes",
    table(
      ["Code", "Meaning"],
      Object.entries(exitMeanings).map(([code, meaning]) => [code, meaning]),
    ),
    hookExits(tree),
    "## Commands",
    shownCommands(tree)
      .map((command) => index(tree, command))
      .join("\n"),
    ...shownCommands(tree).flatMap((command) => commandSections(tree, command, [command.name])),
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

/** Commands whose exit code for wrong usage is another one, because hooks call them. */
function hookExits(tree: Command): string {
  const under = (command: Command, path: readonly string[]): readonly string[] => [
    ...(command.inHooks === true ? [`\`${path.join(" ")}\``] : []),
    ...(command.commands ?? []).flatMap((child) => under(child, [...path, child.name])),
  ];
  return `${under(tree, [tree.name]).join(", ")} end with 1 instead of 2. Coding agents call them as hooks, where 2 forbids a tool or a prompt, and settings that an earlier version wrote may have flags that are unknown now.`;
}

const index = (tree: Command, { name, summary }: Command): string =>
  `- [\`${tree.name} ${name}\`](#${anchor([tree.name, name])}): ${prose(summary)}`;

/** The way a Markdown viewer names the heading of a command: its words joined by dashes. */
const anchor = (words: readonly string[]): string => words.join("-").toLowerCase();

function commandSections(tree: Command, command: Command, path: readonly string[]): string[] {
  const heading = "#".repeat(Math.min(6, path.length + 2));
  const { arguments: args = [], examples = [] } = command;
  return [
    `${heading} ${tree.name} ${path.join(" ")}`,
    command.deprecated === undefined ? "" : `**Deprecated**: ${prose(command.deprecated)}`,
    prose(command.summary),
    `\`\`\`text\n${usageLine(tree.name, path, command)}\n\`\`\``,
    command.details === undefined ? "" : prose(command.details),
    args.length === 0
      ? ""
      : table(
          ["Argument", "Meaning"],
          args.map((argument) => [code(argumentTerm(argument)), prose(argumentText(argument))]),
        ),
    shownFlags(command).length === 0 ? "" : table(["Flag", "Meaning"], shownFlags(command).map(flagRow)),
    examples.length === 0
      ? ""
      : `\`\`\`sh\n${examples.map(({ line, does }) => `# ${does}\n${line}`).join("\n\n")}\n\`\`\``,
    ...shownCommands(command).flatMap((child) => commandSections(tree, child, [...path, child.name])),
  ];
}

const flagRow = (flag: Flag): string[] => [code(flagTerm(flag)), prose(flagText(flag))];

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n");
}

const code = (text: string): string => `\`${text}\``;

/** A placeholder such as <id> outside of code would vanish as an unknown HTML tag. */
const prose = (text: string): string =>
  text
    .split("`")
    .map((part, i) => (i % 2 === 0 ? part.replaceAll("<", "&lt;") : part))
    .join("`");
