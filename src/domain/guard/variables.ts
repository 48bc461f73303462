import { isOv } from "./ov-verbs.ts";
import type { GuardPolicy } from "./policy.ts";
import { isForTests, onlyPrints } from "./shell/gates.ts";
import { declared, declares } from "./shell/hidden-code.ts";
import type { Invocation, ShellEffects } from "./shell/invocations.ts";
import {
  operands,
  operandsBeside,
  type ShellAssignment,
  type ShellWord,
  unknownWord,
  valuesOf,
} from "./shell/syntax.ts";
import { type Denial, deny } from "./tool-use.ts";

/** Variables by which a program is made to run others, or git to work elsewhere. */
const steersGit =
  /^GIT_(DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|CONFIG.*|EXEC_PATH|TEMPLATE_DIR|SSH.*|PROXY.*|EXTERNAL.*)$|^npm_config_script_shell$|^CDPATH$|^(OLD)?PWD$/i;
const steersPrograms =
  /^(.*PATH|IFS|PS4|ENV|BASH_.*|SHELL|HOME|XDG_.*|LD_.*|DYLD_.*|GIT_.*|.*PAGER|.*EDITOR|VISUAL|BROWSER|.*_OPTIONS|.*OPTS?|PYTHON.*|PERL.*|RUBY.*|NODE_.*|LESS.*|SSLKEYLOGFILE|GOFLAGS|GOCOVERDIR|GOTMPDIR|HISTFILE)$/;

export function checkVariables(invocation: Invocation, { files }: GuardPolicy): Denial | undefined {
  const { name, args, assignments } = invocation;
  if (changesIdentity(invocation)) {
    return deny("identity", "who you are stands in OVERSTORY_ variables; leave them as they are");
  }
  const reads = files === "read-only";
  const forbidden = reads ? steersPrograms : steersGit;
  const found =
    assignments.find((each) => isForbidden(each, forbidden, name))?.name ??
    declared(name, args).find(loadsCode)?.name ??
    // The shell evaluates what stands in a name that is none.
    variablesSet(name, args).find(
      (word) =>
        forbidden.test(word.text) || unseenValue(name, word) || (reads && (word.dynamic || /[$`]/.test(word.text))),
    )?.text;
  return found === undefined ? undefined : steering(found);
}

/** A builtin gives it a value that stands in no assignment: for these variables it must be seen. */
const unseenValue = (name: string, { text }: ShellWord): boolean =>
  name === "printf" && (text === "PATH" || loaders.test(text));

/** Variables by which ov knows an agent and its project. Those of tests mean something to programs that are tested only. */
function changesIdentity({ name, args, assignments }: Invocation): boolean {
  const isOurs = (variable: string): boolean =>
    /^OVERSTORY_/.test(variable) && (isOv(name) || !/^OVERSTORY_TEST_/.test(variable));
  if (assignments.some((each) => isOurs(each.name))) return true;
  if (variablesSet(name, args).some(({ text }) => isOurs(text))) return true;
  // Names that a command or a variable tells may be these.
  if (name === "unset" && args.some((word) => word.dynamic)) return true;
  const isTaken = name === "export" ? /^(-\w*n|\+\w*x)/ : /^\+\w*x/;
  return (
    declares.includes(name) && args.some(({ text }) => isTaken.test(text)) && args.some(({ text }) => isOurs(text))
  );
}

export const steering = (variable: string): Denial =>
  deny("variables", `${variable === "" ? "a variable" : variable} decides what other programs do; leave it as it is`);

const isForbidden = (each: ShellAssignment, forbidden: RegExp, program: string): boolean =>
  (forbidden.test(each.name) && !onlyPrints.test(each.name) && !isForTests(each) && !isHarmless(each, program)) ||
  loadsCode(each);

/** Variables by which a program is made to load code that is not its own. */
const loaders = /^(LD_(PRELOAD|AUDIT)|DYLD_INSERT_LIBRARIES|BASH_ENV|PYTHONSTARTUP|PERL5DB)$/;
/** Options in a variable that name a file somewhere else, or the code itself. */
const loadingOptions =
  /data:|(?:^|\s)-(?:r|-require|-import|-loader|-experimental-loader)[= ]?\/|-(?:javaagent|agentpath):\/|(?:^|\s)-[Mm]\S*system/;

/** Programs that cargo runs in the place of its own, or before them. */
const buildTools = /^(CARGO_\w+_(RUNNER|LINKER)|(CARGO_BUILD_)?RUSTC(_WORKSPACE)?_WRAPPER|RUSTC|RUSTDOC)$/;

function loadsCode({ name, value }: ShellAssignment): boolean {
  if (loaders.test(name)) return value.text !== "";
  // Bash takes these for functions.
  if (name.startsWith("BASH_FUNC_")) return true;
  // Shells run what it names; to other programs it is a name such as "production".
  if (name === "ENV") return /\.(sh|rc|profile)$|^(\/var)?\/tmp\//.test(value.text);
  if (name === "PATH") return /(^|:)(\/var)?\/(tmp|dev\/shm)(\/|:|$)/.test(value.text);
  if (buildTools.test(name))
    return !/^(sccache|ccache|cachepot|rust-lld|(ld\.)?(lld|mold|gold|bfd)|clang|gcc|cc|cargo|cross|)$/.test(
      value.text,
    );
  if (/^(GOFLAGS|(GNU)?MAKEFLAGS)$/.test(name)) return /-(tool)?exec\b|-vettool\b|--eval\b|\bSHELL=/.test(value.text);
  return /_OPTIONS$|OPTS?$/.test(name) && loadingOptions.test(value.text);
}

/** What passes on what it is given, and how a line that is read is taken apart. */
const isHarmless = ({ name, value }: ShellAssignment, program: string): boolean =>
  value.text === "cat" ||
  (name === "IFS" && program === "read") ||
  // Without settings of a user, as tests want it.
  (/^GIT_CONFIG_(GLOBAL|SYSTEM)$/.test(name) && value.text === "/dev/null") ||
  (name === "GIT_CONFIG_NOSYSTEM" && value.text === "1");

/** The variables that the line sets, by an assignment or by a builtin. A variable that only says that tests run is left out. */
export function namesSet(effects: ShellEffects): readonly string[] {
  const known = namesOf.get(effects);
  if (known !== undefined) return known;
  const names = effects.invocations.flatMap(({ name, args, assignments }) => [
    ...assignments.filter((each) => !isForTests(each)).map((each) => each.name),
    ...variablesSet(name, args).map(({ text, dynamic }) => (dynamic ? "" : text)),
  ]);
  namesOf.set(effects, names);
  return names;
}

/** Each file that a line writes asks for the names, and a line may write many. */
const namesOf = new WeakMap<ShellEffects, readonly string[]>();

type Names = (args: readonly ShellWord[]) => readonly ShellWord[];

const assigned: Names = (args) => {
  // A variable that is another name for a variable whose value is unknown here.
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
