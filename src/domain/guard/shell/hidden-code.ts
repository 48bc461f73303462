import {
  arithmetic,
  literal,
  type ShellAssignment,
  type ShellCommand,
  type ShellNode,
  type ShellWord,
} from "./syntax.ts";
import { shells } from "./wrappers.ts";

/** Variables whose value other programs run as a command. */
const runVariables =
  /^(GIT_(SEQUENCE_)?EDITOR|EDITOR|VISUAL|FCEDIT|\w*PAGER|BROWSER|PROMPT_COMMAND|(GIT|SSH|SUDO)_ASKPASS|LESS(OPEN|CLOSE))$/;
/** Variables whose value the shell expands. */
const shownVariables = /^PS[0-4]$/;

/** The commands in the value of a variable that something else runs. */
export function variableScript({ name, value }: ShellAssignment): string | undefined {
  // A shell that computes with the variable evaluates the index in its value.
  if (!value.dynamic && /\w\[.*(\$\(|`)/s.test(value.text)) return expansion(value.text);
  if (shownVariables.test(name)) return expansion(value.text);
  // A pipe before the command only says where its output goes.
  return runVariables.test(name) && !value.dynamic ? value.text.replace(/^[|-]+/, "") : undefined;
}

/** Builtins that set variables by words such as `NAME=value`. */
export const declares: readonly string[] = ["export", "declare", "typeset", "readonly", "local"];

export const declared = (name: string, args: readonly ShellWord[]): readonly ShellAssignment[] =>
  declares.includes(name)
    ? args.flatMap((word) => {
        const [whole, variable = ""] = /^(\w+)\+?=/.exec(word.text) ?? [];
        return whole === undefined ? [] : [{ name: variable, value: { ...word, text: word.text.slice(whole.length) } }];
      })
    : [];

/** A shell runs the commands in the index of a variable, also when quotes kept them until then. */
export function indexScripts(name: string, args: readonly ShellWord[]): readonly string[] {
  if (name === arithmetic) return args.flatMap(({ text }) => computedScript(text));
  const behind = indexed[name];
  if (behind === undefined) return [];
  return args
    .filter(({ text }, at) => /\[.*(\$\(|`)/s.test(text) && (behind === "all" || behind.test(args[at - 1]?.text ?? "")))
    .map(({ text }) => expansion(text));
}

/** To compute, a shell takes quotes and backslashes away, and then runs what stands in an index. An index comes without its brackets. */
function computedScript(text: string): readonly string[] {
  const bare = text.replaceAll(/\\(?=[$`\\])/g, "");
  const seen = bare.replaceAll(/\$\(\(|\$\{#?\w+\}/g, "");
  return /\$\(|`/.test(seen) ? [expansion(bare)] : [];
}

const indexed: Readonly<Record<string, RegExp | "all" | undefined>> = {
  __proto__: null as never,
  test: /^-[vR]$/,
  "[": /^-[vR]$/,
  printf: /^-v$/,
  ...Object.fromEntries([...declares, "unset", "read", "let", "mapfile", "readarray"].map((each) => [each, "all"])),
};

/** A command that does nothing but expand a text. In a here-document quotes mean nothing, but in the commands of the text they do. */
const expansion = (text: string): string => `: <<${endOfText}\n${text}\n${endOfText}\n`;
const endOfText = "END-OF-THE-TEXT-THAT-A-SHELL-EXPANDS";

/** Does a function do nothing that could keep it from calling itself, with no way out? */
export const callsItself = (name: string, nodes: readonly ShellNode[]): boolean =>
  !leaves(nodes) && always(nodes).some(({ words: [program] }) => program?.text === name);

const leaves = (nodes: readonly ShellNode[]): boolean =>
  nodes.some((node) =>
    node.kind === "group" ? leaves(node.nodes) : /^(return|exit|exec)$/.test(node.words[0]?.text ?? ""),
  );

/** The commands that run whenever these do. */
const always = (nodes: readonly ShellNode[]): readonly ShellCommand[] =>
  nodes.flatMap((node) => {
    if (node.kind === "command") return [node, ...always(node.inner)];
    return node.after === undefined && node.maybe === undefined && node.name === undefined ? always(node.nodes) : [];
  });

/** Is the action of a trap run once, when the shell ends, with the values that variables have by then? */
export const onlyAtEnd = (action: string, args: readonly ShellWord[]): boolean =>
  args.slice(-1).every(({ text }) => /^(EXIT|0)$/.test(text)) &&
  args.length === 2 &&
  !/[=$]\(|=|\b(read|printf|unset|let|eval)\b/.test(action);

/** Options whose value is a command. */
const options: Readonly<Record<string, readonly string[] | undefined>> = {
  __proto__: null as never,
  split: ["--filter"],
  sort: ["--compress-program"],
  rg: ["--pre", "--hostname-bin"],
  bat: ["--pager"],
  batcat: ["--pager"],
  ag: ["--pager"],
  delta: ["--pager"],
  fzf: ["--preview"],
  go: ["-exec", "-toolexec", "-vettool"],
  gcc: ["-wrapper"],
  "g++": ["-wrapper"],
  rsync: ["-e", "--rsh", "--rsync-path"],
  scp: ["-S"],
  sftp: ["-S"],
  man: ["-P", "--pager", "-H"],
  nc: ["-c", "-e"],
  netcat: ["-c", "-e"],
  ncat: ["-c", "--sh-exec", "-e", "--exec"],
  cargo: ["-s", "--shell"],
  make: ["--eval", "-E"],
  gmake: ["--eval", "-E"],
};

/** Commands inside words, as these programs write them. */
const inWords: Readonly<Record<string, RegExp | undefined>> = {
  __proto__: null as never,
  less: /^\+.*?!(.+)$/s,
  psql: /\\!(.+)$/s,
  socat: /^(?:EXEC|SYSTEM|SHELL):([^,]+)/is,
  lldb: /^\s*(?:platform\s+)?shell\s+(.+)$/s,
  fzf: /\b(?:execute|execute-silent|become|reload|preview)[(:]([^)]+)/s,
  pee: /^(.+)$/s,
  ssh: /^(?:-o)?(?:Proxy|Local|KnownHosts)Command[= ]+(.+)$/is,
  scp: /^(?:-o)?(?:Proxy|Local|KnownHosts)Command[= ]+(.+)$/is,
  sftp: /^(?:-o)?(?:Proxy|Local|KnownHosts)Command[= ]+(.+)$/is,
  // Variables of a makefile are mostly run, as programs or their options.
  make: /^\w+\s*[:+?]?=(.*\s.*)$/s,
  gmake: /^\w+\s*[:+?]?=(.*\s.*)$/s,
};

/** The commands that a known program is handed by its words. */
export function handedScripts(name: string, args: readonly ShellWord[]): readonly string[] {
  const pattern = inWords[name];
  const words = pattern === undefined ? [] : args.flatMap(({ text }) => pattern.exec(text)?.[1] ?? []);
  const told = (options[name] ?? []).flatMap((option) => valuesBehind(args, option));
  const values = told.filter(({ dynamic }) => !dynamic).map(({ text }) => text);
  if (/^g(cc|\+\+)$/.test(name)) return values.map((text) => text.replaceAll(",", " "));
  return [...words, ...values];
}

/** Of `make`: rules that do not stand in a file, or a shell that is none. */
export const makesUnseen = (name: string, args: readonly ShellWord[]): boolean =>
  /^g?make$/.test(name) &&
  (["-f", "--file", "--makefile"].some((option) => valuesBehind(args, option).some(({ text }) => text === "-")) ||
    [...valuesBehind(args, "--eval"), ...valuesBehind(args, "-E")].length > 0 ||
    args.some(({ text }) => /^(GNU)?MAKEFLAGS\s*[:+?]?=.*(-E|--eval|SHELL=)/.test(text)) ||
    args.some(({ text }) => /^\.?SHELL(FLAGS)?\s*[:+?]?=/.test(text) && !isShell(text.slice(text.indexOf("=") + 1))));

const isShell = (program: string): boolean => shells.includes(program.replace(/^(\/[\w-]+)*\//, ""));

/** The values of an option, also of a long one that is abbreviated. */
function valuesBehind(args: readonly ShellWord[], option: string): readonly ShellWord[] {
  return args.flatMap((word, at) => {
    const equals = word.text.indexOf("=");
    const given = equals < 0 ? word.text : word.text.slice(0, equals);
    const isIt =
      given === option ||
      (option.startsWith("--") ? given.length > 3 && option.startsWith(given) : isLastOfCluster(given, option));
    if (!isIt) return [];
    return equals < 0 ? [args[at + 1] ?? literal("")] : [{ ...word, text: word.text.slice(equals + 1) }];
  });
}

/** Options of one letter may stand behind others, as in `-ave`. */
const isLastOfCluster = (given: string, option: string): boolean =>
  option.length === 2 && /^-[A-Za-z]{2,6}$/.test(given) && given.endsWith(option.slice(1));

/** A word such as `NAME=value`, as `env` takes it. */
export function assignmentOf({ text, ...rest }: ShellWord): ShellAssignment {
  const at = text.indexOf("=");
  return { name: text.slice(0, at), value: { ...rest, text: text.slice(at + 1) } };
}

/** Does it give a program another name, under which the guard would not recognise it? */
export function renames(name: string, args: readonly ShellWord[], assignments: readonly ShellAssignment[]): boolean {
  if (name === "hash") return args.some(({ text }) => /^-\w*p/.test(text));
  if (name !== "alias") return false;
  const given = [
    ...assignments.map((each) => ({ ...each.value, text: `${each.name}=${each.value.text}` })),
    ...args.filter(({ text, dynamic }) => dynamic || text.includes("=")),
  ];
  return given.some(({ text, dynamic }) => dynamic || !isShorthand.test(text));
}

/** A shorter name for a program that only looks, with options. The shell's own words keep their meaning. */
const isShorthand =
  /^(?!(?:cd|pushd|popd|exit|return|break|continue|set)=)[\w.-]+=(?:(?:ls|cat|grep|egrep|fgrep|head|tail|wc|pwd|du|df)(?: --?[\w=-]+)*|git (?:status|log|diff|show)(?: (?:-[a-z0-9]+|--(?:oneline|short|graph|stat|cached|all|decorate)))*)$/;
