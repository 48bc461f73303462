import { simpleCommands, substituted, substitutionsIn } from "./simple-commands.ts";

/**
 * The files and manifest scripts that a command of the project names in its words. This is a fence for reviews, not a
 * proof: the files that those files run are not followed.
 */
export interface NamedByCommand {
  /** Words that could be paths, from the root of the project. */
  readonly paths: readonly string[];
  /** Entries of `scripts` in a package manifest. */
  readonly scripts: readonly { readonly manifest: string; readonly name: string }[];
}

/**
 * `dir` is the directory the command runs in, from the root of the project; empty for the root itself. `isRun`: the output
 * of the command is run in turn, as with `eval "$(cat check.sh)"`.
 */
export function namedByCommand(command: string, dir = "", { isRun = false } = {}): NamedByCommand {
  const paths = new Set<string>();
  const scripts = new Map<string, { readonly manifest: string; readonly name: string }>();
  const take = (named: NamedByCommand): void => {
    for (const path of named.paths) paths.add(path);
    for (const script of named.scripts) scripts.set(`${script.manifest} ${script.name}`, script);
  };
  const { text, inner } = substitutionsIn(command.replace(variableBefore, "./"));
  const commands = simpleCommands(text);
  let cwd = dir;
  for (const [at, words] of commands.entries()) {
    const looks = looksOnly({ words, line: text, later: commands.slice(at + 1), isRun });
    const isAssignment = words.every((word) => /^\w+=/.test(word));
    const isOutputRun = isAssignment ? runsText.test(text) : !looks;
    // A substituted command runs, whatever its output is used for.
    for (const word of words) {
      for (const [, at = ""] of word.matchAll(substituted)) {
        take(namedByCommand(inner.get(at) ?? "", cwd, { isRun: isOutputRun }));
        inner.delete(at);
      }
    }
    const [first, second] = words;
    if (first === "cd" && second !== undefined) {
      cwd = join(cwd, second);
      continue;
    }
    if (looks || isAssignment) continue;
    const found = new Set<string>();
    for (const word of words) {
      // A whole command in quotes, as behind `sh -c`.
      if (/\s/.test(word)) take(namedByCommand(word, cwd));
      for (const part of [word, word.slice(word.indexOf("=") + 1)]) {
        if (part !== "") found.add(join(cwd, part));
        // A substituted command in front of a path most often says where the project is.
        const rest = part.replace(substitutedBefore, "");
        if (rest !== part) for (const from of ["", cwd]) found.add(join(from, rest));
      }
    }
    const { paths: looked, scripts: named } = lookedUp(words, cwd);
    take({ paths: looked, scripts: named });
    const isTests = isTestRunner(words) ? isTestFile : () => false;
    for (const path of found) if (!isTests(path)) paths.add(path);
  }
  // Substituted commands in assignments.
  for (const each of inner.values()) take(namedByCommand(each, cwd, { isRun: runsText.test(text) }));
  return { paths: [...paths], scripts: [...scripts.values()] };
}

/**
 * A path that begins with a variable most often begins at the root of the project. If not, one path too many is named.
 */
const variableBefore = /(["']?)\$(?:\{[^}]*\}|\w+|\(\s*pwd\s*\))\1\//g;
const substitutedBefore = /^\uE000\d+\uE001\//;

/** Programs that run what they are given as text. */
const runsText = /(^|[\s;&|(/])(eval|source|\.|sh|bash|dash|zsh|ksh|fish)(\s|$)/;

interface Look {
  readonly words: readonly string[];
  /** The whole line. */
  readonly line: string;
  /** The commands that follow in the line. */
  readonly later: readonly (readonly string[])[];
  /** The output is run. */
  readonly isRun: boolean;
}

/**
 * Does a command only look at files, as `test -e a.txt` does? Then the gate checks those files and does not run them. A
 * file whose content goes to another program, or whose copy is named again, may be run there.
 */
function looksOnly({ words, line, later, isRun }: Look): boolean {
  const program = words.find((word) => !shellWords.has(word)) ?? "";
  const isNamedAgain = (word: string | undefined, commands: Look["later"]): boolean =>
    word !== undefined && commands.some((each) => each.some((one) => one === word || one.startsWith(`${word}/`)));
  if (copiers.has(program)) return !isNamedAgain(words.at(-1), later);
  if (!showers.has(program)) return lookers.has(program);
  // The line was split at redirections too: the file behind `>` is the first word of the next part.
  return !isRun && !/\||<\(/.test(line) && !isNamedAgain(later[0]?.[0], later.slice(1));
}

const shellWords = new Set(["!", "if", "then", "elif", "else", "while", "until", "do", "time"]);
const showers = new Set(["cat", "head", "tail"]);
const copiers = new Set(["cp", "mv", "ln", "install"]);
const lookers = new Set(
  "test [ [[ : true false exit return echo printf grep egrep fgrep ls wc diff cmp sort uniq stat sleep touch rm mkdir read set export fi done".split(
    " ",
  ),
);

/**
 * Does the command give files to a test runner, which decides what a test is? Then adding a test to a named file is
 * ordinary work. A file that an interpreter runs by itself, as in `python3 test.py`, is the gate.
 */
function isTestRunner(words: readonly string[]): boolean {
  return words.some((word, at) => {
    const name = word.slice(word.lastIndexOf("/") + 1);
    const next = words[at + 1] ?? "";
    if (testRunners.has(name) || (name === "-m" && next === "unittest")) return true;
    return (withTestCommand.has(name) && next === "test") || (name === "node" && words.includes("--test"));
  });
}

const testRunners = new Set(
  "pytest py.test nose2 vitest jest mocha ava tap jasmine karma playwright cypress rspec phpunit ctest prove".split(
    " ",
  ),
);
const withTestCommand = new Set(["bun", "deno", "go", "cargo", "dart", "flutter", "mix", "swift", "dotnet"]);

/** A shell script is part of the gate itself. */
const isTestFile = (path: string): boolean =>
  !/\.(sh|bash|zsh|fish|ps1|bat|cmd)$/.test(path) &&
  /(^|\/)((tests?|spec)\.\w+|[^/]*[._-](test|spec)\.\w+|test_[^/]*\.py)$/.test(path);

const nothing: NamedByCommand = { paths: [], scripts: [] };

/** The files and scripts that the first known program of the command reads. */
function lookedUp(words: readonly string[], cwd: string): NamedByCommand {
  for (const [at, word] of words.entries()) {
    const program = programs[word.slice(word.lastIndexOf("/") + 1).replace(/^python[\d.]+$/, "python")];
    if (program !== undefined) return program(words.slice(at + 1), cwd);
  }
  return nothing;
}

type Program = (args: readonly string[], cwd: string) => NamedByCommand;

const manager =
  (own: readonly string[], settings: readonly string[]): Program =>
  (args, cwd) => {
    const { dir, rest } = placeOf(args, cwd, ["--prefix", "-C", "--dir", "--cwd"]);
    const words = rest.filter((word, at) => !word.startsWith("-") && !valued.includes(rest[at - 1] ?? ""));
    const [verb = "install", next] = words;
    const name = aliases[verb] ?? (runs.includes(verb) ? next : own.includes(verb) ? undefined : verb);
    const names = installs.includes(verb) ? onInstall : name === undefined ? [] : [`pre${name}`, name, `post${name}`];
    const manifest = join(dir, "package.json");
    return {
      paths: settings.map((file) => join(dir, file)),
      scripts: names.map((each) => ({ manifest, name: each })),
    };
  };

/** Flags of package managers that take the next word as their value. */
const valued: readonly string[] = "--loglevel --workspace -w --filter -F --registry --cache --userconfig".split(" ");
const runs: readonly string[] = ["run", "run-script", "rum", "urn"];
const aliases: Readonly<Record<string, string>> = {
  t: "test",
  tst: "test",
  test: "test",
  start: "start",
  stop: "stop",
};
const installs: readonly string[] = ["install", "i", "ci", "clean-install", "install-clean", "add"];
/**
 * Scripts of the project itself that an installation runs. The scripts of its dependencies are fixed by the lock file.
 */
const onInstall: readonly string[] = ["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"];

/** Node and its relatives also find a module that is named without its ending. */
const node: Program = (args, cwd) => ({
  paths: args
    .filter((word) => !word.startsWith("-"))
    .flatMap((word) => [...endings.flatMap((end) => [`${word}${end}`, `${word}/index${end}`]), `${word}/package.json`])
    .map((path) => join(cwd, path)),
  scripts: [],
});
const endings: readonly string[] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"];

/** Python also runs directories, and modules by their names. */
const python: Program = (args, cwd) => {
  const at = args.indexOf("-m");
  const module = at < 0 ? undefined : args[at + 1]?.replaceAll(".", "/");
  const found = module === undefined ? [] : [`${module}.py`, `${module}/__init__.py`, `${module}/__main__.py`];
  const settings = module === "pytest" ? ["pytest.ini"] : [];
  const directories = args.filter((word) => !word.startsWith("-")).map((word) => `${word}/__main__.py`);
  return { paths: [...found, ...settings, ...directories].map((path) => join(cwd, path)), scripts: [] };
};

/** `bun test` is Bun's own test runner, not the script `test`. */
const bun: Program = (args, cwd) => {
  if (args.find((word) => !word.startsWith("-")) === "test") return { paths: [join(cwd, "bunfig.toml")], scripts: [] };
  const { paths, scripts } = manager(["x", "build", "upgrade", "exec"], ["bunfig.toml"])(args, cwd);
  return { paths: [...paths, ...node(args, cwd).paths], scripts };
};

const byFile =
  (files: readonly string[], fileFlags: readonly string[]): Program =>
  (args, cwd) => {
    const { dir, rest } = placeOf(args, cwd, ["-C", "--directory"]);
    const named = rest.map((word, at) => valueIn(word, rest[at + 1], fileFlags)).find((value) => value !== undefined);
    return { paths: (named === undefined ? files : [named]).map((file) => join(dir, file)), scripts: [] };
  };

const make = byFile(["GNUmakefile", "makefile", "Makefile"], ["-f", "--file", "--makefile"]);

const programs: Readonly<Record<string, Program>> = {
  npm: manager(["exec", "x", "pack", "audit", "ls", "view", "version"], [".npmrc"]),
  pnpm: manager(["exec", "dlx", "audit", "ls"], [".npmrc", "pnpm-workspace.yaml", ".pnpmfile.cjs"]),
  yarn: manager(["exec", "dlx", "node"], [".yarnrc", ".yarnrc.yml"]),
  bun,
  node,
  tsx: node,
  "ts-node": node,
  python,
  pytest: byFile(["pytest.ini"], ["-c", "--config-file"]),
  cargo: byFile([".cargo/config.toml", ".cargo/config"], []),
  make,
  gmake: make,
  just: byFile(["justfile", "Justfile", ".justfile"], ["-f", "--justfile"]),
  task: byFile(["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"], ["-t", "--taskfile"]),
  deno: byFile(["deno.json", "deno.jsonc"], ["-c", "--config"]),
  tox: byFile(["tox.ini"], ["-c", "--conf"]),
  nox: byFile(["noxfile.py"], ["-f", "--noxfile"]),
  rake: byFile(["Rakefile", "rakefile"], ["-f", "--rakefile"]),
};

/** The directory that one of the flags names, and the words without that flag. */
function placeOf(args: readonly string[], cwd: string, flags: readonly string[]) {
  const rest: string[] = [];
  let dir = cwd;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    const named = valueIn(word, args[at + 1] ?? "", flags);
    if (named === undefined) rest.push(word);
    else dir = join(cwd, named);
    if (flags.includes(word)) at++;
  }
  return { dir, rest };
}

/**
 * The value of one of the flags: the next word, the text behind an equals sign, or the text right behind its letter.
 */
function valueIn(word: string, next: string | undefined, flags: readonly string[]): string | undefined {
  if (flags.includes(word)) return next;
  const flag = flags.find((each) => word.startsWith(each.length === 2 ? each : `${each}=`));
  return flag === undefined ? undefined : word.slice(flag.length).replace(/^=/, "");
}

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

/** Joins two paths from the root of the project. A path that leads out of the project stays outside. */
function join(dir: string, path: string): string {
  const parts: string[] = path.startsWith("/") ? ["", "outside"] : dir === "" ? [] : dir.split("/");
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}
