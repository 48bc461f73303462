/**
 * What a command of the project runs, as far as its words say it: files by their names, and entries that a program looks
 * up in a file of the project. It is a fence for reviews, not a proof: what those files run in turn is not followed.
 */
export interface NamedByCommand {
  /** Words that could be paths, from the root of the project. */
  readonly paths: readonly string[];
  /** Entries of `scripts` in a package manifest. */
  readonly scripts: readonly { readonly manifest: string; readonly name: string }[];
}

/** `dir`: where the command runs, from the root of the project; empty for the root itself. */
export function namedByCommand(command: string, dir = ""): NamedByCommand {
  const paths = new Set<string>();
  const scripts = new Map<string, { readonly manifest: string; readonly name: string }>();
  let cwd = dir;
  for (const words of simpleCommands(command)) {
    const [first, second] = words;
    if (first === "cd" && second !== undefined) {
      cwd = join(cwd, second);
      continue;
    }
    if (looksOnly(words, command)) continue;
    for (const word of words) {
      // A whole command in quotes, as behind `sh -c`.
      if (/\s/.test(word)) {
        const inner = namedByCommand(word, cwd);
        for (const path of inner.paths) paths.add(path);
        for (const script of inner.scripts) scripts.set(`${script.manifest} ${script.name}`, script);
      }
      for (const part of [word, word.slice(word.indexOf("=") + 1)]) if (part !== "") paths.add(join(cwd, part));
    }
    const looked = lookedUp(words, cwd);
    for (const path of looked.paths) paths.add(path);
    for (const script of looked.scripts) scripts.set(`${script.manifest} ${script.name}`, script);
  }
  return { paths: [...paths], scripts: [...scripts.values()] };
}

/**
 * Whether a command only looks at files, as `test -e a.txt` does: those are what the gate is about, not what it runs. What
 * is shown to another program by `cat` may be run there.
 */
function looksOnly(words: readonly string[], line: string): boolean {
  const program = words.find((word) => !shellWords.has(word)) ?? "";
  return lookers.has(program) || (program === "cat" && !line.includes("|"));
}

const shellWords = new Set(["!", "if", "then", "elif", "else", "while", "until", "do", "time"]);
const lookers = new Set(
  "test [ [[ : true false exit return echo printf grep egrep fgrep ls head tail wc diff cmp sort uniq stat sleep touch rm mkdir cp mv read set export fi done".split(
    " ",
  ),
);

const nothing: NamedByCommand = { paths: [], scripts: [] };

/** What the first program among the words that looks something up finds it in. */
function lookedUp(words: readonly string[], cwd: string): NamedByCommand {
  for (const [at, word] of words.entries()) {
    const program = programs[word.slice(word.lastIndexOf("/") + 1)];
    if (program !== undefined) return program(words.slice(at + 1), cwd);
  }
  return nothing;
}

type Program = (args: readonly string[], cwd: string) => NamedByCommand;

const manager =
  (own: readonly string[], settings: readonly string[]): Program =>
  (args, cwd) => {
    const { dir, rest } = placeOf(args, cwd, ["--prefix", "-C", "--dir", "--cwd"]);
    const words = rest.filter((word) => !word.startsWith("-"));
    const [verb = "install", next] = words;
    const name = aliases[verb] ?? (runs.includes(verb) ? next : own.includes(verb) ? undefined : verb);
    const names = installs.includes(verb) ? onInstall : name === undefined ? [] : [`pre${name}`, name, `post${name}`];
    const manifest = join(dir, "package.json");
    return {
      paths: settings.map((file) => join(dir, file)),
      scripts: names.map((each) => ({ manifest, name: each })),
    };
  };

const runs: readonly string[] = ["run", "run-script", "rum", "urn"];
const aliases: Readonly<Record<string, string>> = {
  t: "test",
  tst: "test",
  test: "test",
  start: "start",
  stop: "stop",
};
const installs: readonly string[] = ["install", "i", "ci", "clean-install", "install-clean", "add"];
/** Of the project itself; those of its dependencies are in the lock file. */
const onInstall: readonly string[] = ["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"];

/** Bun has a test runner of its own under that name. */
const bun: Program = (args, cwd) =>
  args.find((word) => !word.startsWith("-")) === "test"
    ? { paths: [join(cwd, "bunfig.toml")], scripts: [] }
    : manager(["x", "build", "upgrade", "exec"], ["bunfig.toml"])(args, cwd);

const byFile =
  (files: readonly string[], fileFlags: readonly string[]): Program =>
  (args, cwd) => {
    const { dir, rest } = placeOf(args, cwd, ["-C", "--directory"]);
    const at = rest.findIndex((word) => fileFlags.includes(word));
    const named = at < 0 ? undefined : rest[at + 1];
    return { paths: (named === undefined ? files : [named]).map((file) => join(dir, file)), scripts: [] };
  };

const make = byFile(["GNUmakefile", "makefile", "Makefile"], ["-f", "--file", "--makefile"]);

const programs: Readonly<Record<string, Program>> = {
  npm: manager(["exec", "x", "pack", "audit", "ls", "view", "version"], [".npmrc"]),
  pnpm: manager(["exec", "dlx", "audit", "ls"], [".npmrc", "pnpm-workspace.yaml", ".pnpmfile.cjs"]),
  yarn: manager(["exec", "dlx", "node"], [".yarnrc", ".yarnrc.yml"]),
  bun,
  make,
  gmake: make,
  just: byFile(["justfile", "Justfile", ".justfile"], ["-f", "--justfile"]),
  task: byFile(["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"], ["-t", "--taskfile"]),
  deno: byFile(["deno.json", "deno.jsonc"], ["-c", "--config"]),
  tox: byFile(["tox.ini"], ["-c", "--conf"]),
  nox: byFile(["noxfile.py"], ["-f", "--noxfile"]),
  rake: byFile(["Rakefile", "rakefile"], ["-f", "--rakefile"]),
};

/** The directory that a flag names, and the words without it. */
function placeOf(args: readonly string[], cwd: string, flags: readonly string[]) {
  const rest: string[] = [];
  let dir = cwd;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    const flag = flags.find((each) => word === each || word.startsWith(`${each}=`));
    if (flag === undefined) rest.push(word);
    else if (word === flag) dir = join(cwd, args[++at] ?? "");
    else dir = join(cwd, word.slice(flag.length + 1));
  }
  return { dir, rest };
}

/** The words of each command in a line of shell. Quotes are taken off; what a variable stands for is not known. */
export function simpleCommands(text: string): readonly (readonly string[])[] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  const endWord = (): void => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = (): void => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === "'" || sign === '"') {
      const end = text.indexOf(sign, at + 1);
      word = (word ?? "") + text.slice(at + 1, end < 0 ? text.length : end);
      at = end < 0 ? text.length : end;
    } else if (sign === "\\") word = (word ?? "") + text.charAt(++at);
    else if (/[;&|()\n{}<>]/.test(sign)) endCommand();
    else if (/\s/.test(sign)) endWord();
    else word = (word ?? "") + sign;
  }
  endCommand();
  return commands.map((each) =>
    each.slice(
      Math.max(
        each.findIndex((one) => !/^\w+=/.test(one)),
        0,
      ),
    ),
  );
}

/** Both from the root of the project; what leads out of it is no path of the project. */
function join(dir: string, path: string): string {
  const parts: string[] = path.startsWith("/") ? ["", "outside"] : dir === "" ? [] : dir.split("/");
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}
