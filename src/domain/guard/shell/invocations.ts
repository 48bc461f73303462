import { absolute } from "../paths.ts";
import { type Denial, deny } from "../tool-use.ts";
import { type GateCommands, readGates } from "./gates.ts";
import {
  literal,
  type ParseShell,
  type ShellAssignment,
  type ShellCommand,
  type ShellNode,
  type ShellWord,
} from "./syntax.ts";
import { execsOf, runs, scriptOf, type Unwrapped, unwrap } from "./wrappers.ts";

/** One program that a text would run, whatever it is wrapped in. */
export interface Invocation {
  /** Without its directory. Empty for assignments alone. */
  readonly name: string;
  /** As it was written. */
  readonly program: string;
  readonly args: readonly ShellWord[];
  readonly assignments: readonly ShellAssignment[];
  /** Where it would run; undefined when that cannot be told. */
  readonly cwd: string | undefined;
}

export interface ShellEffects {
  readonly invocations: readonly Invocation[];
  /** Files that are opened for writing. */
  readonly writes: readonly { readonly target: ShellWord; readonly cwd: string | undefined }[];
  /** Functions that the text itself defines; what they do is among the invocations. */
  readonly functions: ReadonlySet<string>;
  /** It runs a gate, which is not among the invocations. */
  readonly runsGate: boolean;
}

export interface ReadingTerms {
  readonly parse: ParseShell;
  readonly cwd: string | undefined;
  readonly home: string | undefined;
  /** Command lines that are as good as known: they are not looked into. */
  readonly gates: readonly string[];
  /** May a gate be run with these words behind it, in this place? */
  mayRunGate(behind: readonly ShellWord[], cwd: string | undefined): boolean;
}

/** Everything that a text would run and open, or why that cannot be told. */
export function readShell(text: string, terms: ReadingTerms): ShellEffects | Denial {
  const reader = new Reader(terms);
  reader.script(text, 0);
  return reader.denial ?? reader;
}

const deepest = 8;

class Reader implements ShellEffects {
  readonly invocations: Invocation[] = [];
  readonly writes: { target: ShellWord; cwd: string | undefined }[] = [];
  readonly functions = new Set<string>();
  runsGate = false;
  denial: Denial | undefined;
  readonly #terms: ReadingTerms;
  readonly #gates: GateCommands;
  #cwd: string | undefined;

  constructor(terms: ReadingTerms) {
    this.#terms = terms;
    this.#cwd = terms.cwd;
    this.#gates = readGates(terms.gates, terms.parse);
  }

  script(text: string, depth: number): void {
    const nodes = depth > deepest ? undefined : this.#terms.parse(text);
    if (nodes === undefined) this.#deny(deny("syntax", "this is no shell command that can be read; write it plainly"));
    else this.#walk(nodes, depth);
  }

  #deny(denial: Denial): void {
    this.denial ??= denial;
  }

  #walk(nodes: readonly ShellNode[], depth: number): void {
    for (const node of nodes) {
      if (node.kind === "command") this.#command(node, depth);
      else if (node.apart) this.#apart(() => this.#walk(node.nodes, depth));
      else {
        if (node.name !== undefined) this.functions.add(node.name);
        this.#walk(node.nodes, depth);
      }
    }
  }

  #apart(work: () => void): void {
    const before = this.#cwd;
    work();
    this.#cwd = before;
  }

  #command(command: ShellCommand, depth: number): void {
    const { words, assignments, writes, inner } = command;
    for (const target of writes) this.writes.push({ target, cwd: this.#cwd });
    if (this.#gates.has(command) && this.#gate([])) return;
    this.#apart(() => this.#walk(inner, depth));
    if (words.length === 0) this.#push("", [], assignments);
    this.#run(words, assignments, depth);
  }

  #gate(behind: readonly ShellWord[]): boolean {
    const may = this.#terms.mayRunGate(behind, this.#cwd);
    this.runsGate ||= may;
    return may;
  }

  #run(words: readonly ShellWord[], assignments: readonly ShellAssignment[], depth: number): void {
    const [program, ...args] = words;
    if (program === undefined) return;
    const behind = this.#gates.behind(words, assignments);
    if (behind !== undefined && this.#gate(behind)) return;
    const name = program.text.slice(program.text.lastIndexOf("/") + 1);
    const inside = unwrap(name, args);
    // A name behind an equals sign is looked up by some shells.
    if (program.dynamic || program.pattern || program.home || program.text.startsWith("=")) {
      this.#deny(deny("dynamic", "which program this runs cannot be told; write its name out"));
    } else if (name === "command" && /^-[pvV]*[vV]/.test(args[0]?.text ?? "")) {
      this.#push("type", args.slice(1), assignments);
    } else if (inside === "unreadable" || (name === "alias" && args.length + assignments.length > 0)) {
      this.#deny(deny("dynamic", `what ${name} runs here cannot be told; call the program itself`));
    } else if (inside === undefined) {
      this.#program({ program: program.text, name, args, assignments }, depth);
    } else {
      this.#unwrapped(name, inside, assignments, depth);
    }
  }

  #unwrapped(name: string, inside: Unwrapped, before: readonly ShellAssignment[], depth: number): void {
    const assignments = [...before, ...inside.assignments.map(assignmentOf)];
    if (inside.words.length === 0) this.#push(name, [], assignments);
    this.#apart(() => {
      if (inside.directory !== undefined) this.#enter(inside.directory);
      this.#run(inside.words, assignments, depth);
    });
  }

  #program({ program, name, args, assignments }: Omit<Invocation, "cwd">, depth: number): void {
    const script = scriptOf(name, args);
    if (script === "opaque") {
      this.#deny(deny("opaque-code", `what ${name} would run here cannot be seen; run the commands themselves`));
      return;
    }
    if (script !== undefined) {
      this.#push("", [], assignments);
      this.#apart(() => this.script(script.text, depth + 1));
      return;
    }
    for (const words of execsOf(name, args)) this.#run(words, [], depth);
    this.#run(runs(name, args), [], depth);
    this.#push(program, args, assignments);
    if (["cd", "pushd"].includes(name)) this.#enter(args.find(({ text }) => !/^-[LPe@]+$/.test(text)) ?? homeWord);
    if (name === "popd") this.#cwd = undefined;
  }

  #enter(directory: ShellWord): void {
    this.#cwd = directory.text === "-" ? undefined : absolute(directory, this.#cwd, this.#terms.home);
  }

  #push(program: string, args: readonly ShellWord[], assignments: readonly ShellAssignment[]): void {
    const name = program.slice(program.lastIndexOf("/") + 1);
    this.invocations.push({ name, program, args, assignments, cwd: this.#cwd });
  }
}

const homeWord: ShellWord = { ...literal("~"), home: true };

function assignmentOf({ text, ...rest }: ShellWord): ShellAssignment {
  const at = text.indexOf("=");
  return { name: text.slice(0, at), value: { ...rest, text: text.slice(at + 1) } };
}
