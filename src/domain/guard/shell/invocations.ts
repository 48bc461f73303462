import { type Denial, deny } from "../tool-use.ts";
import { carried, terminalScripts } from "./carriers.ts";
import { execsOf } from "./find.ts";
import { foundFiles, ofLoop, withFound } from "./found-files.ts";
import { type GateCommands, readGates } from "./gates.ts";
import {
  assignmentOf,
  callsItself,
  declared,
  declares,
  indexScripts,
  makesUnseen,
  onlyAtEnd,
  renames,
  variableScript,
} from "./hidden-code.ts";
import { assignedIn, KnownValues, oneOfEach } from "./known-values.ts";
import { runs } from "./package-runners.ts";
import type { Place } from "./places.ts";
import { printedBy } from "./printed-text.ts";
import { asPlace, Standing, type StandingTerms } from "./standing.ts";
import {
  literal,
  type ParseShell,
  type ShellAssignment,
  type ShellCommand,
  type ShellGroup,
  type ShellNode,
  type ShellWord,
} from "./syntax.ts";
import { handed, type Input, scriptOf, type Unwrapped, unwrap } from "./wrappers.ts";

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
  /** It is run without the variables of the agent. */
  readonly bare: boolean;
  /** The text that it reads, where that is in the line; dynamic where something else in the line makes it. */
  readonly input?: ShellWord | undefined;
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

export interface ReadingTerms extends StandingTerms {
  readonly parse: ParseShell;
  readonly cwd: string | undefined;
  readonly worktree: string;
  /** Where temporary files lie. Undefined: values of variables are not followed. */
  readonly temporary: string | undefined;
  /** Command lines that are as good as known: they are not looked into. */
  readonly gates: readonly string[];
  /** May a gate be run with these words behind it, in this place? */
  mayRunGate(behind: readonly ShellWord[], cwd: string | undefined): boolean;
}

/** Everything that a text would run and open, or why that cannot be told. */
export function readShell(text: string, terms: ReadingTerms): ShellEffects | Denial {
  const reader = new Reader(terms);
  try {
    reader.script(text, 0);
    reader.end();
  } catch (error) {
    // Nested more deeply than can be followed.
    if (error instanceof RangeError) return unreadableText;
    throw error;
  }
  return reader.denial ?? reader;
}

const unreadableText = deny("syntax", "this is no shell command that can be read; write it plainly");

const deepest = 8;
/** A text that runs more commands than this was not written as a command. */
const mostInvocations = 4_000;

const tooLong = deny("unreadable", "this is too long to be read; run it in pieces");
const mostWrappers = 100;

class Reader implements ShellEffects {
  readonly invocations: Invocation[] = [];
  readonly writes: { target: ShellWord; cwd: Place }[] = [];
  readonly functions = new Set<string>();
  runsGate = false;
  denial: Denial | undefined;
  readonly #terms: ReadingTerms;
  readonly #gates: GateCommands;
  readonly #bodies = new Map<string, readonly ShellNode[]>();
  readonly #traps: string[] = [];
  readonly #standing: Standing;
  #bare = false;
  #wrappers = 0;
  readonly #known: KnownValues;
  #input: Input = {};

  constructor(terms: ReadingTerms) {
    this.#terms = terms;
    this.#standing = new Standing(terms.cwd, terms);
    this.#gates = readGates(terms.gates, terms.parse);
    this.#known = new KnownValues(terms.temporary);
    if (terms.temporary === undefined) this.#known.lose();
  }

  script(text: string, depth: number): void {
    if (this.denial !== undefined) return;
    const nodes = depth > deepest ? undefined : this.#terms.parse(text);
    if (nodes === undefined) this.#deny(unreadableText);
    else this.#walk(nodes, depth, depth === 0);
  }

  /** What is left for the end of the shell runs where the shell stands by then. */
  end(): void {
    this.#standing.end();
    for (const text of this.#traps) this.script(text, 1);
  }

  #deny(denial: Denial): void {
    this.denial ??= denial;
  }

  #walk(nodes: readonly ShellNode[], depth: number, isLine = false): void {
    for (const [at, node] of nodes.entries()) {
      if (this.denial !== undefined) return;
      this.#standing.step(node.kind === "command" ? undefined : node.after, () => this.#node(node, depth));
      const next = nodes[at + 1];
      const isChecked = next?.kind === "group" && next.after !== undefined;
      if (isLine && node.kind === "command" && !isChecked) this.#standing.stopIfFailed();
    }
  }

  #node(node: ShellNode, depth: number): void {
    if (node.kind === "command") this.#command(node, depth);
    else if (node.apart) this.#apart(() => this.#part(node, depth));
    else if (node.name !== undefined) this.#define(node.name, node.nodes, depth);
    else if (node.input !== undefined || node.fed !== undefined) this.#part(node, depth);
    else if (node.after !== undefined) this.#unsure(node.nodes, depth);
    else if (node.maybe === undefined) this.#walk(node.nodes, depth);
    else this.#perhaps(node.nodes, node.maybe, depth);
  }

  #part({ nodes, fed, input }: ShellGroup, depth: number): void {
    const text = input ?? (fed === undefined ? undefined : printedBy(fed));
    // Where values of variables are not followed, files are not either.
    const isFollowed = fed !== undefined && this.#terms.temporary !== undefined;
    const pipe = isFollowed ? fed.map(({ words }) => words.flatMap((word) => this.#known.resolve(word))) : [];
    this.#reading({ text, files: foundFiles(pipe) }, () => this.#walk(nodes, depth));
  }

  /** What has another input does not read what the commands around it read. */
  #reading(input: Input, work: () => void): void {
    const before = this.#input;
    if (input.text !== undefined) this.#input = input;
    work();
    this.#input = before;
  }

  /** What it sets may not be set afterwards. */
  #unsure(nodes: readonly ShellNode[], depth: number): void {
    this.#walk(nodes, depth);
    this.#known.forget(assignedIn(nodes));
  }

  /** A function does nothing yet. It is read all the same, so that none is left out, and once more where it is called. */
  #define(name: string, nodes: readonly ShellNode[], depth: number): void {
    // Words are read by what these print.
    if (/^(pwd|basename|dirname|git|mktemp)$/.test(name)) this.#known.lose();
    if (/^(pwd|git)$/.test(name))
      this.#deny(deny("dynamic", `leave ${name} what it is, and give the function another name`));
    if (callsItself(name, nodes)) this.#deny(deny("machine", `${name} would start itself without end`));
    this.functions.add(name);
    this.#bodies.set(name, nodes);
    this.#apart(() => this.#standing.call(() => this.#walk(nodes, depth)));
  }

  #perhaps(nodes: readonly ShellNode[], how: "once" | "often", depth: number): void {
    const before = this.#standing.places;
    if (how === "once") {
      this.#unsure(nodes, depth);
      this.#standing.alsoFrom(before);
      return;
    }
    // Another round begins with what the one before it set.
    this.#known.forget(assignedIn(nodes));
    const round = (): void => this.#standing.round(() => this.#unsure(nodes, depth));
    round();
    this.#standing.alsoFrom(before);
    if (this.#standing.places.length === before.length) return;
    // Each round may lead further away.
    this.#standing.alsoFrom([undefined]);
    round();
    this.#standing.alsoFrom([undefined]);
  }

  #apart(work: () => void): void {
    const known = this.#known.all;
    this.#standing.apart(work);
    this.#known.giveBack(known);
  }

  #command(command: ShellCommand, depth: number): void {
    this.#reading({ text: command.input }, () => this.#readCommand(command, depth));
    // The shell itself goes on with another input.
    if (command.input !== undefined && command.words.at(-1)?.text === "exec") this.#input = { text: this.#input.text };
  }

  #readCommand(command: ShellCommand, depth: number): void {
    const { assignments, writes, inner } = command;
    const { worktree, temporary } = this.#terms;
    const placed = (word: ShellWord): ShellWord => asPlace(word, worktree, this.#standing.places);
    for (const target of writes.flatMap((word) => this.#known.resolve(placed(word)))) this.#write(target);
    if (this.#gates.has(command) && this.#gate([])) return;
    this.#apart(() => this.#walk(inner, depth));
    this.#variables(assignments, depth);
    const [program] = command.words;
    if (program === undefined) this.#push("", [], assignments);
    const settles = program === undefined || declares.includes(program.text);
    if (settles) this.#known.take(ofLoop(assignments, this.#known));
    const found = temporary === undefined ? command.words : withFound(command.words, this.#known);
    const given = found.map(placed);
    const calls = oneOfEach(given.map((word) => this.#known.resolve(word))) ?? [given];
    this.#standing.oneOf(calls.map((words) => () => this.#run(words, assignments, depth)));
  }

  /** What other programs make of the variables that they get. */
  #variables(assignments: readonly ShellAssignment[], depth: number): void {
    for (const script of assignments.flatMap((each) => variableScript(each) ?? []))
      this.#guess({ words: [], script, sure: false }, depth + 1);
  }

  #write(target: ShellWord): void {
    for (const cwd of this.#standing.places) this.writes.push({ target, cwd });
  }

  #gate(behind: readonly ShellWord[]): boolean {
    const may = this.#standing.places.every((cwd) => this.#terms.mayRunGate(behind, cwd));
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
    // A name behind an equals sign is looked up by some shells. Of homes only that of the agent's own user is known.
    if (program.dynamic || program.pattern || /^(?:=|~(?!\/))/.test(program.text)) {
      this.#deny(deny("dynamic", "which program this runs cannot be told; write its name out"));
    } else if (name === "command" && /^-[pvV]*[vV]/.test(args[0]?.text ?? "")) {
      this.#push("type", args.slice(1), assignments);
    } else if (inside === "unreadable" || renames(name, args, assignments)) {
      this.#deny(deny("dynamic", `what ${name} runs here cannot be told; call the program itself`));
    } else if (inside === undefined) {
      this.#program({ program: program.text, name, args, assignments }, depth);
    } else {
      const all = name === "xargs" ? handed(inside.words, args, this.#input) : [inside.words];
      const run = (): void => {
        for (const words of all) this.#unwrapped(name, { ...inside, words }, assignments, depth);
      };
      // It reads the input itself, or a file.
      if (name !== "xargs") run();
      else {
        this.#push(name, args.slice(0, Math.max(0, args.length + 1 - inside.words.length)), assignments);
        this.#reading({ text: literal("") }, run);
      }
    }
  }

  #unwrapped(name: string, inside: Unwrapped, before: readonly ShellAssignment[], depth: number): void {
    const given = inside.assignments.map(assignmentOf);
    const assignments = [...before, ...given];
    this.#variables(given, depth);
    for (const target of inside.writes) this.#write(target);
    if (inside.words.length === 0) this.#push(name, [], assignments);
    // Whatever it runs: it is run as another user.
    else if (["sudo", "doas"].includes(name)) this.#push(name, inside.words, assignments);
    const wasBare = this.#bare;
    this.#bare ||= inside.bare;
    // A command needs few wrappers; each takes the words behind it apart once more.
    if (++this.#wrappers > mostWrappers) this.#deny(tooLong);
    const run = (): void => {
      if (this.denial === undefined) this.#run(inside.words, assignments, depth);
    };
    if (inside.directory !== undefined) {
      const { directory } = inside;
      this.#apart(() => {
        this.#standing.enter(directory);
        run();
      });
      // `command cd` changes the directory of the shell itself; a `cd` that another program runs does not.
    } else if (["command", "builtin", "time"].includes(name)) run();
    else this.#apart(run);
    this.#bare = wasBare;
    this.#wrappers--;
  }

  #program({ program, name, args, assignments }: Omit<Invocation, "cwd" | "bare">, depth: number): void {
    const script = makesUnseen(name, args) ? "opaque" : scriptOf(name, args);
    if (script === "opaque") {
      this.#deny(deny("opaque-code", `what ${name} would run here cannot be seen; run the commands themselves`));
      return;
    }
    if (script !== undefined) {
      this.#push(/^(su|sg|runuser)$/.test(name) ? name : "", [], assignments);
      if (name === "trap") {
        this.#traps.push(script.text);
        if (!this.#standing.isOutermost || !onlyAtEnd(script.text, args)) this.#known.lose();
      }
      if (name === "eval") this.script(script.text, depth + 1);
      else this.#apart(() => this.script(script.text, depth + 1));
      return;
    }
    this.#variables(declared(name, args), depth);
    for (const text of indexScripts(name, args)) this.#guess({ words: [], script: text, sure: true }, depth + 1);
    this.#known.notice(name, args, this.#input.files);
    const body = this.#bodies.get(name);
    // Its own variables are gone when it has ended.
    if (body !== undefined && depth < deepest) this.#standing.call(() => this.#unsure(body, depth + 2));
    for (const words of execsOf(name, args)) this.#run(words, [], depth);
    this.#inside(name, args, depth);
    this.#push(program, args, assignments);
    this.#standing.notice(name, args);
    if (!this.functions.has(name)) this.#standing.leaveBy(name, args);
  }

  /** What a program would run by its words, as far as that can be seen in them. */
  #inside(name: string, args: readonly ShellWord[], depth: number): void {
    const fetched = runs(name, args);
    if (fetched === "opaque") this.#deny(deny("opaque-code", `what ${name} would run here cannot be seen`));
    else if ("script" in fetched) this.#apart(() => this.script(fetched.script, depth + 1));
    else this.#apart(() => this.#run(fetched.words, [], depth));
    const typed = terminalScripts(name, args);
    if (typed === "opaque") this.#deny(deny("opaque-code", `what ${name} would run here cannot be seen`));
    else for (const text of typed) this.#apart(() => this.script(text, depth + 1));
    const read = name === "psql" ? (this.#input.text?.text.split("\n").map(literal) ?? []) : [];
    for (const guess of carried(name, [...args, ...read])) this.#guess(guess, depth + 1);
  }

  /** An unknown program may run its words. They count when they could be a command that we judge. */
  #guess({ words, script, sure }: ReturnType<typeof carried>[number], depth: number): void {
    if (depth > deepest) return;
    if (this.denial !== undefined) return;
    this.#apart(() => {
      if (script === undefined) this.#run(words, [], depth);
      else this.script(script, depth);
    });
    const denied = this.denial as Denial | undefined;
    if (!sure && (denied?.rule === "syntax" || denied?.rule === "dynamic")) this.denial = undefined;
  }

  #push(program: string, args: readonly ShellWord[], assignments: readonly ShellAssignment[]): void {
    const name = program.slice(program.lastIndexOf("/") + 1);
    if (this.invocations.length > mostInvocations) {
      this.#deny(tooLong);
      return;
    }
    for (const cwd of this.#standing.places)
      this.invocations.push({ name, program, args, assignments, cwd, bare: this.#bare, input: this.#input.text });
  }
}
