import { hasOption, literal, operands, type ShellWord, unknownWord, valuesOf } from "./syntax.ts";

/** A program whose only purpose is to run another one. */
interface Wrapper {
  /** Options that are followed by a value. */
  readonly values: readonly string[];
  /** Options without one. */
  readonly flags: RegExp;
  /** Words of its own before the program. */
  readonly operands: number;
  /** It adds words to the program that are unknown beforehand. */
  readonly adds?: true;
  /** Options whose value is a file that it writes. */
  readonly writes?: readonly string[];
  /** Takes assignments before the program. */
  readonly assigns?: true;
}

const wrapper = (values: readonly string[], flags: RegExp, operands = 0): Wrapper => ({ values, flags, operands });
const none = /^$/;

const sudoFlags = /^(-[AbEHKklnPSVv]+|--(user|group)=.*|--(preserve-env|non-interactive|background|stdin|list).*)$/;

const wrappers: Readonly<Record<string, Wrapper>> = {
  env: {
    values: ["-u", "--unset", "-C", "--chdir"],
    flags: /^(-[i0v]+|-|-u.+|--(ignore-environment|null|debug|unset=.*|chdir=.*))$/,
    operands: 0,
    assigns: true,
  },
  command: wrapper([], /^-p$/),
  builtin: wrapper([], none),
  exec: wrapper(["-a"], /^-[cl]+$/),
  nohup: wrapper([], none),
  nice: wrapper(["-n", "--adjustment"], /^(-n?-?\d+|--adjustment=.*)$/),
  ionice: wrapper(["-c", "-n"], /^(-t|-[cn]\d+)$/),
  time: { ...wrapper(["-f", "-o"], /^-[apv]+$/), writes: ["-o"] },
  timeout: wrapper(
    ["-s", "--signal", "-k", "--kill-after"],
    /^(-v|--(foreground|preserve-status|verbose|signal=.*|kill-after=.*)|-[sk]\S+)$/,
    1,
  ),
  stdbuf: wrapper(["-i", "-o", "-e"], /^(-[ioe]\S+|--(input|output|error)=.*)$/),
  setsid: wrapper([], /^(-[cfw]+|--(ctty|fork|wait))$/),
  // Without -i and -s, with which it starts a shell that reads its input.
  sudo: { ...wrapper(["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-D"], sudoFlags), assigns: true },
  doas: wrapper(["-u", "-C"], /^-[Ln]+$/),
  xargs: {
    values: ["-I", "-n", "-L", "-P", "-d", "-s", "-E", "-a", "--max-args", "--max-procs", "--max-lines", "--delimiter"],
    flags: /^(-[0rtx]+|-[InLPdsEa]\S+|--(null|no-run-if-empty|verbose|exit)|--[a-z-]+=.*)$/,
    operands: 0,
    adds: true,
  },
  // Where a system runs programs of several machines it takes one; alone it tells the machine.
  arch: wrapper(["-arch", "-d", "-e"], /^(-[\dch]+|-(x86_64|arm64e?|i386)|--(version|help))$/),
  busybox: wrapper([], none),
  toybox: wrapper([], none),
  chronic: wrapper([], none),
  unbuffer: wrapper([], none),
};

/** Options of `env` and `xargs` that lead to something else than running the words behind them. */
const unreadable = /^(-S|--split-string)/;

export interface Unwrapped {
  /** What it runs; no words when it runs nothing. */
  readonly words: readonly ShellWord[];
  /** Assignments before the program, as `env` takes them. */
  readonly assignments: readonly ShellWord[];
  /** Where it runs it, if it says so. */
  readonly directory?: ShellWord;
  /** Files that it writes itself. */
  readonly writes: readonly ShellWord[];
  /** It takes the variables of the agent away. */
  readonly bare: boolean;
}

/** The command inside a wrapper. Undefined: there is no wrapper. `unreadable`: the guard cannot tell what it runs. */
export function unwrap(name: string, args: readonly ShellWord[]): Unwrapped | "unreadable" | undefined {
  if (elsewhere.includes(name)) return onlyTells.test(args[0]?.text ?? "") ? undefined : "unreadable";
  const known = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
  if (known === undefined) return undefined;
  const inserted = name === "xargs" ? insertedBy(args) : undefined;
  const assignments: ShellWord[] = [];
  const writes: ShellWord[] = [];
  let directory: ShellWord | undefined;
  let bare = false;
  let left = known.operands;
  const unset = (variable: ShellWord | undefined): void => {
    // An agent's own names must not be removed: without them it could pass for another caller. Other names may be
    // missing.
    if (isOurs(variable)) assignments.push({ ...variable, text: `${variable.text}=` });
  };
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === undefined) return "unreadable";
    const { text } = word;
    if (word.dynamic && !(known.assigns === true && /^\w+=/.test(text))) return "unreadable";
    if (unreadable.test(text)) return "unreadable";
    if (text === "--") continue;
    if (known.values.includes(text)) {
      const value = args[++at];
      if (name === "env" && ["-C", "--chdir"].includes(text)) directory = value;
      if (name === "env" && ["-u", "--unset"].includes(text)) unset(value);
      if (value !== undefined && known.writes?.includes(text) === true) writes.push(value);
    } else if (name === "env" && text.startsWith("--chdir=")) directory = { ...word, text: text.slice(8) };
    else if (known.flags.test(text)) {
      bare ||= clears(name, text);
      if (name === "env") unset({ ...word, text: text.replace(/^(-u|--unset=)/, "") });
    } else if (text.startsWith("-")) return "unreadable";
    else if (known.assigns === true && /^[\w%()]+=/.test(text)) assignments.push(word);
    else if (left > 0) left--;
    else {
      const words = added(filledIn(args.slice(at), inserted), known);
      return { words, assignments, writes, bare, ...(directory === undefined ? {} : { directory }) };
    }
  }
  return { words: [], assignments, writes, bare };
}

/** Does this program do nothing but run another one? */
export const isWrapper = (name: string): boolean => Object.hasOwn(wrappers, name) || elsewhere.includes(name);

/** Asked about itself, or about what is there already. */
const onlyTells = /^(--version|--help|-l)$/;

const isOurs = (variable: ShellWord | undefined): variable is ShellWord =>
  variable !== undefined && /^OVERSTORY_/.test(variable.text);

const clears = (name: string, option: string): boolean =>
  (name === "env" && /^(-|-\w*i\w*|--ignore-environment)$/.test(option)) || (name === "exec" && /^-\w*c/.test(option));

/** Programs that run another one in surroundings of its own, at a later time or behind a terminal. */
const elsewhere: readonly string[] = `nsenter chroot proot bwrap firejail pkexec parallel systemd-run at batch
  crontab expect`.split(/\s+/);

/** The text that `xargs` replaces by what it reads. */
function insertedBy(args: readonly ShellWord[]): string | undefined {
  for (const [at, { text }] of args.entries()) {
    if (text === "-I") return args[at + 1]?.text;
    if (/^-[Ii]./.test(text)) return text.slice(2);
    if (/^(-i|--replace)$/.test(text)) return "{}";
    if (text.startsWith("--replace=")) return text.slice("--replace=".length);
    if (!text.startsWith("-")) return undefined;
  }
  return undefined;
}

const programOf = (words: readonly ShellWord[]): string => words[0]?.text.replace(/^.*\//, "") ?? "";

const runsOthers = (words: readonly ShellWord[]): boolean =>
  [...shells, "eval"].includes(programOf(words)) || Object.hasOwn(wrappers, programOf(words));

/**
 * Marks the words into which xargs will insert text. An ordinary program gets file names that way. A program that runs
 * other programs may get any command, so the guard must treat these words as unknown.
 */
function filledIn(words: readonly ShellWord[], inserted: string | undefined): readonly ShellWord[] {
  const program = programOf(words);
  if (inserted === undefined || (!runsOthers(words) && program !== "git" && program !== inserted)) return words;
  return words.map((word) => (word.text.includes(inserted) ? { ...word, dynamic: true } : word));
}

/** The standard input of a program: its text, and the files that it lists when another command of the pipe found them. */
export interface Input {
  readonly text?: ShellWord | undefined;
  readonly files?: readonly ShellWord[] | undefined;
}

/** The calls that `xargs` makes, with what it is handed in the place of unknown words. */
export const handed = (
  words: readonly ShellWord[],
  args: readonly ShellWord[],
  { files, text }: Input,
): readonly (readonly ShellWord[])[] =>
  files === undefined ? handedText(words, args, text) : [handedFiles(words, args, files)];

function handedFiles(
  words: readonly ShellWord[],
  args: readonly ShellWord[],
  files: readonly ShellWord[],
): readonly ShellWord[] {
  const inserted = insertedBy(args);
  // To a program that runs others a name may be a command.
  if (runsOthers(words)) return words;
  return words.flatMap((word) => {
    if (word === unknownWord) return inserted === undefined ? files : [];
    if (inserted === undefined || word.dynamic || !word.text.includes(inserted)) return [word];
    return files.map((file) => ({ ...file, text: word.text.replaceAll(inserted, file.text) }));
  });
}

/** Of a text that the line itself puts there: all its words at once, each by itself, and as many as it is told to take. */
function handedText(
  words: readonly ShellWord[],
  args: readonly ShellWord[],
  text: ShellWord | undefined,
): readonly (readonly ShellWord[])[] {
  const isSeen = text !== undefined && !text.dynamic && text.text.trim() !== "" && !/["'\\]/.test(text.text);
  if (!isSeen || runsOthers(words) || readsOtherwise.test(args.map((word) => word.text).join(" "))) return [words];
  const pieces = text.text.trim().split(insertedBy(args) === undefined ? /\s+/ : /\n/);
  if (pieces.length > mostPieces) return [words];
  const many = Number(valuesOf(args, "-n", "--max-args")[0]?.text);
  const chunks = many > 1 ? pieces.flatMap((_, at) => (at % many === 0 ? [pieces.slice(at, at + many)] : [])) : [];
  const all = [pieces, ...chunks, ...(pieces.length > 1 ? pieces.map((piece) => [piece]) : [])];
  return all.map((each) => handedFiles(words, args, each.map(asTyped)));
}

const mostPieces = 50;

/** The shell has replaced tildes and patterns before, unless they were quoted. */
const asTyped = (text: string): ShellWord => ({
  ...literal(text),
  home: text.startsWith("~"),
  pattern: /[*?[{]/.test(text),
});

/** Options with which it takes its input apart in another way, or reads something else. */
const readsOtherwise = /(^| )(-[a-z]*[0dEaL]|--(null|delimiter|eof|arg-file|max-lines))/;

const added = (words: readonly ShellWord[], { adds }: Wrapper): readonly ShellWord[] =>
  adds === true ? [...words, unknownWord] : words;

/** Commands inside a word. */
interface Script {
  readonly text: string;
}

export const shells: readonly string[] = "sh bash zsh dash ksh ash fish rbash mksh yash csh tcsh".split(" ");

/**
 * The text that a program would read as shell commands: of `sh -c`, `eval` and their like. `opaque`: it would read some,
 * but they cannot be seen here. Undefined: it reads none from its words.
 */
export function scriptOf(name: string, args: readonly ShellWord[]): Script | "opaque" | undefined {
  if (shells.includes(name)) return ofShell(args);
  if (name === "eval") return joinedLiteral(args.filter(({ text }) => text !== "--"));
  if (name === "trap") {
    const [action] = operands(args);
    return action === undefined || action.text === "-" ? undefined : joinedLiteral([action]);
  }
  if (loadsIntoShell(name, args)) return "opaque";
  // Called for the lines that are read, with unknown words.
  if (["mapfile", "readarray"].includes(name)) return hasOption(args, "C") ? "opaque" : undefined;
  if (["su", "sg", "runuser", "script"].includes(name)) return ofSwitch(name, args);
  if (name === "watch") return joinedLiteral(args.filter(({ text }) => !/^(-[a-zA-Z]+|[\d.]+)$/.test(text)));
  return undefined;
}

/** Builtins that load code into the shell, or have it run by a key, a completion or from the history. */
function loadsIntoShell(name: string, args: readonly ShellWord[]): boolean {
  switch (name) {
    case "enable":
      return hasOption(args, "fd");
    case "fc":
      return !hasOption(args, "l");
    case "bind":
      return hasOption(args, "xf");
    case "complete":
    case "compgen":
      // It expands the words of the list.
      return hasOption(args, "CF") || valuesOf(args, "-W").some(({ text, dynamic }) => dynamic || /[$`]/.test(text));
    default:
      return false;
  }
}

/** Programs that start a shell as another user, or behind a terminal of its own. */
function ofSwitch(name: string, args: readonly ShellWord[]): Script | "opaque" | undefined {
  if (asksAboutShell.includes(args[0]?.text ?? "")) return undefined;
  // Then the words behind are the command.
  if (name === "runuser" && args.some(({ text }) => text === "-u" || text.startsWith("--user"))) return undefined;
  const at = args.findIndex(({ text }) => /^(-[a-z]*c|--command)$/.test(text));
  const [glued] = valuesOf(args, "--command");
  const script = at < 0 ? glued : args[at + 1];
  // It writes what the command prints to a file, by its last word, by options, or to one in the directory it stands in.
  if (name === "script" && !args.every((word) => word === script || isHarmlessForScript(word.text))) return "opaque";
  if (name === "script" && !args.some((word) => word !== script && word.text === "/dev/null")) return "opaque";
  return script === undefined || script.dynamic ? "opaque" : { text: script.text };
}

/** Options of `script` that name no file, and the one file that keeps nothing. */
const isHarmlessForScript = (text: string): boolean =>
  /^(-[aefqc]+|--(append|return|flush|quiet|command(=.*)?)|\/dev\/null)$/.test(text);

const shellValues = ["-o", "+o", "-O", "+O"];
const asksAboutShell = ["--version", "--help"];

function ofShell(args: readonly ShellWord[]): Script | "opaque" | undefined {
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === undefined || word.dynamic) return "opaque";
    const { text } = word;
    if (asksAboutShell.includes(text)) return { text: "" };
    if (/^--(rcfile|init-file)/.test(text)) return "opaque";
    if (/^-[A-Za-z]*c[A-Za-z]*$/.test(text)) {
      const script = args.slice(at + 1).find((next) => !/^[-+]/.test(next.text));
      return script === undefined || script.dynamic ? "opaque" : { text: script.text };
    }
    if (/^-[A-Za-z]*s[A-Za-z]*$/.test(text) || text === "-") return "opaque";
    if (shellValues.includes(text)) at++;
    // A script in a file is a program like any other.
    else if (!/^[-+]/.test(text)) return undefined;
  }
  return "opaque";
}

function joinedLiteral(words: readonly ShellWord[]): Script | "opaque" {
  return words.some(({ dynamic }) => dynamic) ? "opaque" : { text: words.map(({ text }) => text).join(" ") };
}
