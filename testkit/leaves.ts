import type { Argument, Command, Flag, Source } from "../src/surfaces/cli/command.ts";
import { tree } from "../src/surfaces/cli/tree.ts";

/** A command that can be run, with the words that lead to it. */
export interface Leaf {
  readonly path: readonly string[];
  readonly command: Command;
}

/** Every command of the real tree that has a handler, hidden ones included. */
export function leaves(command: Command = tree, path: readonly string[] = []): Leaf[] {
  const below = (command.commands ?? []).flatMap((child) => leaves(child, [...path, child.name]));
  return command.run === undefined ? below : [{ path, command }, ...below];
}

/** A value of each kind that the tree asks for. */
export type Samples = Readonly<Partial<Record<Source, string>>>;

/** The shortest line that the tree accepts for a command: what it requires, and nothing else. */
export function shortestLine({ path, command }: Leaf, samples: Samples): string[] {
  const words = (command.arguments ?? []).filter(({ required }) => required === true);
  const flags = (command.flags ?? []).filter(({ required }) => required === true);
  return [
    ...path,
    ...words.map((argument) => sampleOf(argument, samples)),
    ...flags.flatMap((flag) => [`--${flag.name}`, ...(flag.value === undefined ? [] : [sampleOf(flag, samples)])]),
  ];
}

function sampleOf(item: Argument | Flag, samples: Samples): string {
  const [choice] = item.choices ?? [];
  if (choice !== undefined) return choice;
  if ("type" in item && item.type === "integer") return String(item.min ?? 1);
  if ("type" in item && item.type === "json") return "{}";
  return (item.complete === undefined ? undefined : samples[item.complete]) ?? "1";
}
