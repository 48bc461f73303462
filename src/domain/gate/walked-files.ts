import { join } from "./command-words.ts";
import { commandsIn, type SimpleCommand } from "./simple-commands.ts";

/**
 * The files that a command runs out of a walk, as patterns from the root of the project, as in `find checks -name '*.sh' -exec
 * sh {} +`. Empty where it does not walk, or where nothing runs what it finds. `isRun`: what it prints is run, or stands behind a
 * program that runs its files.
 */
export function walkedFiles(
  at: number,
  {
    commands,
    cwd,
    isRun,
  }: { readonly commands: readonly SimpleCommand[]; readonly cwd: string; readonly isRun: boolean },
): readonly string[] {
  const words = wordsOf(commands[at]);
  const walk = walks[nameOf(words[0])]?.(words.slice(1));
  if (walk === undefined) return [];
  const { action } = walk;
  const runs = isRun || passesOn(at, commands) || (action !== undefined && (action.length === 0 || runsGiven(action)));
  if (!runs) return [];
  return walk.patterns.map((pattern) => join(cwd, pattern));
}

interface Walk {
  readonly patterns: readonly string[];
  /** What is run with each file: empty where it is the file itself, undefined where the files are printed. */
  readonly action?: readonly string[] | undefined;
}

type Walker = (args: readonly string[]) => Walk | undefined;

const below = (roots: readonly string[], names: readonly string[] = ["**"]): readonly string[] =>
  (roots.length === 0 ? ["."] : roots).flatMap((root) =>
    // A root may be a file, too.
    isPattern.test(root) ? [root] : [root, ...names.map((name) => `${root}/${name === "**" ? name : `**/${name}`}`)],
  );

const isPattern = /[*?[{]/;
const isOption = (word: string): boolean => word.startsWith("-");

const find: Walker = (args) => {
  const first = args.findIndex((word) => /^[-!]/.test(word) && !/^-[HLPO]/.test(word));
  const roots = args.slice(0, first < 0 ? args.length : first).filter((word) => !isOption(word));
  const names = args.flatMap((word, at) =>
    /^-i?name$/.test(word) && args[at - 1] !== "!" ? [args[at + 1] ?? ""] : [],
  );
  const action = args.findIndex((word) => /^-(exec|execdir|ok|okdir)$/.test(word));
  return {
    patterns: below(roots, names.length === 0 ? undefined : names),
    action: action < 0 ? undefined : withoutPlace(args.slice(action + 1)),
  };
};

const fd: Walker = (args) => {
  const action = args.findIndex((word) => /^(-[xX]|--exec(-batch)?)$/.test(word));
  const rest = (action < 0 ? args : args.slice(0, action)).filter(
    (word, at, all) => !isOption(word) && !/^-[etdE]$/.test(all[at - 1] ?? ""),
  );
  return { patterns: below(rest.slice(1)), action: action < 0 ? undefined : withoutPlace(args.slice(action + 1)) };
};

/** The first word is what is looked for. */
const grep: Walker = (args) =>
  args.some((word) => /^(-[^-]*[lL]|--files-with(out)?-match(es)?|--files)/.test(word))
    ? { patterns: below(args.filter((word) => !isOption(word)).slice(1)) }
    : undefined;

const ls: Walker = (args) => {
  const roots = args.filter((word) => !isOption(word));
  const dirs = roots.length === 0 ? ["."] : roots;
  return { patterns: dirs.flatMap((dir) => (isPattern.test(dir) ? [dir] : [dir, `${dir}/*`])) };
};

const walks: Readonly<Record<string, Walker>> = {
  find,
  fd,
  fdfind: fd,
  grep,
  egrep: grep,
  rg: grep,
  ls,
  git: ([verb, ...args]) =>
    verb === "ls-files" ? { patterns: below(args.filter((word) => !isOption(word))) } : undefined,
  "run-parts": (args) => ({ patterns: args.filter((word) => !isOption(word)).map((dir) => `${dir}/*`), action: [] }),
};

/** `{}` in quotes stands for the file. */
const withoutPlace = (words: readonly string[]): readonly string[] => {
  const end = words.findIndex((word) => word === ";" || word === "+" || word === "{}");
  return end < 0 ? words : words.slice(0, end);
};

/** Does what this command prints reach a command that runs it: behind a pipe, in a loop, or before `< <(...)`? */
function passesOn(at: number, commands: readonly SimpleCommand[]): boolean {
  const group = groupsOf(commands).find(({ from, to }) => from <= at && at < to) ?? { from: at, to: at + 1 };
  return commands
    .slice(group.from, group.to)
    .some((each, step) => group.from + step !== at && runsGiven(wordsOf(each)));
}

/** Is this the head of a loop, as `for f in $(...)`, that runs what it goes through? */
export const loopRuns = (at: number, commands: readonly SimpleCommand[]): boolean =>
  commands[at]?.words.slice(0, 2).includes("for") === true && passesOn(at, commands);

/** The parts of a line that hand nothing to each other by pipes, loops and redirections. */
function groupsOf(commands: readonly SimpleCommand[]): readonly { readonly from: number; readonly to: number }[] {
  // An array that a command fills is used behind it.
  if (commands.some(({ words }) => /^(mapfile|readarray)$/.test(words[0] ?? "")))
    return [{ from: 0, to: commands.length }];
  const groups: { from: number; to: number }[] = [];
  let from = 0;
  let depth = 0;
  for (const [at, { words, end }] of commands.entries()) {
    for (const word of words.slice(0, 2)) if (/^(for|while|until)$/.test(word)) depth++;
    if (words[0] === "done") depth--;
    if (depth > 0 || !/^(;|&|\|\||\n|)$/.test(end)) continue;
    groups.push({ from, to: at + 1 });
    from = at + 1;
  }
  return [...groups, { from, to: commands.length }];
}

/** Does this command run a file or a text that it is given, and not only look at it or test it? */
function runsGiven(words: readonly string[]): boolean {
  const [program = "", ...args] = words;
  const name = nameOf(program);
  if (name.startsWith("$")) return true;
  if (/^(xargs|parallel)$/.test(name)) {
    const inner = args.slice(
      args.findIndex((word, at) => !isOption(word) && !/^-[aELIPdns]$/.test(args[at - 1] ?? "")),
    );
    return args.every(isOption) ? args.some((word) => word.startsWith("-I")) : runsGiven(inner);
  }
  if (/^(eval|source|\.)$/.test(name)) return true;
  if (name === "env" || name === "nice" || name === "timeout") return args.some((_, at) => runsGiven(args.slice(at)));
  if (!shells.test(name) && !interpreters.test(name)) return false;
  const text = args.findIndex((word) => /^-[a-z]*c$/.test(word));
  if (shells.test(name) && text >= 0) return runsInText(args[text + 1] ?? "");
  if (args.some((word) => onlyLooks.test(word))) return false;
  const file = args.find((word) => !isOption(word));
  // A script of its own is given the files as words.
  return file === undefined || /[$\uE000]|^\{\}$/.test(file);
}

const runsInText = (text: string): boolean => commandsIn(text).some((command) => runsGiven(wordsOf(command)));

const shells = /^(sh|bash|dash|zsh|ksh|fish)$/;
const interpreters = /^(python[\d.]*|node|bun|deno|perl|ruby|php)$/;
/** Options by which interpreters check a file, test it, or run another module. */
const onlyLooks = /^(-n|-m|--check|--test|-l|-c|test|lint|check|fmt)$/;

const nameOf = (program = ""): string => program.slice(program.lastIndexOf("/") + 1);
const wordsOf = (command: SimpleCommand | undefined): readonly string[] => {
  const words = command?.words ?? [];
  return words.slice(words.findIndex((word) => !shellWords.has(word)));
};
const shellWords = new Set(["!", "if", "then", "elif", "else", "while", "until", "do", "time", "command", "exec"]);
