import { join, piecesOf, readingsOf, useOf, type Values } from "./command-words.ts";
import { placeOf, readByProgram } from "./program-files.ts";
import { commandsIn, isAssignment, type SimpleCommand, substituted, substitutionsIn } from "./simple-commands.ts";
import { loopRuns, walkedFiles } from "./walked-files.ts";

/**
 * The files and manifest scripts that a command of the project names in its words. This is a fence for reviews, not a
 * proof: the files that those files run are not followed.
 */
export interface NamedByCommand {
  /**
   * Words that could be paths, from the root of the project. A pattern such as `checks/*.sh` is among them where the command
   * runs the files that it matches.
   */
  readonly paths: readonly string[];
  /** Entries of `scripts` in a package manifest. */
  readonly scripts: readonly { readonly manifest: string; readonly name: string }[];
}

/**
 * The use of a command's output. `shown`: nothing but printing. `decides`: another command depends on it, such as a
 * limit in `test 3 -le $(cat limit)`. `run`: it is run, as in `eval "$(cat check.sh)"`.
 */
type Output = "shown" | "decides" | "run";

interface Around {
  readonly output: Output;
  readonly values: Values;
  /** Directories in which programs and modules are looked for. */
  readonly search: readonly string[];
}

const alone: Around = { output: "shown", values: new Map(), search: [] };

/**
 * `dir` is the directory the command runs in, from the root of the project; empty for the root itself. Every part of a
 * word counts that could be a path, in arguments, in values of options and in assignments, except where the command only
 * looks at its files.
 */
export function namedByCommand(command: string, dir = "", around: Around = alone): NamedByCommand {
  const paths = new Set<string>();
  const scripts = new Map<string, { readonly manifest: string; readonly name: string }>();
  const take = (named: NamedByCommand): void => {
    for (const path of named.paths) paths.add(path);
    for (const script of named.scripts) scripts.set(`${script.manifest} ${script.name}`, script);
  };
  const { text, inner } = substitutionsIn(command);
  const commands = commandsIn(text).map(withDeclared);
  const line: Line = { text, commands, output: around.output };
  const values = valuesIn(commands, around.values);
  const search = [...around.search];
  let cwd = dir;
  // A substituted command always runs; `output` is only the use of its text.
  const takeInner = (word: string, output: Output): void => {
    for (const [, number = ""] of word.matchAll(substituted))
      take(namedByCommand(inner.get(number) ?? "", cwd, { output, values, search }));
  };
  for (const [at, { assigned, words }] of commands.entries()) {
    for (const word of assigned) {
      const uses = usesOf(nameIn(word), line);
      takeInner(word, mostOf(uses.map(({ output }) => output)));
      const value = word.slice(word.indexOf("=") + 1);
      const readings = readingsOf(value, values);
      const directories = readings.flatMap((reading) => directoriesIn(nameIn(word), reading, cwd));
      search.push(...directories);
      for (const path of directories.flatMap((each) => runFrom(nameIn(word), each))) paths.add(path);
      if (uses.length > 0 && uses.every(({ looks }) => looks)) continue;
      if (/\s/.test(value)) take(namedByCommand(value, cwd, { ...around, values, search }));
      const options = optionsOf[nameIn(word)];
      if (options !== undefined) take(readByProgram([options, ...value.split(/\s+/)], cwd));
      // A file of tests that an interpreter runs by itself counts where the variable is used.
      for (const piece of readings.flatMap(piecesOf)) if (!isTestFile(piece)) paths.add(join(cwd, piece));
    }
    const program = programOf(words);
    const looks = looksOnly(at, line);
    const output = loopRuns(at, commands) ? "run" : outputForArgument(words, looks);
    for (const word of words) takeInner(word, output);
    if (program === "cd" || program === "pushd") {
      const to = words.slice(words.indexOf(program) + 1).find((word) => !/^[-+]/.test(word)) ?? "";
      cwd = join(cwd, (readingsOf(to, values).at(-1) ?? to).replaceAll(substituted, "."));
      continue;
    }
    for (const path of walkedFiles(at, { commands, cwd, isRun: around.output === "run" })) paths.add(path);
    const plain = words.map((word) => readingsOf(word, values).at(-1) ?? word);
    if (looks) {
      for (const each of search) paths.add(join(each, program));
      for (const path of measuresIn(program, plain)) paths.add(join(cwd, path));
      continue;
    }
    const here = placeIn(plain, cwd);
    const elsewhere = placeOf(plain, here, placeFlags).dir;
    const found = new Set<string>();
    for (const word of words) {
      // A variable or a substituted command in front of a path often says where the project is.
      const root = /[$\uE000]/.test(word) ? [""] : [];
      for (const reading of readingsOf(word, values)) {
        // A whole command in quotes, as behind `sh -c`.
        if (/\s/.test(reading)) take(namedByCommand(reading, here, { output: "shown", values, search }));
        for (const piece of piecesOf(reading))
          for (const from of [here, elsewhere, ...search, ...root]) found.add(join(from, piece));
      }
    }
    take(readByProgram(plain, here));
    for (const each of search) take({ paths: readByProgram(plain, each).paths, scripts: [] });
    const isTests = runsTests(at, line) ? isTestFile : () => false;
    const runs = runsItsFiles(at, line);
    for (const path of found) {
      if (isPattern.test(path) ? runs && !matchesTests(path, at, line) : !isTests(path)) paths.add(path);
    }
  }
  return { paths: [...paths], scripts: [...scripts.values()] };
}

/** `export A=b` and its relatives assign too. */
function withDeclared(command: SimpleCommand): SimpleCommand {
  const [program = ""] = command.words;
  if (!declarers.has(program) && program !== "env") return command;
  const assigned = [...command.assigned, ...command.words.filter(isAssignment)];
  const words = command.words.filter((word) => !isAssignment(word));
  return { ...command, assigned, words: declarers.has(program) ? [] : words };
}
const declarers = new Set(["export", "declare", "typeset", "readonly", "local"]);

const nameIn = (assigned: string): string => /^\w+/.exec(assigned)?.[0] ?? "";

/** The values of the variables in a line, also of those that a loop goes through. */
function valuesIn(commands: readonly SimpleCommand[], before: Values): Values {
  const values = new Map(before);
  const give = (name: string, given: string): void => {
    // Without quotes a value of several words is used word by word.
    const readings = readingsOf(given, values).flatMap((reading) => [...reading.split(/\s+/), reading]);
    values.set(name, [...new Set([...(values.get(name) ?? []), ...readings])]);
  };
  for (const { assigned, words } of commands) {
    for (const word of assigned) give(nameIn(word), word.slice(word.indexOf("=") + 1));
    const at = words.indexOf("for");
    if (at >= 0 && words[at + 2] === "in" && /^\w+$/.test(words[at + 1] ?? ""))
      for (const word of words.slice(at + 3)) give(words[at + 1] ?? "", word);
  }
  return values;
}

/** Directories that a variable such as PATH, PYTHONPATH, NODE_PATH, PERL5LIB adds to those that are searched. */
const directoriesIn = (name: string, value: string, cwd: string): readonly string[] =>
  /(PATH|LIB)$/.test(name)
    ? value.split(":").flatMap((each) => (/^\$|^$/.test(each) ? [] : [join(cwd, each.replaceAll(substituted, "."))]))
    : [];

/** Python runs these by itself when it finds them. */
const runFrom = (name: string, dir: string): readonly string[] =>
  name === "PYTHONPATH" ? [join(dir, "sitecustomize.py"), join(dir, "usercustomize.py")] : [];

/** Variables that hold options of a program. */
const optionsOf: Readonly<Record<string, string>> = { NODE_OPTIONS: "node", BUN_OPTIONS: "bun", RUBYOPT: "ruby" };

/** The directory that `env` goes to before it runs the rest. */
const placeIn = (words: readonly string[], cwd: string): string =>
  programOf(words) === "env" ? placeOf(words, cwd, ["-C", "--chdir"]).dir : cwd;
const placeFlags = ["-C", "--chdir", "--cwd", "--directory", "--dir", "--prefix"];

/** A line of shell, and what becomes of the text that it prints. */
interface Line {
  readonly text: string;
  readonly commands: readonly SimpleCommand[];
  readonly output: Output;
}

const programOf = (words: readonly string[]): string => words.find((word) => !shellWords.has(word)) ?? "";
const shellWords = new Set(["!", "if", "then", "elif", "else", "while", "until", "do", "time", "command", "exec"]);

/** Programs that run the text or the files that they are given. */
const runners =
  /^(eval|source|\.|sh|bash|dash|zsh|ksh|fish|xargs|parallel|env|python[\d.]*|node|bun|deno|perl|ruby|php)$/;
const runsText = (words: readonly string[]): boolean => words.some((word) => runners.test(word.replace(/^.*\//, "")));

/** The commands of the line that use a variable, and what each uses it for. */
function usesOf(name: string, line: Line): readonly { readonly output: Output; readonly looks: boolean }[] {
  const use = useOf(name);
  return line.commands.flatMap(({ assigned, words }, at) => {
    const looks = looksOnly(at, line);
    const output = loopRuns(at, line.commands) ? "run" : outputForArgument(words, looks);
    if (words.some((word) => use.test(word))) return [{ output, looks }];
    return assigned.some((word) => use.test(word)) ? [{ output: "decides", looks: false }] : [];
  });
}

/** A variable that the line itself does not use is for a program in it. */
const mostOf = (outputs: readonly Output[]): Output =>
  outputs.includes("run") ? "run" : outputs.length === 0 || outputs.includes("decides") ? "decides" : "shown";

/** What the output of a substituted command is used for among these words. */
function outputForArgument(words: readonly string[], looks: boolean): Output {
  const program = programOf(words);
  if (!looks) return runsText(words) ? "run" : "decides";
  // A file that is compared with a fixed text is checked. Of two files that are compared, either may be the limit.
  if (testers.has(program)) return words.filter((word) => /[$\uE000]/.test(word)).length > 1 ? "decides" : "shown";
  return lookers.has(program) ? "decides" : "shown";
}

/**
 * Does a command only look at files, as `test -e a.txt` does? Then the gate checks those files and does not run them. A
 * file whose content goes to another program, or whose copy is named again, may be run there.
 */
function looksOnly(at: number, { text, commands, output }: Line): boolean {
  const words = commands[at]?.words ?? [];
  const program = programOf(words);
  const later = commands.slice(at + 1);
  if (quiet.has(program) || testers.has(program)) return true;
  if (copiers.has(program)) return !words.slice(words.indexOf(program) + 1).some((word) => isNamedAgain(word, later));
  // The line was split at redirections too: the file behind `>` is the first word of the next part.
  const isKept = isNamedAgain(later[0]?.words[0], later.slice(1));
  if (showers.has(program)) return output === "shown" && !/\||[<>]\(/.test(text) && !isKept;
  const into = commands
    .slice(at)
    .flatMap(({ end }, step) => (end === "|" ? [commands[at + step + 1]?.words ?? []] : []));
  const before = commands[at - 1];
  const isRead = before?.end === "<" && /<\(/.test(text) && runsText(before.words);
  if (printers.has(program))
    return output === "shown" && !into.some((sink) => !passes(programOf(sink))) && !isRead && !isKept;
  const isFed = />\(/.test(text) && later.some((each) => runsText(each.words));
  return lookers.has(program) && output !== "run" && !into.some(runsText) && !isRead && !isFed && !isKept;
}

/** Does a later command that is more than a look name the file, or a file of its name? */
function isNamedAgain(word: string | undefined, later: readonly SimpleCommand[]): boolean {
  const name = word?.slice(word.lastIndexOf("/") + 1) ?? "";
  if (word === undefined || /^(\.*|-.*)$/.test(name)) return false;
  return later.some(
    ({ words }) =>
      !passes(programOf(words)) &&
      words.some((one) => one === name || one.endsWith(`/${name}`) || one.startsWith(`${word}/`)),
  );
}

const passes = (program: string): boolean =>
  [quiet, testers, printers, lookers, filters].some((known) => known.has(program));

const testers = new Set(["test", "[", "[["]);
const quiet = new Set([":", "true", "false", "sleep", "touch", "rm", "mkdir", "read", "fi", "done"]);
const printers = new Set(["echo", "printf"]);
const showers = new Set(["cat", "head", "tail"]);
const copiers = new Set(["cp", "mv", "ln", "install"]);
const lookers = new Set(["grep", "egrep", "fgrep", "ls", "wc", "sort", "uniq", "stat", "exit", "return"]);
const filters = new Set(["tee", "cut", "tr", "nl", "column"]);

/** Files that a looking program takes its measure from, and does not judge: the patterns of `grep -f`. */
function measuresIn(program: string, words: readonly string[]): readonly string[] {
  if (!lookers.has(program)) return [];
  return words.flatMap((word, at) => {
    const next = words[at + 1] ?? "";
    if (/^--(fi|exclude-f|files0)/.test(word)) return [word.includes("=") ? word.slice(word.indexOf("=") + 1) : next];
    if (!/^-[^-]*f/.test(word) || !program.includes("grep")) return [];
    return word.endsWith("f") ? [next] : [word.slice(word.indexOf("f") + 1)];
  });
}

/**
 * Does the command give files to a test runner, which decides what a test is? Then adding a test to a named file is
 * ordinary work. A file that an interpreter runs by itself, as in `python3 test.py`, is the gate.
 */
function runsTests(at: number, { commands }: Line): boolean {
  const { words = [], end } = commands[at] ?? {};
  if (end === "|" && printers.has(programOf(words))) return runsTests(at + 1, { commands, text: "", output: "shown" });
  return words.some((word, place) => {
    const name = word.slice(word.lastIndexOf("/") + 1);
    const next = words[place + 1] ?? "";
    if (testRunners.has(name) || (name === "-m" && next === "unittest")) return true;
    return (withTestCommand.has(name) && next === "test") || (name === "node" && words.includes("--test"));
  });
}

const isPattern = /[*?[{]/;

/**
 * Does the command run the files that it names? A checker does not: the files in `eslint src/*.ts` are ordinary work.
 */
function runsItsFiles(at: number, { commands }: Line): boolean {
  const { words = [], end } = commands[at] ?? {};
  if (words.some((word) => interpreters.test(word.replace(/^.*\//, "")))) return true;
  // A pattern in the place of the program.
  if (isPattern.test(programOf(words))) return true;
  return end === "|" && at + 1 < commands.length && runsItsFiles(at + 1, { commands, text: "", output: "shown" });
}

const interpreters = /^(eval|source|\.|sh|bash|dash|zsh|ksh|fish|python[\d.]*|node|bun|deno|perl|ruby|php)$/;

/** A pattern for a test runner stands for tests, with any file name. Scripts of a shell stay the gate's own. */
const matchesTests = (pattern: string, at: number, line: Line): boolean =>
  runsTests(at, line) && !isShellScript.test(pattern);

const testRunners = new Set(
  "pytest py.test nose2 vitest jest mocha ava tap jasmine karma playwright cypress rspec phpunit ctest prove".split(
    " ",
  ),
);
const withTestCommand = new Set(["bun", "deno", "go", "cargo", "dart", "flutter", "mix", "swift", "dotnet"]);

/** A shell script is part of the gate itself. */
const isShellScript = /\.(sh|bash|zsh|fish|ps1|bat|cmd)$/;
const isTestFile = (path: string): boolean =>
  !isShellScript.test(path) && /(^|\/)((tests?|spec)\.\w+|[^/]*[._-](test|spec)\.\w+|test_[^/]*\.py)$/.test(path);

/** The paths that these paths lead to through symbolic links. `links` maps the path of a link to its target. */
export const pathsBehind = (paths: readonly string[], links: ReadonlyMap<string, string>): readonly string[] =>
  [...links].flatMap(([link, target]) => {
    const real = behindLink(link, target);
    return paths
      .filter((path) => path === link || path.startsWith(`${link}/`))
      .map((path) => join(real, path.slice(link.length).replace(/^\//, "")));
  });

/** The path that a link leads to, from the root of the project. */
export const behindLink = (link: string, target: string): string =>
  join(link.slice(0, Math.max(link.lastIndexOf("/"), 0)), target);
