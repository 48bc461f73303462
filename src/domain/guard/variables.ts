import { isOv } from "./ov-verbs.ts";
import type { GuardPolicy } from "./policy.ts";
import { onlyPrints } from "./shell/gates.ts";
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
  /^GIT_(DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|CONFIG.*|EXEC_PATH|TEMPLATE_DIR|SSH.*|PROXY.*|EXTERNAL.*)$|^npm_config_script_shell$|^CDPATH$/i;
const steersPrograms =
  /^(.*PATH|IFS|PS4|ENV|BASH_.*|SHELL|HOME|XDG_.*|LD_.*|DYLD_.*|GIT_.*|.*PAGER|.*EDITOR|VISUAL|BROWSER|.*_OPTIONS|.*OPTS?|PYTHON.*|PERL.*|RUBY.*|NODE_.*|LESS.*)$/;

export function checkVariables(invocation: Invocation, { files }: GuardPolicy): Denial | undefined {
  const { name, args, assignments } = invocation;
  if (changesIdentity(invocation)) {
    return deny("identity", "who you are stands in OVERSTORY_ variables; leave them as they are");
  }
  const reads = files === "read-only";
  const forbidden = reads ? steersPrograms : steersGit;
  const found =
    assignments.find((each) => isForbidden(each, forbidden, name))?.name ??
    // The shell evaluates what stands in a name that is none.
    variablesSet(name, args).find(
      (word) => forbidden.test(word.text) || (reads && (word.dynamic || /[$`]/.test(word.text))),
    )?.text;
  return found === undefined ? undefined : steering(found);
}

/** Variables by which ov knows an agent and its project. Those of tests mean something to programs that are tested only. */
function changesIdentity({ name, args, assignments }: Invocation): boolean {
  const isOurs = (variable: string): boolean =>
    /^OVERSTORY_/.test(variable) && (isOv(name) || !/^OVERSTORY_TEST_/.test(variable));
  if (assignments.some((each) => isOurs(each.name))) return true;
  if (variablesSet(name, args).some(({ text }) => isOurs(text))) return true;
  return name === "export" && args.some(({ text }) => /^-\w*n/.test(text)) && args.some(({ text }) => isOurs(text));
}

export const steering = (variable: string): Denial =>
  deny("variables", `${variable === "" ? "a variable" : variable} decides what other programs do; leave it as it is`);

const isForbidden = (each: ShellAssignment, forbidden: RegExp, program: string): boolean =>
  (forbidden.test(each.name) && !onlyPrints.test(each.name) && !isHarmless(each, program)) || loadsCode(each);

/** Variables by which a program is made to load code that is not its own. */
const loaders = /^(LD_(PRELOAD|AUDIT)|DYLD_INSERT_LIBRARIES|BASH_ENV|PYTHONSTARTUP|PERL5DB)$/;
/** Options in a variable that name a file somewhere else, or the code itself. */
const loadingOptions =
  /data:|(?:^|\s)-(?:r|-require|-import|-loader|-experimental-loader)[= ]?\/|-(?:javaagent|agentpath):\/|(?:^|\s)-[Mm]\S*system/;

function loadsCode({ name, value }: ShellAssignment): boolean {
  if (loaders.test(name)) return value.text !== "";
  // Shells run what it names; to other programs it is a name such as "production".
  if (name === "ENV") return /\.(sh|rc|profile)$|^(\/var)?\/tmp\//.test(value.text);
  if (name === "PATH") return /(^|:)(\/var)?\/(tmp|dev\/shm)(\/|:|$)/.test(value.text);
  return /_OPTIONS$|OPTS?$/.test(name) && loadingOptions.test(value.text);
}

/** What passes on what it is given, and how a line that is read is taken apart. */
const isHarmless = (each: ShellAssignment, program: string): boolean =>
  each.value.text === "cat" || (each.name === "IFS" && program === "read");

/** Every variable that the line sets, by an assignment or by a builtin. */
export const namesSet = ({ invocations }: ShellEffects): readonly string[] =>
  invocations.flatMap(({ name, args, assignments }) => [
    ...assignments.map((each) => each.name),
    ...variablesSet(name, args).map(({ text, dynamic }) => (dynamic ? "" : text)),
  ]);

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
