import { absolute, isInside, type Places } from "./paths.ts";
import type { GuardPolicy } from "./policy.ts";
import { onlyPrints } from "./shell/gates.ts";
import type { Invocation } from "./shell/invocations.ts";
import type { ShellWord } from "./shell/syntax.ts";

/** How a program is called that runs tests. */
interface TestRunner {
  /** The words that begin the call, after the program. */
  readonly begins: readonly RegExp[];
  /** Options without a value. */
  readonly flags: RegExp;
  /** Options with a value, as the next word or behind an equals sign. The value picks tests or says how long. */
  readonly values: readonly string[];
  /** What its other words are: files of the worktree, names of tests or of packages, or nothing. Files when left out. */
  readonly words?: "names" | "none";
  /** What the words and values look like, where not every text is harmless. */
  readonly form?: { readonly word?: RegExp; readonly value?: RegExp };
  /** Which program gets the words is not known: a value may be a file there. */
  readonly unknown?: true;
}

const none = /^$/;

const jest: TestRunner = {
  begins: [],
  flags: /^(-i|--(ci|runInBand|bail|verbose|silent|no-cache|no-coverage))$/,
  values: ["-t", "--testNamePattern", "--testTimeout"],
};
const vitest: TestRunner = {
  ...jest,
  begins: [/^run$/],
  flags: /^--(bail=\d+|silent|no-coverage|reporter=(default|verbose|dot|tap))$/,
};
const mocha: TestRunner = {
  begins: [],
  flags: /^(-b|--bail|--exit)$/,
  values: ["-g", "--grep", "-f", "--fgrep", "-t", "--timeout"],
};
const pytest: TestRunner = {
  begins: [],
  flags: /^(-[qvsxl]+|--(exitfirst|verbose|quiet|no-header))$/,
  values: ["-k", "-m", "--maxfail", "--tb"],
  // Older versions evaluate these expressions as code.
  form: { value: /^[\w .:-]+$/ },
};
const unittest: TestRunner = { begins: [], flags: /^-[vqfb]+$/, values: ["-k"], words: "names" };

/** A script of the project whose name says that it tests. What stands behind it goes to a runner that is not known. */
const script: Omit<TestRunner, "begins"> = {
  flags: /^(--|--silent|--bail|-i)$/,
  values: ["-t", "-g", "-k", "--grep", "--testNamePattern", "--test-name-pattern", "--timeout"],
  unknown: true,
};
const scripts: readonly TestRunner[] = [
  { ...script, begins: [/^(t|test)$/] },
  { ...script, begins: [/^run$/, /^test(:[\w:-]+)?$/] },
];

/**
 * Programs that run tests of the project, with the options that only pick tests or say how to print. Options that name a
 * file to load, a program to run or a place to write to are in none of these lists.
 */
const runners: Readonly<Record<string, readonly TestRunner[]>> = {
  npm: scripts,
  pnpm: scripts,
  yarn: scripts,
  bun: [
    { begins: [/^test$/], flags: /^--(bail|only|todo)$/, values: ["-t", "--test-name-pattern", "--timeout"] },
    ...scripts.slice(1),
  ],
  node: [
    {
      begins: [/^--test$/],
      flags: /^--test-(only|reporter=(spec|tap|dot))$/,
      values: ["--test-name-pattern", "--test-timeout"],
    },
  ],
  deno: [{ begins: [/^test$/], flags: /^--(no-prompt|fail-fast)$/, values: ["--filter"] }],
  jest: [jest],
  vitest: [vitest],
  mocha: [mocha],
  pytest: [pytest],
  "py.test": [pytest],
  go: [
    {
      begins: [/^test$/],
      flags: /^-(v|race|short|failfast)$/,
      values: ["-run", "-timeout", "-count"],
      // Any other word is a package of whomever.
      form: { word: /^\.($|\/)/ },
    },
  ],
  cargo: [
    {
      begins: [/^test$/],
      flags: /^(-q|--|--(lib|bins|workspace|all|release|quiet|nocapture|exact|ignored|offline|locked))$/,
      values: ["-p", "--package", "--test", "--test-threads"],
      words: "names",
    },
  ],
  rspec: [{ begins: [], flags: /^--(fail-fast|no-color)$/, values: ["-e", "--example"] }],
  mix: [{ begins: [/^test$/], flags: /^--(trace|failed|stale)$/, values: ["--only", "--seed"] }],
  phpunit: [{ begins: [], flags: none, values: ["--filter"] }],
  make: [{ begins: [/^(test|check)$/], flags: none, values: [], words: "none" }],
};

/** Runners that an interpreter is given as a module: `python -m pytest`. */
const modules: Readonly<Record<string, TestRunner>> = { pytest, unittest };

/**
 * Does this run tests of the worktree and nothing else? The files that it names lie there: a file that an agent without a
 * right to write wrote for itself is not run. The line sets no variables but those that say how to print.
 */
export function runsTests(
  { name, program, args, cwd }: Invocation,
  set: readonly string[],
  { worktree, state }: GuardPolicy,
  places: Places,
): boolean {
  if (cwd === undefined || !set.every((variable) => onlyPrints.test(variable))) return false;
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
  return called(name, args).some(({ how, rest }) => fits(how, rest, isTreeFile));
}

/** An address, a file with further arguments, or a pattern that climbs. */
const leadsElsewhere = /:|^@|[*?[(].*\.\.|\.\..*[*?[(]/;

/** Where the project has its programs installed. */
const isInstalled = /^(\.\/)?(node_modules\/\.bin|vendor\/bin|\.?venv\/bin)\/[^/]+$/;

interface Called {
  readonly how: TestRunner;
  /** What follows the words that begin the call. */
  readonly rest: readonly ShellWord[];
}

/** The ways in which these words could be meant. */
function called(name: string, args: readonly ShellWord[]): readonly Called[] {
  const [first, second, ...rest] = args.map(({ text }) => text);
  // Without the option it would fetch a program that is not installed.
  if (name === "npx" && (first === "--no" || first === "--no-install")) {
    return second === "npx" ? [] : called(second ?? "", args.slice(2));
  }
  if (/^python[\d.]*$/.test(name)) {
    const known = first === "-m" ? ownOf(modules, second) : undefined;
    return known === undefined ? [] : [{ how: known, rest: args.slice(args.length - rest.length) }];
  }
  return (ownOf(runners, name) ?? []).flatMap((how) => {
    const begins = how.begins.every((word, at) => word.test(args[at]?.text ?? ""));
    return begins ? [{ how, rest: args.slice(how.begins.length) }] : [];
  });
}

const ownOf = <T>(table: Readonly<Record<string, T>>, name: string | undefined): T | undefined =>
  name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;

function fits(how: TestRunner, args: readonly ShellWord[], isTreeFile: (word: ShellWord) => boolean): boolean {
  const { flags, values, words, form, unknown } = how;
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
