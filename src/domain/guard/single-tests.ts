import { knownCheckers } from "./code-checkers.ts";
import { absolute, isInside, type Places } from "./paths.ts";
import type { GuardPolicy } from "./policy.ts";
import { isOfLine, onlyPrints } from "./shell/gates.ts";
import type { Invocation } from "./shell/invocations.ts";
import type { ShellWord } from "./shell/syntax.ts";
import { knownRunners, type TestRunner } from "./test-runners.ts";

/**
 * Does this run tests of the worktree, or check its code, and nothing else? The files that it names lie there: a file that
 * an agent without a right to write wrote for itself is not run. The line sets no variables but those that say how to print.
 */
export function runsTests(
  { name, program, args, cwd }: Invocation,
  set: readonly string[],
  { worktree, state }: GuardPolicy,
  places: Places,
): boolean {
  if (cwd === undefined || !set.every((variable) => onlyPrints.test(variable) || isOfLine.test(variable))) return false;
  if (program !== name && !isInstalled.test(program)) return false;
  // A word in braces becomes several, which may lead anywhere. Where the shell leaves the braces alone, runners read them.
  if (args.some(({ text, dynamic, home }) => dynamic || home || text.includes("{"))) return false;
  const isInTree = (path: string | undefined): boolean =>
    path !== undefined &&
    isInside(places.realPath(path), places.realPath(worktree)) &&
    !isInside(places.realPath(path), places.realPath(state));
  if (!isInTree(cwd)) return false;
  const isTreeFile = (word: ShellWord): boolean => {
    const text = word.text.replace(/(::.*|:\d+)$/, "");
    return !leadsElsewhere.test(text) && isInTree(absolute({ ...word, text }, cwd, places.home));
  };
  const words = withoutPart(name, args, isTreeFile);
  return words !== undefined && called(name, words).some(({ how, rest }) => fits(how, rest, isTreeFile));
}

/**
 * May this word follow a gate? Which program gets it is not known. So it is no option, or one by which a known runner or
 * checker picks tests or says how to print. What some programs take for a file to write is none of these.
 */
export function picksTests(text: string): boolean {
  if (!text.startsWith("-") || text === "--") return true;
  if (/^-[ouUwW]|^--out/.test(text)) return false;
  const { testRunners, moduleRunners } = knownRunners();
  const { codeCheckers } = knownCheckers();
  const all = [...Object.values(testRunners), ...Object.values(codeCheckers), ...Object.values(moduleRunners)].flat();
  return all.some(
    ({ flags, values }) => flags.test(text) || values.some((value) => text === value || text.startsWith(`${value}=`)),
  );
}

/** An address, a file with further arguments, or a pattern that climbs. */
const leadsElsewhere = /:|^@|[*?[(].*\.\.|\.\..*[*?[(]/;

/** Where the project has its programs installed. */
const isInstalled =
  /^(\.\/)?((node_modules\/\.bin|vendor\/bin|\.?venv\/bin)\/[^/]+|bin\/(rails|rspec|rubocop)|gradlew|mvnw)$/;

interface Called {
  readonly how: TestRunner;
  /** What follows the words that begin the call. */
  readonly rest: readonly ShellWord[];
}

/** The ways in which these words could be meant. */
function called(name: string, args: readonly ShellWord[]): readonly Called[] {
  const inner = carriedRunner(name, args);
  const { testRunners, moduleRunners, testScripts } = knownRunners();
  const { codeCheckers, moduleCheckers } = knownCheckers();
  if (inner !== undefined) return called(inner[0]?.text ?? "", inner.slice(1));
  const [first, second] = args.map(({ text }) => text);
  if (/^(python|pypy)[\d.]*$/.test(name)) {
    if (first !== "-m") return matching(testScripts[first === "manage.py" ? first : ""], args.slice(1));
    return [ownOf(moduleRunners, second), ...(ownOf(moduleCheckers, second) ?? [])].flatMap((how) =>
      matching(how, args.slice(2)),
    );
  }
  if (name === "php" && first === "artisan") return matching(testScripts.artisan, args.slice(1));
  return [...(ownOf(testRunners, name) ?? []), ...(ownOf(codeCheckers, name) ?? [])].flatMap((how) =>
    matching(how, args),
  );
}

function matching(how: TestRunner | undefined, args: readonly ShellWord[]): readonly Called[] {
  const begins = how?.begins.every((word, at) => word.test(args[at]?.text ?? "")) === true;
  return how !== undefined && begins ? [{ how, rest: args.slice(how.begins.length) }] : [];
}

/**
 * What is run by a program that looks a runner up: one that the project has installed, or the well-known one of that name.
 * Undefined: it is no such program, or it runs something else.
 */
function carriedRunner(name: string, args: readonly ShellWord[]): readonly ShellWord[] | undefined {
  const [first] = args.map(({ text }) => text);
  const rest =
    name === "npx"
      ? args.slice(first === "--no" || first === "--no-install" ? 1 : 0)
      : name === "bunx"
        ? args
        : /^(uv|poetry|pipenv|pdm|rye|hatch)$/.test(name) && first === "run"
          ? args.slice(1)
          : /^(bundle|pnpm|yarn)$/.test(name) && first === "exec"
            ? args.slice(1)
            : /^(pnpm|yarn)$/.test(name)
              ? args
              : undefined;
  const runner = rest?.[0]?.text ?? "";
  const isKnown =
    Object.hasOwn(knownRunners().testRunners, runner) || Object.hasOwn(knownCheckers().codeCheckers, runner);
  return isKnown || /^python[\d.]*$/.test(runner) ? rest : undefined;
}

const ownOf = <T>(table: Readonly<Record<string, T>>, name: string | undefined): T | undefined =>
  name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;

function fits(how: TestRunner, args: readonly ShellWord[], isTreeFile: (word: ShellWord) => boolean): boolean {
  const { flags, values, words, form, unknown, needs, unless } = how;
  if (unless?.test(args.map(({ text }) => text).join(" ")) === true) return false;
  if (needs !== undefined && !args.some(({ text }) => needs.test(text))) return false;
  const isValue = (word: ShellWord): boolean =>
    // Some runners take a word with a dash for the next option.
    !word.text.startsWith("-") && form?.value?.test(word.text) !== false && (unknown !== true || isTreeFile(word));
  const isWord = (word: ShellWord): boolean => {
    if (word.text.startsWith("-") || words === "none") return false;
    return words === "names" ? isName.test(word.text) : form?.word?.test(word.text) !== false && isTreeFile(word);
  };
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === undefined) return false;
    const { text } = word;
    const given = values.find((value) => text === value || text.startsWith(`${value}=`));
    if (given !== undefined) {
      const value = text === given ? args[++at] : { ...word, text: text.slice(given.length + 1) };
      if (value === undefined || !isValue(value)) return false;
    } else if (!flags.test(text) && !isWord(word)) return false;
  }
  return true;
}

const isName = /^\w[\w.:-]*$/;

/** How a program is told in which part of a project it works. */
interface PartOptions {
  readonly flags: RegExp;
  /** Options with the name of a part or a directory. */
  readonly values: readonly string[];
  /** Behind its first word the options belong to what it runs. */
  readonly before?: true;
}

const none = /^$/;

const parts: Readonly<Record<string, PartOptions>> = {
  npm: { flags: /^(-ws|--workspaces|--if-present)$/, values: ["-w", "--workspace", "--prefix", "-C"] },
  pnpm: {
    flags: /^(-r|--recursive|-w|--workspace-root|--stream|--parallel|--no-bail|--if-present|-s|--silent)$/,
    values: ["--filter", "-F", "-C", "--dir"],
    before: true,
  },
  yarn: { flags: none, values: ["--cwd"], before: true },
  bun: { flags: /^--silent$/, values: ["--filter", "-F", "--cwd"], before: true },
  make: { flags: /^(-[sk]|-j\d*|--no-print-directory|--silent)$/, values: ["-C", "--directory"] },
  cargo: { flags: none, values: ["--manifest-path"] },
  uv: { flags: /^(-q|--(quiet|frozen|locked|no-sync|offline|dev|all-extras|all-groups))$/, values: [], before: true },
};

/**
 * The words of a call without those that say in which part of the project it is made. Undefined: a part lies somewhere else.
 */
function withoutPart(
  name: string,
  args: readonly ShellWord[],
  isTreeFile: (word: ShellWord) => boolean,
): readonly ShellWord[] | undefined {
  const known = Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (known === undefined) return args;
  const kept: ShellWord[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === undefined) break;
    const { text } = word;
    const isOver = text === "--" || (known.before === true && !text.startsWith("-") && !leadsOn.test(text));
    if (isOver) return [...kept, ...args.slice(at)];
    const option = known.values.find((each) => text === each || text.startsWith(`${each}=`));
    if (option !== undefined) {
      const part = text === option ? args[++at] : { ...word, text: text.slice(option.length + 1) };
      if (part === undefined || !isPart(part, isTreeFile)) return undefined;
    } else if (name === "yarn" && text === "workspace" && kept.length === 0) at++;
    else if (!known.flags.test(text)) kept.push(word);
  }
  return kept;
}

/** Words in front of the name of a script or a program. */
const leadsOn = /^(run|exec|workspace)$/;

/** A name may have that of its owner in front. */
const isPart = (word: ShellWord, isTreeFile: (word: ShellWord) => boolean): boolean =>
  !word.text.startsWith("-") && isTreeFile({ ...word, text: word.text.replace(/^@/, "") });
