import { quotedShellWord } from "../../../domain/text/shell-word.ts";
import type { Argument, Command, Flag, Source } from "../command.ts";
import { globalFlags } from "../globals.ts";
import { shownCommands, shownFlags } from "../layout.ts";

/** One place in the tree where a shell may ask what comes next. */
export interface Spot {
  /** Words after the program's name, joined by spaces; empty for the root. */
  readonly at: string;
  readonly commands: readonly Command[];
  /** Own flags, without the global ones. */
  readonly flags: readonly Flag[];
  readonly arguments: readonly Argument[];
}

/** Every visible place of the tree, parents before children. */
export function spotsOf(command: Command, path: readonly string[] = []): Spot[] {
  const commands = shownCommands(command);
  const own = { at: path.join(" "), commands, flags: shownFlags(command), arguments: command.arguments ?? [] };
  return [own, ...commands.flatMap((child) => spotsOf(child, [...path, child.name]))];
}

/** Everything that can be typed for a flag: its short form, its long form, and its negation. */
export const spellings = ({ name, short, negatable }: Flag): string[] => [
  ...(short === undefined ? [] : [`-${short}`]),
  `--${name}`,
  ...(negatable === true ? [`--no-${name}`] : []),
];

/** How the values of a flag or argument are found. `free`: the shell offers nothing. */
export type Values =
  | { readonly from: "words"; readonly words: readonly string[] }
  | { readonly from: "files" }
  | { readonly from: "program"; readonly source: Source }
  | { readonly from: "free" };

export function valuesOf({ choices, complete }: Pick<Flag | Argument, "choices" | "complete">): Values {
  if (choices !== undefined) return { from: "words", words: choices };
  if (complete === undefined) return { from: "free" };
  return complete === "files" ? { from: "files" } : { from: "program", source: complete };
}

/** The flags after which a word is a value, with the place they belong to; `undefined` for those of every place. */
export function valueFlags(spots: readonly Spot[]): { readonly at: string | undefined; readonly flag: Flag }[] {
  return [
    ...globalFlags.map((flag) => ({ at: undefined, flag })),
    ...spots.flatMap(({ at, flags }) => flags.map((flag) => ({ at, flag }))),
  ].filter(({ flag }) => flag.value !== undefined);
}

/** The cases of a script for the arguments of a command. A variadic one matches every later position too, and comes last. */
export const argumentLines = ({ at, arguments: args }: Spot, offer: (values: Values) => string): string[] =>
  args.map((argument, i) => {
    const place = argument.variadic === true ? `${quotedShellWord(`${at}:`)}*` : quotedShellWord(`${at}:${i}`);
    return `    ${place}) ${offer(valuesOf(argument))} ;;`;
  });
