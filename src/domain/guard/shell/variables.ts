import { operands, operandsBeside, valuesOf } from "./options.ts";
import { type ShellWord, unknownWord } from "./tree.ts";

type Names = (args: readonly ShellWord[]) => readonly ShellWord[];

const assigned: Names = (args) => {
  // A variable that is another name for one that nobody can tell here.
  if (args.some(({ text }) => /^[-+]\w*n/.test(text))) return [unknownWord];
  return operands(args)
    .filter(({ text, dynamic }) => dynamic || text.includes("="))
    .map((word) => ({ ...word, text: word.text.split(/\+?=/)[0] ?? "" }));
};

const setters: Readonly<Record<string, Names>> = {
  read: (args) => [...operandsBeside(args, ["-d", "-i", "-n", "-N", "-p", "-t", "-u"]), ...valuesOf(args, "-a")],
  mapfile: (args) => operandsBeside(args, ["-d", "-n", "-O", "-s", "-u", "-c"]),
  readarray: (args) => operandsBeside(args, ["-d", "-n", "-O", "-s", "-u", "-c"]),
  printf: (args) => (args[0]?.text.startsWith("-v") === true ? valuesOf(args.slice(0, 2), "-v") : []),
  getopts: (args) => operands(args).slice(1, 2),
  unset: operands,
  let: (args) => args.map((word) => ({ ...word, text: /^\s*(\w+)[^$`]*$/.exec(word.text)?.[1] ?? word.text })),
  export: assigned,
  readonly: assigned,
  declare: assigned,
  typeset: assigned,
  local: assigned,
};

/** The variables that a builtin of the shell sets by its words, beside assignments that are written as such. */
export const variablesSet = (name: string, args: readonly ShellWord[]): readonly ShellWord[] =>
  (Object.hasOwn(setters, name) ? setters[name]?.(args) : undefined) ?? [];
