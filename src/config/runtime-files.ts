import { relative } from "node:path";
import { isNeverPassedOn } from "../domain/agent/environment.ts";
import { type BrokenRuntime, type RuntimeFiles, type RuntimeSpec, runtimeNames } from "../domain/agent/runtime-spec.ts";
import type { Shape } from "../domain/name/name.ts";
import { nearest } from "../domain/name/nearest.ts";
import { isPlainName } from "./keys.ts";
import { type ConfigProblem, printable } from "./problem.ts";
import { type Complain, readValue } from "./read.ts";
import { boolean, choice, type KeySpec, optionalText, text, texts } from "./schema/key.ts";
import { textOf } from "./source-text.ts";
import { type ConfigFiles, runtimeFilesIn } from "./sources.ts";
import { entryOf, type Tree } from "./tree.ts";

const isName = (name: string): boolean => /^[a-z0-9][a-z0-9_-]{0,63}$/.test(name);

/** Reads every `.overstory/runtimes/*.yaml`. A file that cannot be used does not affect the other runtimes. */
export async function loadRuntimeFiles({ root }: Pick<ConfigFiles, "root">): Promise<RuntimeFiles> {
  const specs: RuntimeSpec[] = [];
  const broken: BrokenRuntime[] = [];
  for (const path of runtimeFilesIn(root)) {
    const id = path.slice(path.lastIndexOf("/") + 1).replace(/\.ya?ml$/, "");
    const problems: ConfigProblem[] = [];
    const spec = await readRuntimeFile(id, path, problems);
    const [first] = printable(problems);
    if (first === undefined && spec !== undefined) specs.push(spec);
    if (first !== undefined) broken.push({ id, ...first, file: relative(root, path) });
  }
  return { specs, broken };
}

async function readRuntimeFile(id: string, file: string, problems: ConfigProblem[]): Promise<RuntimeSpec | undefined> {
  const wrong = (message: string): undefined => {
    problems.push({ file, line: 0, column: 0, key: "", message });
  };
  const misnamed = whyMisnamed(id, file);
  if (misnamed !== undefined) return wrong(misnamed);
  const source = textOf(file);
  if (!source.ok) return wrong(source.why);
  const { parseYaml } = await import("./yaml.ts");
  const { tree, errors } = parseYaml(source.value);
  problems.push(...errors.map((error) => ({ file, key: "", ...error })));
  if (problems.length > 0) return undefined;
  if (tree === undefined) return wrong("is empty; it must at least name the program");
  if (tree.kind !== "section") return wrong("must be a section with keys such as program");
  const read = new FileReader(file, problems);
  const values = read.section(tree, keys, "");
  if (entryOf(tree, "program") === undefined)
    problems.push({ file, line: tree.line, column: tree.column, key: "program", message: "is missing" });
  if (values.model.flag !== undefined && values.model.option !== undefined)
    read.complain(
      entryOf(tree, "model")?.value ?? tree,
      "model",
      "has both a flag and an option; one of them tells the model",
    );
  const { driver: _, model, mode, login, ...rest } = values;
  return {
    id,
    ...rest,
    mode: mode ?? null,
    model: { flag: model.flag ?? null, option: model.option ?? null, aliases: model.aliases },
    login: { ...login, advice: login.advice ?? null },
  };
}

function whyMisnamed(id: string, file: string): string | undefined {
  if (!file.endsWith(".yaml")) return "is not read; its name must end in .yaml";
  if (runtimeNames.some((name) => name === id))
    return `has the name of a runtime of ov; give it another one than ${id}`;
  return isName(id) ? undefined : "must be named with small letters, digits, _ and -, such as goose.yaml";
}

const programName: Shape = {
  must: "the name of a program on the PATH, or an absolute path",
  fits: (name) => (name.includes("/") ? name.startsWith("/") && !name.endsWith("/") : !name.startsWith("-")),
};

const variablePattern: Shape = {
  must: "the name of a variable, or the beginning of several and a *, such as GOOSE_*",
  fits: (name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || /^[A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]*\*$/.test(name),
};

/** No name that leads out of the directory that it stands for. */
const pathInside: Shape = {
  must: "a path inside, without .. and without / in front",
  fits: (path) => {
    const parts = path.split("/");
    // The directory itself would be a whole home.
    const isBelow = parts.some((part) => part !== "" && part !== ".");
    return isBelow && !path.startsWith("/") && !path.startsWith("~") && !parts.includes("..");
  },
};

const optionName: Shape = { must: "one word", fits: (name) => /^\S+$/.test(name) };

/** What a program is given of variables must not say who the agent is, where it finds programs, or how they are loaded. */
const ours = (name: string): boolean =>
  /^(?:OVERSTORY_|LD_|DYLD_|GIT_)/.test(name) ||
  ["PATH", "HOME", "TMPDIR", "SHELL"].includes(name) ||
  isNeverPassedOn(name);

/** Every key of a runtime file. */
export const keys = {
  driver: choice(["acp"], { doc: "How the program is talked to.", default: "acp" }),
  program: text({ doc: "The program: a name on the PATH, or an absolute path.", default: "", shape: programName }),
  args: texts({ doc: "Arguments with which it speaks the protocol on its input and output.", default: [] }),
  versionArgs: texts({ doc: "Arguments with which it says its version.", default: ["--version"] }),
  instructionFile: text({
    doc: "Where it looks for instructions in the worktree.",
    default: "AGENTS.md",
    shape: pathInside,
  }),
  guardedFiles: texts({
    doc: "Globs of files that steer it: no agent may change them, and a branch that does waits for you.",
    default: [],
    shape: pathInside,
  }),
  environment: texts({
    doc: "Variables of your shell that it needs: names, or beginnings of names and a *.",
    default: [],
    shape: variablePattern,
  }),
  variables: { each: text({ doc: "Variables that it is given, by name.", default: "" }) },
  model: {
    flag: optionalText({ doc: "The flag that tells it the model.", shape: optionName }),
    option: optionalText({ doc: "The option of a conversation that tells it the model.", shape: optionName }),
    aliases: { each: text({ doc: "What it calls a model, by the short name.", default: "" }) },
  },
  mode: optionalText({ doc: "The mode of a conversation in which it asks before it uses tools.", shape: optionName }),
  usage: choice(["prompt", "process", "none"], {
    doc: "Which tokens the answer to a prompt tells: those of the prompt, all since the process began, or none to be counted.",
    default: "prompt",
  }),
  resume: boolean({ doc: "A later process can go on with a conversation.", default: true }),
  tools: boolean({ doc: "It starts the tool server that it is told of.", default: true }),
  stays: boolean({ doc: "It does not leave at the end of its input.", default: false }),
  login: {
    variables: texts({ doc: "Variables of which one is a login.", default: [], shape: variablePattern }),
    files: texts({ doc: "Files in your home of which one is a login.", default: [], shape: pathInside }),
    advice: optionalText({ doc: "What to do without a login." }),
  },
  home: {
    keeps: texts({ doc: "Directories in your home where it keeps conversations.", default: [], shape: pathInside }),
    brings: texts({
      doc: "Files in your home that it needs where the system confines it.",
      default: [],
      shape: pathInside,
    }),
  },
} satisfies Keys;

interface Keys {
  readonly [name: string]: KeySpec | Keys | Free;
}

/** A section whose names are free. */
interface Free {
  readonly each: KeySpec<string>;
}

type ValuesOf<K> = {
  readonly [Name in keyof K]: K[Name] extends { readonly each: unknown }
    ? Readonly<Record<string, string>>
    : K[Name] extends { readonly doc: string; readonly default: infer T }
      ? T
      : ValuesOf<K[Name]>;
};

class FileReader {
  readonly #file: string;
  readonly #problems: ConfigProblem[];

  constructor(file: string, problems: ConfigProblem[]) {
    this.#file = file;
    this.#problems = problems;
  }

  complain(at: { readonly line: number; readonly column: number }, key: string, message: string, near?: string): void {
    const { line, column } = at;
    const more = near === undefined ? {} : { nearest: near };
    this.#problems.push({ file: this.#file, line, column, key, message, ...more });
  }

  /** The values of a section, with defaults for what it does not name. Its problems are told. */
  section<K extends Keys>(tree: Tree | undefined, known: K, above: string): ValuesOf<K> {
    const entries = this.#entries(tree, above);
    for (const entry of entries) {
      if (Object.hasOwn(known, entry.key)) continue;
      this.complain(entry, `${above}${entry.key}`, "is not a known key", nearest(entry.key, Object.keys(known)));
    }
    const made: Record<string, unknown> = {};
    for (const [name, spec] of Object.entries(known)) {
      const given = entries.find((entry) => entry.key === name)?.value;
      const key = `${above}${name}`;
      if (isKey(spec)) made[name] = given === undefined ? spec.default : this.#value(spec, given, key);
      else if (isFree(spec)) made[name] = this.#free(spec, given, key, name === "variables" && above === "");
      else made[name] = this.section(given, spec, `${key}.`);
    }
    // Filled from the table that its type is computed from.
    return made as ValuesOf<K>;
  }

  #free({ each }: Free, tree: Tree | undefined, key: string, areVariables: boolean): Readonly<Record<string, unknown>> {
    const made: [string, unknown][] = [];
    for (const entry of this.#entries(tree, `${key}.`)) {
      const name = `${key}.${entry.key}`;
      const isVariable = /^[A-Za-z_][A-Za-z0-9_]*$/.test(entry.key);
      if (areVariables ? !isVariable : !isPlainName(entry.key)) this.complain(entry, name, "is not a usable name");
      else if (areVariables && ours(entry.key))
        this.complain(entry, name, "is a variable that ov sets itself, or that nobody gets");
      else made.push([entry.key, this.#value(each, entry.value, name)]);
    }
    return Object.fromEntries(made);
  }

  #entries(tree: Tree | undefined, above: string) {
    if (tree === undefined || (tree.kind === "leaf" && tree.value === null)) return [];
    if (tree.kind === "section") return tree.entries;
    this.complain(tree, above.replace(/\.$/, ""), "must be a section");
    return [];
  }

  #value(spec: KeySpec, tree: Tree, key: string): unknown {
    const complain: Complain = (at, message, more = {}) =>
      this.complain(at, key + (more.within ?? ""), message, more.nearest);
    return readValue(spec, tree, complain)?.value ?? spec.default;
  }
}

const isKey = (spec: KeySpec | Keys | Free): spec is KeySpec => "doc" in spec && typeof spec.doc === "string";
const isFree = (spec: Keys | Free): spec is Free => "each" in spec;
