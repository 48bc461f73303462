import { checkDatabase, databaseFiles } from "./databases.ts";
import { checkGit } from "./git.ts";
import { inputEffects } from "./input-programs.ts";
import { checkMovedLinks, linksMade, withLinks } from "./links.ts";
import { checkMachine } from "./machine.ts";
import { checkNested } from "./nested-agents.ts";
import { checkOutputVariables, checkOutside } from "./outside-paths.ts";
import { checkOv } from "./ov-verbs.ts";
import {
  absolute,
  checkRemoval,
  checkWrite,
  type GuardMachine,
  isDevice,
  isInside,
  isScratch,
  type Places,
  scratchHint,
} from "./paths.ts";
import type { GuardPolicy } from "./policy.ts";
import { changesNothing, onlyLooks } from "./read-only-programs.ts";
import { isScratchWord, scratchPath, writesScratch } from "./scratch.ts";
import { checkSecrets } from "./secrets.ts";
import { isOfLine, onlyPrints } from "./shell/gates.ts";
import { isOpaque } from "./shell/interpreters.ts";
import { type Invocation, readShell, type ShellEffects } from "./shell/invocations.ts";
import { arithmetic, literal, operandsBeside, type ShellWord } from "./shell/syntax.ts";
import { picksTests, runsTests } from "./single-tests.ts";
import { type Denial, deny } from "./tool-use.ts";
import { runsHidden } from "./unseen-commands.ts";
import { checkVariables, namesSet, steering, variablesSet } from "./variables.ts";
import { onlyAdds, readsScript, removedBy, scriptFiles, setsModes, targetsOf } from "./writing-programs.ts";

/** May an agent have this line run by a shell? */
export function checkCommand(text: string, cwd: string, given: GuardPolicy, machine: GuardMachine): Denial | undefined {
  const { parse, places } = machine;
  // Roles that only read may not change anything by git: their commits would be lost, and they would not learn it.
  const policy: GuardPolicy = given.runsAnything ? { ...given, files: "scoped-write", scope: [] } : given;
  const mayRunGate = (behind: readonly ShellWord[], from: string | undefined): boolean =>
    behind.every(isForTests) && (policy.files === "scoped-write" || staysInTree(behind, from, policy, places));
  if (mayRunGate([], cwd) && policy.gates.some((gate) => spaced(gate) === spaced(text))) return undefined;
  // Roles that change nothing have no file that a variable could name.
  const temporary = policy.files === "scoped-write" ? (places.temporary[0] ?? "/tmp") : undefined;
  const { home, isDirectory } = places;
  const { worktree } = policy;
  const read = { parse, cwd, worktree, home, isDirectory, temporary, gates: policy.gates, mayRunGate };
  const denied = checkEffects(readShell(text, read), policy, machine);
  if (denied === undefined || !/\b(cd|pushd)\b/.test(text)) return denied;
  return checkEffects(readShell(text, { ...read, works: true }), policy, machine) === undefined
    ? {
        ...denied,
        reason: `${denied.reason}. If a cd fails, the line goes on where it stood: join with && what follows it`,
      }
    : denied;
}

function checkEffects(effects: ShellEffects | Denial, policy: GuardPolicy, machine: GuardMachine): Denial | undefined {
  if ("decision" in effects) return effects;
  const { parse, places } = machine;
  const links = linksMade(effects.invocations, places);
  const judged = (on: GuardMachine): Denial | undefined =>
    first(effects.invocations, (each) => about(written(each), checkInvocation(each, effects, policy, on))) ??
    checkAroundGate(effects, policy) ??
    first(effects.writes, ({ target, cwd: from }) =>
      about(`> ${target.text}`, checkTarget({ target, cwd: from, adds: true }, effects, policy, on)),
    );
  if (links.length === 0) return judged(machine);
  return (
    first(effects.invocations, (each) => about(written(each), checkMovedLinks(each, links, places))) ??
    judged(machine) ??
    judged({ parse, places: withLinks(places, links) })
  );
}

const written = ({ program, args, assignments }: Invocation): string =>
  [...assignments.map(({ name }) => `${name}=..`), program, ...args.map(({ text }) => text)]
    .filter((text) => text !== "")
    .join(" ");

const about = (part: string, denied: Denial | undefined): Denial | undefined =>
  denied === undefined ? undefined : { ...denied, of: part.length > 200 ? `${part.slice(0, 200)}...` : part };

/**
 * A gate runs code of its directory, and code that its words name. A role that may run no code of its own may run gates
 * only in its worktree, and may name no file outside of it.
 */
function staysInTree(
  behind: readonly ShellWord[],
  cwd: string | undefined,
  { worktree, state }: GuardPolicy,
  places: Places,
): boolean {
  const tree = places.realPath(worktree);
  const kept = places.realPath(state);
  if (cwd === undefined || !isInside(places.realPath(cwd), tree)) return false;
  return behind.every(({ text, dynamic, home, pattern }) => {
    // A program reads braces where the shell does not. Where it stands when it climbs is not known.
    if (dynamic || home || text.includes("{") || climbs.test(text) || !picksTests(text)) return false;
    const roots = [...text.matchAll(/\//g)].map(({ index }) => text.slice(index));
    // A pattern is allowed only where every path that it can match is in the tree.
    return roots.every((path, at) => {
      const isRoot = at === 0 && !/[\w.)*?\]]$/.test(text.slice(0, text.length - path.length));
      if (pattern && isRoot) return isInside(places.realPath(path), tree);
      return !isInside(places.realPath(path), kept);
    });
  });
}

/** Options that a gate is not meant to get: they load code, or name files somewhere else. */
const isForTests = ({ text }: ShellWord): boolean => !/^--?[\w-]+=(~|\/|\.\.\/)/.test(text) && !ofRunner.test(text);
const ofRunner =
  /^--?(script-?shell|node-options|userconfig|globalconfig|prefix|cache|logs-dir|require|import|loader)\b/i;

const climbs = /(^|[^\w.])\.\.($|[^\w.])/;

/** Variables reach the gate, too. */
function checkAroundGate(effects: ShellEffects, { files }: GuardPolicy): Denial | undefined {
  if (files === "scoped-write" || !effects.runsGate) return undefined;
  const found = namesSet(effects).find((name) => !onlyPrints.test(name) && !isOfLine.test(name));
  return found === undefined ? undefined : steering(found);
}

/** Ends of lines count: they end comments. */
const spaced = (text: string): string => text.trim().replaceAll(/[ \t]+/g, " ");

function first<T>(all: readonly T[], check: (each: T) => Denial | undefined): Denial | undefined {
  for (const each of all) {
    const denied = check(each);
    if (denied !== undefined) return denied;
  }
  return undefined;
}

function checkInvocation(
  invocation: Invocation,
  effects: ShellEffects,
  policy: GuardPolicy,
  machine: GuardMachine,
): Denial | undefined {
  const { name, args } = invocation;
  if ([arithmetic, "let"].includes(name) && policy.files === "read-only") {
    const computed = checkArithmetic(args, effects, policy);
    if (computed !== undefined) return computed;
  }
  if (name === arithmetic) return undefined;
  const denied =
    checkVariables(invocation, policy) ??
    checkOv(invocation, policy) ??
    checkNested(invocation, policy, machine.places) ??
    checkTracker(invocation, policy) ??
    checkDatabase(invocation, policy, machine.places) ??
    checkSecrets(invocation, effects.invocations, policy, machine.places) ??
    checkOutputVariables(invocation, policy, machine.places);
  if (denied !== undefined || name === "" || onlyLooks(invocation)) return denied;
  const fed = checkInput(invocation, effects, policy, machine);
  if (fed !== undefined) return fed;
  const git = asGit(invocation);
  if (git !== undefined) return checkGit(git, { ...policy, files: accessOf(policy) }, machine.places);
  const isOpaqueCode = isOpaque(name, args, invocation.input !== undefined) || runsHidden(name, args);
  if (isOpaqueCode && !policy.runsAnything) return opaque(name, policy);
  const beyond = checkMachine(invocation, effects.invocations);
  if (beyond !== undefined) return beyond;
  if (policy.files === "scoped-write") {
    return (
      checkTargets(invocation, effects, policy, machine) ??
      (policy.runsAnything || effects.functions.has(name)
        ? undefined
        : checkOutside(invocation, policy, machine.places)) ??
      checkPlace(invocation, effects, policy, machine)
    );
  }
  if (effects.functions.has(name) || changesNothing(invocation)) return undefined;
  const { places } = machine;
  const set = namesSet(effects);
  if (policy.tests && runsTests(invocation, set, policy, places)) return undefined;
  if (writesScratch(invocation, { policy, places, cwd: invocation.cwd, set })) return undefined;
  const why = `a ${policy.capability} changes nothing, and ${name} as it stands here is not known to only look`;
  return deny("read-only", `${why}${testsHint(policy)}${scratchHint(policy)}`);
}

/** Commands and patches that stand in the line itself are looked at, wherever they are read. */
function checkInput(
  { name, args, cwd, input }: Invocation,
  effects: ShellEffects,
  policy: GuardPolicy,
  machine: GuardMachine,
): Denial | undefined {
  if (policy.files === "read-only") return undefined;
  const { runs, writes } = inputEffects(name, args, input);
  if (runs && !policy.runsAnything) return opaque(name, policy);
  return first(writes, (target) => checkTarget({ target, cwd, adds: false }, effects, policy, machine));
}

const accessOf = ({ files, runsAnything }: GuardPolicy): GuardPolicy["files"] => (runsAnything ? "read-only" : files);

function testsHint({ tests, gates }: GuardPolicy): string {
  if (!tests) return "";
  const [gate] = gates;
  const which = gate === undefined ? "test runners" : `the gates (${gate}) and test runners`;
  return `; it may run ${which} in its worktree, with nothing behind them but paths and names of tests`;
}

/**
 * To compute with a variable, a shell evaluates its value, and runs the commands in an index that stands there. So its
 * value must be seen here to be a number.
 */
function checkArithmetic(
  args: readonly ShellWord[],
  { invocations }: ShellEffects,
  { capability }: GuardPolicy,
): Denial | undefined {
  const names = args.flatMap(({ text }) => variablesIn(text));
  const unknown = names.find((name) => !numbers.includes(name) && !isNumber(name, invocations));
  if (unknown === undefined) return undefined;
  return deny(
    "read-only",
    `a ${capability} changes nothing, and what computing with ${unknown} runs cannot be told; use awk or wc, or set it to a number here`,
  );
}

/** Variables that the shell itself keeps as numbers. */
const numbers: readonly string[] = "RANDOM SRANDOM SECONDS LINENO UID EUID PPID BASHPID EPOCHSECONDS".split(" ");

/** The variables of an expression whose values bash evaluates. Lengths (`${#a}`) and numbers with a base (`16#ff`) are safe. */
function variablesIn(text: string): readonly string[] {
  const rest = text
    // Bash does not evaluate the name on the left of an assignment.
    .replace(/^\s*\w+\s*=(?!=)/, "")
    .replaceAll(/\$\{#\w+(\[[@*]\])?\}|\$[#?]/g, "0")
    .replaceAll(/\$\(\(|\b(0[xX][\da-fA-F]+|\d+(#\w+)?)\b(?<!\$\d+)/g, " ");
  return rest.match(/[A-Za-z_]\w*|\$[\d@*]/g) ?? [];
}

function isNumber(name: string, invocations: readonly Invocation[]): boolean {
  const values = invocations.flatMap(({ assignments }) => assignments.filter((each) => each.name === name));
  const isRead = invocations.some((each) =>
    variablesSet(each.name, each.args).some((word) => word.dynamic || word.text === name),
  );
  return values.length > 0 && !isRead && values.every(({ value }) => showsNumber.test(value.text));
}

/** A number, a length, a result of computing, or the output of a program that prints only numbers. */
const showsNumber =
  /^(-?\d+|\{\d+\.\.\d+\}|\$\{#\w+(\[[@*]\])?\}|\$\(\((?:(?!\$\(|`).)*\)\)|\$\(([^`$;&]*\| *)?(wc -[lcmw]( *< *[\w./-]+)?|grep -c [^`$;&|]*|seq [\d ]+|nproc|date \+%s)\))$/;

/** Most programs that change files do it where they stand. */
function checkPlace(
  invocation: Invocation,
  { functions }: ShellEffects,
  policy: GuardPolicy,
  { places }: GuardMachine,
): Denial | undefined {
  const { name, cwd } = invocation;
  if (cwd === undefined || functions.has(name) || goesElsewhere.includes(name) || changesNothing(invocation))
    return undefined;
  return checkWrite(cwd, policy, places);
}

/** Going somewhere changes nothing there, and our own program knows its place by itself. */
const goesElsewhere = ["cd", "pushd", "popd", "ov"];

/** Git's commands are programs of their own, too. */
function asGit(invocation: Invocation): Invocation | undefined {
  // Some systems make no difference between small and capital letters.
  const name = invocation.name.toLowerCase().replace(/\.exe$/, "");
  const [, command] = /^git(?:-([a-z-]+))?$/.exec(name) ?? [];
  if (name === "git") return invocation;
  return command === undefined ? undefined : { ...invocation, args: [literal(command), ...invocation.args] };
}

/** A role that writes no files cannot put the code into one. */
function opaque(name: string, { files, capability }: GuardPolicy): Denial {
  const instead =
    files === "scoped-write"
      ? "write it into a file of yours, or do without"
      : `a ${capability} runs no code of its own: read the code, run the tests that there are, and report what they miss`;
  return deny("opaque-code", `code that is handed to ${name} cannot be looked at; ${instead}`);
}

/** Options of trackers with a value. What stands behind any other one may be the id of a task. */
const trackerValues: readonly string[] =
  `-s --status -p --priority -t --type -a --assignee -d --description -r --reason -e --estimate -l --labels --title --design
  --notes --append-notes --acceptance --external-ref --due --defer --parent --add-label --remove-label`.split(/\s+/);

/** A task that belongs to another agent is not this agent's to change. What the tracker sends away is the operator's to send. */
function checkTracker({ name, args }: Invocation, { taskId, capability }: GuardPolicy): Denial | undefined {
  if (!["sd", "bd"].includes(name)) return undefined;
  // It has no task of its own, and keeps the list of all of them.
  if (taskId === null && ["coordinator", "orchestrator"].includes(capability)) return undefined;
  const [verb, ...ids] = operandsBeside(args, trackerValues);
  if (name === "bd" && verb?.text === "sync" && capability !== "coordinator")
    return deny("publish", "bd sync pushes; what leaves this machine is the operator's to send");
  if (!/^(close|done|update|delete|reopen|edit|claim|assign|start|archive)$/.test(verb?.text ?? "")) return undefined;
  if (args.length === 2 && /^(--help|-h)$/.test(args[1]?.text ?? "")) return undefined;
  if (verb?.text === "delete") return deny("tracker", "no agent deletes a task; report that it is not needed");
  const own = ids.length > 0 && ids.every(({ text }) => text === taskId) && args.every(({ dynamic }) => !dynamic);
  return own ? undefined : deny("tracker", `change only your own task${taskId === null ? "" : ` ${taskId}`}`);
}

function checkTargets(
  invocation: Invocation,
  effects: ShellEffects,
  policy: GuardPolicy,
  machine: GuardMachine,
): Denial | undefined {
  const { name, program, args, cwd } = invocation;
  const called = { ...literal(program), home: program.startsWith("~") };
  const scripts = [...scriptFiles(name, args), ...(isShellFile.test(program) ? [called] : [])];
  const targets = [...scripts, ...(readsScript(name) ? [] : targetsOf(name, args))];
  const files = [...targets, ...databaseFiles(invocation, machine.places)];
  const adds = onlyAdds(name);
  return (
    first(scripts, (script) => checkScript(script, cwd, policy, machine.places)) ??
    first(files, (target) => checkTarget({ target, cwd, adds }, effects, policy, machine)) ??
    first(setsModes(name) ? targets : removedBy(name, args), (target) => {
      const path = absolute(target, cwd, machine.places.home);
      const kind = { pattern: target.pattern, stays: setsModes(name) };
      return path === undefined ? undefined : checkRemoval(path, policy, machine.places, kind);
    })
  );
}

/** A script of a shell, called by its path. Agents cannot write where the system has its programs. */
const isShellFile = /^(?!\/(usr|opt|bin|sbin|lib|nix|snap)\/(?!.*\.\.)).*\/.*\.(sh|bash|zsh|ksh|fish)$/;

/** Commands in a file that others may write as well are as good as commands from the input. */
function checkScript(
  script: ShellWord,
  cwd: string | undefined,
  policy: GuardPolicy,
  places: Places,
): Denial | undefined {
  const path = absolute(script, cwd, places.home);
  if (path === undefined || isInside(places.realPath(path), places.realPath(policy.worktree))) return undefined;
  if (isScratch(path, policy, places)) return undefined;
  return deny("boundary", `${script.text} lies outside your worktree ${policy.worktree}; run scripts of your worktree`);
}

interface Target {
  readonly target: ShellWord;
  readonly cwd: string | undefined;
  /** Nothing is taken away there. */
  readonly adds: boolean;
}

function checkTarget(
  { target, cwd, adds }: Target,
  effects: ShellEffects,
  policy: GuardPolicy,
  { places }: GuardMachine,
): Denial | undefined {
  const { invocations } = effects;
  const terms = { policy, places, cwd, set: namesSet(effects) };
  const path = absolute(target, cwd, places.home) ?? scratchPath(target, terms);
  if (policy.files === "read-only") {
    const harmless = (path !== undefined && isDevice(path)) || isScratchWord(target, terms);
    if (harmless) return undefined;
    const instead = `let the output be shown${scratchHint(policy)}`;
    return deny("read-only", `a ${policy.capability} writes no files; ${instead}`);
  }
  const paths = path === undefined ? temporaryPaths(target, { adds, invocations, places }) : [path];
  if (paths.length === 0) return policy.runsAnything ? undefined : untold;
  return first(paths, (each) => checkWrite(each, policy, places, target));
}

const untold = deny(
  "dynamic",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what to type.
  "which file this changes cannot be told before it runs; write its path out: src/*.ts may stand for several, and ${TMPDIR:-/tmp}/<name> for one to throw away",
);

interface TemporaryTerms {
  /** Nothing is taken away there: then it may be risked that the variable is empty. */
  readonly adds: boolean;
  readonly invocations: readonly Invocation[];
  readonly places: Places;
}

/** Where a path leads that begins with the variable of temporary directories; none when that cannot be told either. */
function temporaryPaths(word: ShellWord, { adds, invocations, places }: TemporaryTerms): readonly string[] {
  // The number of the shell is always there, and is digits alone.
  const text = word.text.replaceAll("$$", "0");
  if (/^\/[\w.+@%=,/-]+$/.test(text)) return [text];
  const [, variable, below = ""] = /^(\$TMPDIR|\$\{TMPDIR\}|\$\{TMPDIR:-\/tmp\})\/([\w.+@%=,/-]+)$/.exec(text) ?? [];
  if (variable === undefined || below.split("/").includes("..") || invocations.some(setsIt)) return [];
  const hasDefault = variable.includes(":-");
  return hasDefault || adds ? places.temporary.map((dir) => `${dir}/${below}`) : [];
}

const setsIt = ({ name, args, assignments }: Invocation): boolean =>
  assignments.some((each) => each.name === "TMPDIR") || variablesSet(name, args).some(({ text }) => text === "TMPDIR");
