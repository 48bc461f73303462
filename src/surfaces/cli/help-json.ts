import { exitMeanings } from "../shared/exits.ts";
import type { Argument, Command, Flag } from "./command.ts";
import { globalFlags } from "./globals.ts";
import { shownCommands, shownFlags } from "./layout.ts";

/** The tree from one command down as data, for tools that want to know what can be typed. Hidden things are left out. */
export function helpData({ command, path, version }: { command: Command; path: readonly string[]; version: string }) {
  return {
    version,
    globalFlags: globalFlags.map(flagData),
    exitCodes: exitMeanings,
    tree: commandData(command, path),
  };
}

interface CommandData {
  readonly name: string;
  readonly path: string;
  readonly summary: string;
  readonly details?: string;
  readonly group?: string;
  readonly deprecated?: string;
  readonly runnable: boolean;
  readonly arguments: readonly Argument[];
  readonly flags: readonly object[];
  readonly examples: NonNullable<Command["examples"]>;
  readonly commands: readonly CommandData[];
}

function commandData(command: Command, path: readonly string[]): CommandData {
  const { name, summary, details, group, deprecated } = command;
  return {
    name,
    path: path.join(" "),
    summary,
    ...(details === undefined ? {} : { details }),
    ...(group === undefined ? {} : { group }),
    ...(deprecated === undefined ? {} : { deprecated }),
    runnable: command.run !== undefined,
    arguments: command.arguments ?? [],
    flags: shownFlags(command).map(flagData),
    examples: command.examples ?? [],
    commands: shownCommands(command).map((child) => commandData(child, [...path, child.name])),
  };
}

/** Every flag says its type, so a reader needs no knowledge of our defaults. */
const flagData = (flag: Flag): object => ({
  ...flag,
  type: flag.value === undefined && flag.optionalValue === undefined ? "switch" : (flag.type ?? "text"),
});
