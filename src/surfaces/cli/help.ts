import type { Command, Paint } from "./command.ts";
import { globalFlags } from "./globals.ts";
import {
  argumentTerm,
  argumentText,
  commandText,
  entry,
  flagTerm,
  flagText,
  shownCommands,
  shownFlags,
  usageLine,
  wrap,
} from "./layout.ts";

export interface HelpRequest {
  readonly tree: Command;
  readonly command: Command;
  readonly path: readonly string[];
  readonly version: string;
  readonly width: number;
  readonly paint: Paint;
}

/** Help for a person: the whole program for the root, otherwise one command. */
export function renderHelp(request: HelpRequest): string {
  const sections = request.path.length === 0 ? rootSections(request) : commandSections(request);
  return sections.filter((section) => section !== "").join("\n\n");
}

function rootSections({ tree, version, width, paint }: HelpRequest): string[] {
  return [
    `${paint.bold(paint.brand(`${tree.name} ${version}`))}\n${wrap(tree.summary, { width, first: 0, indent: 0 })}`,
    `Usage: ${usageLine(tree.name, [], tree)}`,
    ...byGroup(tree).map(([title, commands]) => section(title, commandEntries(commands, { width, paint }), paint)),
    section("Flags", flagEntries([...shownFlags(tree), ...globalFlags], { width, paint }), paint),
    examples(tree, { width, paint }),
    `Run ${paint.accent(`${tree.name} <command> --help`)} for one command, ${paint.accent(`${tree.name} help --json`)} for all of them as data.`,
  ];
}

function commandSections({ tree, command, path, width, paint }: HelpRequest): string[] {
  const full = [tree.name, ...path].join(" ");
  const children = shownCommands(command);
  return [
    `${paint.bold(paint.brand(full))}\n${wrap(commandText(command), { width, first: 0, indent: 0 })}`,
    `Usage: ${usageLine(tree.name, path, command)}`,
    paragraphs(command.details ?? "", width),
    section("Commands", commandEntries(children, { width, paint }), paint),
    section("Arguments", argumentEntries(command, { width, paint }), paint),
    section("Flags", flagEntries(shownFlags(command), { width, paint }), paint),
    examples(command, { width, paint }),
    children.length === 0
      ? `Global flags: ${tree.name} --help`
      : `Run ${paint.accent(`${full} <command> --help`)} for one command. Global flags: ${tree.name} --help`,
  ];
}

interface Look {
  readonly width: number;
  readonly paint: Paint;
}

/** Commands under their headings, in the order the headings first appear; those without one come last. */
function byGroup(tree: Command): [string, Command[]][] {
  const groups = new Map<string, Command[]>();
  const rest: Command[] = [];
  for (const command of shownCommands(tree)) {
    // Still there for older scripts, each with its own help.
    if (command.deprecated !== undefined || command.forPrograms === true) continue;
    if (command.group === undefined) rest.push(command);
    else groups.set(command.group, [...(groups.get(command.group) ?? []), command]);
  }
  const grouped = [...groups];
  return rest.length === 0 ? grouped : [...grouped, [grouped.length === 0 ? "Commands" : "Other commands", rest]];
}

const section = (title: string, entries: readonly string[], paint: Paint): string =>
  entries.length === 0 ? "" : `${paint.bold(`${title}:`)}\n${entries.join("\n")}`;

const commandEntries = (commands: readonly Command[], { width, paint }: Look): string[] =>
  commands.map((command) =>
    entry({ name: command.name, painted: paint.accent(command.name), text: commandText(command), width }),
  );

const argumentEntries = (command: Command, { width, paint }: Look): string[] =>
  (command.arguments ?? []).map((argument) => {
    const name = argumentTerm(argument);
    return entry({ name, painted: paint.accent(name), text: argumentText(argument), width });
  });

const flagEntries = (flags: Command["flags"] & {}, { width, paint }: Look): string[] =>
  flags.map((flag) => {
    const name = flagTerm(flag);
    return entry({ name, painted: paint.accent(name), text: flagText(flag), width });
  });

function examples(command: Command, { width, paint }: Look): string {
  const lines = (command.examples ?? []).map(
    ({ line, does }) => `  ${line}\n    ${paint.dim(wrap(does, { width, first: 4, indent: 4 }))}`,
  );
  return section("Examples", lines, paint);
}

const paragraphs = (text: string, width: number): string =>
  text
    .split("\n")
    .map((line) => wrap(line, { width, first: 0, indent: 0 }))
    .join("\n");
