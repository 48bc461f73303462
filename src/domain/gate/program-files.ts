import { join, piecesOf } from "./command-words.ts";
import type { NamedByCommand } from "./named-by-command.ts";

const nothing: NamedByCommand = { paths: [], scripts: [] };

/** The files and scripts that the first known program of the command reads. */
export function readByProgram(words: readonly string[], cwd: string): NamedByCommand {
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
    const inner = own.includes(verb) ? readByProgram(rest.slice(rest.indexOf(verb)), dir) : nothing;
    return {
      paths: [...settings.map((file) => join(dir, file)), ...inner.paths],
      scripts: [...names.map((each) => ({ manifest, name: each })), ...inner.scripts],
    };
  };

/** It runs the program behind it, by settings that may name a shell of their own, as `script-shell` of `.npmrc` does. */
const runner =
  (...settings: readonly string[]): Program =>
  (args, cwd) => {
    const { paths, scripts } = readByProgram(args, cwd);
    return { paths: [...settings.map((file) => join(cwd, file)), ...paths], scripts };
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
const byModule =
  (...endings: readonly string[]): Program =>
  (args, cwd) => ({
    paths: args
      .flatMap((word) => piecesOf(word))
      .flatMap((word) => endings.map((end) => `${word}${end}`))
      .map((path) => join(cwd, path)),
    scripts: [],
  });
const endings: readonly string[] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"];
const node = byModule(...endings, ...endings.map((end) => `/index${end}`), "/package.json");

/** Python also runs directories, and modules by their names. Each package on the way to a module is run before it. */
const python: Program = (args, cwd) => {
  const text = args[args.indexOf("-c") + 1] ?? "";
  const inText = args.includes("-c")
    ? [...text.matchAll(imported)].map(([, from, name]) => `${from ?? ""}.${name}`)
    : [];
  const module = args.includes("-m") ? args[args.indexOf("-m") + 1] : undefined;
  const found = [...inText, ...(module === undefined ? [] : [module])].flatMap((each) => {
    const parts = each.split(".").filter((part) => part !== "");
    const packages = parts.map((_, at) => parts.slice(0, at + 1).join("/"));
    return [...packages.flatMap((path) => [`${path}.py`, `${path}/__init__.py`]), `${packages.at(-1)}/__main__.py`];
  });
  const settings = module === "pytest" ? ofPytest : [];
  const directories = args.filter((word) => !word.startsWith("-")).map((word) => `${word}/__main__.py`);
  return { paths: [...found, ...settings, ...directories].map((path) => join(cwd, path)), scripts: [] };
};
/** The files that are pytest's alone. Each counts before any other configuration, even an empty one. */
const ofPytest: readonly string[] = ["pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"];

/** `from a.b import c` and `import a.b`. */
const imported = /(?:\bfrom\s+([\w.]+)\s+)?\bimport\s+([\w.]+)/g;

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

const ofPnpm: readonly string[] = [".npmrc", "pnpm-workspace.yaml", ".pnpmfile.cjs", ".pnpmfile.mjs"];

const programs: Readonly<Record<string, Program>> = {
  npm: manager(["exec", "x", "pack", "audit", "ls", "view", "version"], [".npmrc"]),
  pnpm: manager(["exec", "dlx", "audit", "ls"], ofPnpm),
  yarn: manager(["exec", "dlx", "node"], [".yarnrc", ".yarnrc.yml"]),
  bun,
  npx: runner(".npmrc"),
  pnpx: runner(...ofPnpm),
  bunx: runner("bunfig.toml"),
  node,
  tsx: node,
  "ts-node": node,
  ruby: byModule(".rb"),
  python,
  pytest: byFile(ofPytest, ["-c", "--config-file"]),
  // A toolchain may be a directory of the project.
  cargo: byFile([".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"], []),
  // Options that are added to every command line, and a program that is run in the place of bazel.
  mvn: byFile([".mvn/maven.config", ".mvn/extensions.xml", ".mvn/jvm.config"], []),
  bazel: byFile([".bazelrc", "tools/bazel"], []),
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
export function placeOf(args: readonly string[], cwd: string, flags: readonly string[]) {
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
