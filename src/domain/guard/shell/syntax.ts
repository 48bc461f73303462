/** A word of a shell command, with quotes folded. */
export interface ShellWord {
  readonly text: string;
  /** A variable or a substitution is in it: what it becomes is known only once it runs. */
  readonly dynamic: boolean;
  /** It begins with a tilde that the shell replaces. */
  readonly home: boolean;
  /** A pattern: it may become the names of files. */
  readonly pattern: boolean;
  /** What it is made of, where all of that is text and plain values of variables. */
  readonly parts?: readonly WordPart[];
  /** It is what these commands print, each of them a plain one of one pipe. */
  readonly found?: readonly ShellCommand[];
}

/** A text, or the value of a variable. `part`: only the last name of the path in it, or only the directory before that name. `without`: the value without this text at its end. */
export type WordPart =
  | string
  | { readonly variable: string; readonly without?: string; readonly part?: "last" | "before" };

export interface ShellAssignment {
  readonly name: string;
  readonly value: ShellWord;
  /** It is added to the value that there was, or to one element of several. */
  readonly appends?: true;
  /** Of a loop: the commands of the pipe whose output its words are, where each of them is a plain one. */
  readonly found?: readonly ShellCommand[];
}

/** One program with its arguments. Without words it is only assignments or redirections. */
export interface ShellCommand {
  readonly kind: "command";
  readonly words: readonly ShellWord[];
  readonly assignments: readonly ShellAssignment[];
  /** Files that it opens for writing. */
  readonly writes: readonly ShellWord[];
  /** What is run to make its words. */
  readonly inner: readonly ShellNode[];
  /** The text on its input, where the shell itself puts it there. */
  readonly input?: ShellWord;
}

/** Commands that belong together: a block, a branch, a loop, a part of a pipe. */
export interface ShellGroup {
  readonly kind: "group";
  readonly nodes: readonly ShellNode[];
  /** It runs in a process of its own: changing the directory in it changes nothing outside. */
  readonly apart: boolean;
  /** The name under which it can be called. */
  readonly name?: string;
  /** The commands of a pipe whose output it reads, where each of them is a plain one. */
  readonly fed?: readonly ShellCommand[];
  /** The same as for one command. What is in it reads this, too. */
  readonly input?: ShellWord;
  /** The next command runs only if the one before it worked, or only if that one failed. */
  readonly after?: "worked" | "failed";
  /** `once`: it may be passed over, as a branch. `often`: it may also be run again, as the body of a loop. */
  readonly maybe?: "once" | "often";
}

export type ShellNode = ShellCommand | ShellGroup;

/** Reads a text as a shell would, without running it. Undefined when no shell could. Never throws. */
export type ParseShell = (text: string) => readonly ShellNode[] | undefined;

export const literal = (text: string): ShellWord => ({ text, dynamic: false, home: false, pattern: false });

/** The program under whose name an expression stands that the shell computes. */
export const arithmetic = "((";

/** A word of which nothing is known. */
export const unknownWord: ShellWord = { text: "", dynamic: true, home: false, pattern: false };

/** Everything that is no option. What follows `--` never is one. */
export function operands(args: readonly ShellWord[]): readonly ShellWord[] {
  const end = args.findIndex(({ text }) => text === "--");
  const before = end < 0 ? args : args.slice(0, end);
  const after = end < 0 ? [] : args.slice(end + 1);
  return [...before.filter((word) => !isOption(word)), ...after];
}

/** The same without what follows one of these options as its value. */
export function operandsBeside(args: readonly ShellWord[], valued: readonly string[]): readonly ShellWord[] {
  const end = args.findIndex(({ text }) => text === "--");
  const values = new Set<number>();
  for (const [at, { text }] of (end < 0 ? args : args.slice(0, end)).entries()) {
    if (!values.has(at) && valued.includes(text)) values.add(at + 1);
  }
  return operands(args.filter((_, at) => !values.has(at)));
}

export const isOption = ({ text, dynamic }: ShellWord): boolean =>
  !dynamic && text.startsWith("-") && text !== "-" && text !== "--";

/** Is one of these options given? Letters also count inside a cluster, long ones also when abbreviated or with a value. */
export function hasOption(args: readonly ShellWord[], letters: string, ...long: readonly string[]): boolean {
  const end = args.findIndex(({ text }) => text === "--");
  return (end < 0 ? args : args.slice(0, end)).some(({ text }) => {
    if (text.startsWith("--")) return isLong(text, long);
    return /^-[A-Za-z0-9]/.test(text) && clusterOf(text).some((letter) => letters.includes(letter));
  });
}

/** Programs take any beginning of a long option that names only one. */
function isLong(text: string, long: readonly string[]): boolean {
  const name = text.slice(2).split("=")[0] ?? "";
  return name !== "" && long.some((known) => known.startsWith(name));
}

const clusterOf = (text: string): readonly string[] => [...(/^-([A-Za-z0-9]+)/.exec(text)?.[1] ?? "")];

/**
 * The values of an option, as `--name value`, `--name=value`, `-n value` or `-nvalue`. Many programs take any beginning of a
 * long name.
 */
export function valuesOf(args: readonly ShellWord[], ...names: readonly string[]): readonly ShellWord[] {
  const found: ShellWord[] = [];
  for (const [at, word] of args.entries()) {
    const { text } = word;
    const next = args[at + 1];
    if (text.startsWith("--")) {
      const equals = text.indexOf("=");
      const given = equals < 0 ? text : text.slice(0, equals);
      const isIt = names.includes(given) || names.some((name) => isBeginning(given, name));
      const value = equals < 0 ? next : { ...word, text: text.slice(equals + 1), home: false };
      if (isIt && value !== undefined && (equals < 0 || value.text !== "")) found.push(value);
      continue;
    }
    for (const name of names) {
      if (text === name && next !== undefined) found.push(next);
      else if (!name.startsWith("--") && text.startsWith(name) && text.length > name.length) {
        found.push({ ...word, text: text.slice(name.length), home: false });
      }
    }
  }
  return found;
}

const isBeginning = (given: string, name: string): boolean =>
  given.length > 2 && name.startsWith(given) && name.startsWith("--") && !namesOfTheirOwn.includes(given);

/** Long names that mean something else than the longer ones which begin like them. */
const namesOfTheirOwn: readonly string[] =
  "--config --cookie --export --file --include --parent --pre --project --report --run --settings --type".split(" ");

/** The values of options of one letter that end or stand in a cluster: `-sSLo file`, `-rtdir`. */
export function clusteredValues(args: readonly ShellWord[], letters: string): readonly ShellWord[] {
  const end = args.findIndex(({ text }) => text === "--");
  const within = new RegExp(`^-[A-Za-z0-9]+?[${letters}](.*)$`, "s");
  return (end < 0 ? args : args.slice(0, end)).flatMap((word, at) => {
    const glued = word.dynamic ? undefined : within.exec(word.text)?.[1];
    if (glued === undefined) return [];
    return glued === "" ? args.slice(at + 1, at + 2) : [{ ...word, text: glued, home: false }];
  });
}
