import { sedTargets } from "./sed-and-awk.ts";
import { isOption, literal, operands, type ShellWord, valuesOf } from "./shell/syntax.ts";
import { findRoots } from "./shell/wrappers.ts";

type Targets = (args: readonly ShellWord[]) => readonly ShellWord[];

/** Everything that could be a path: words, and what is glued to an option. */
const everything: Targets = (args) => [...operands(args), ...glued(args)];

const glued: Targets = (args) =>
  args.filter(isOption).flatMap((word) => {
    const value = /^(?:--[a-z-]+=|-[A-Za-z](?=[/.~]))(.+)$/.exec(word.text)?.[1];
    return value === undefined ? [] : [{ ...word, text: value }];
  });

/** Copies read from anywhere; they write to the last of their words, or where an option says. */
const destination: Targets = (args) => {
  const told = valuesOf(args, "-t", "--target-directory");
  return told.length > 0 ? told : operands(args).slice(-1);
};

/** The first word says how, the others on what. */
const afterFirst: Targets = (args) => [...operands(args).slice(1), ...glued(args)];

const options =
  (...names: readonly string[]): Targets =>
  (args) =>
    valuesOf(args, ...names);

const targets: Readonly<Record<string, Targets>> = {
  rm: everything,
  rmdir: everything,
  unlink: everything,
  shred: everything,
  mkdir: everything,
  mkfifo: everything,
  touch: everything,
  truncate: everything,
  tee: everything,
  mv: everything,
  ln: everything,
  cp: destination,
  install: destination,
  rsync: destination,
  scp: destination,
  chmod: afterFirst,
  chown: afterFirst,
  chgrp: afterFirst,
  dd: (args) =>
    args.filter(({ text }) => text.startsWith("of=")).map((word) => ({ ...word, text: word.text.slice(3) })),
  sed: sedTargets,
  find: (args) => [
    ...(args.some(({ text }) => text === "-delete") ? findRoots(args) : []),
    ...valuesOf(args, "-fprint", "-fprint0", "-fprintf", "-fls"),
  ],
  sort: options("-o", "--output"),
  patch: everything,
  tar: everything,
  unzip: options("-d"),
  curl: options("-o", "--output", "--output-dir", "-D", "-c"),
  wget: options("-O", "--output-document", "-P", "--directory-prefix", "-o"),
  split: afterFirst,
  ed: everything,
  ex: everything,
  vi: everything,
  vim: everything,
  nano: everything,
  // Writes below the directory it is called in.
  make: (args) => valuesOf(args, "-C", "--directory"),
  npm: (args) => valuesOf(args, "--prefix", "-C"),
};

/** What this program, called so, would write to, delete or move. */
export const targetsOf = (name: string, args: readonly ShellWord[]): readonly ShellWord[] =>
  (Object.hasOwn(targets, name) ? targets[name]?.(args) : undefined) ?? [];

/** Whatever else it is told, it writes there: nothing may be added to what is known of it. */
export const writesWhereTold = (name: string): boolean =>
  name === "git" || (Object.hasOwn(targets, name) && !builders.includes(name));

const builders = ["make", "npm"];

/** Programs that make something new where they are told to, and take nothing away. */
export const onlyAdds = (name: string): boolean => ["mkdir", "touch", "tee", "cp", "install"].includes(name);

/** Does it read commands from a file? Then it must be one that can be looked at. */
export function scriptFile(name: string, args: readonly ShellWord[]): ShellWord | undefined {
  if (!["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "source", "."].includes(name)) return undefined;
  return args.find(({ text }) => !/^[-+]/.test(text)) ?? literal("/");
}
