import { variablesSet } from "../variables.ts";
import { hasOption, literal, type ShellAssignment, type ShellNode, type ShellWord, type WordPart } from "./syntax.ts";

/** A word that stands for more files than this is as good as unknown. */
const mostWords = 50;

/**
 * The values of variables that a text itself sets before it uses them: `DIR=dist; rm -rf "$DIR"`, and of loops over words
 * that are written out. Whatever may have happened in between makes a variable unknown again.
 */
export class KnownValues {
  #values: ReadonlyMap<string, readonly ShellWord[]> = new Map();
  /** Names for other names, other separators and traps: nothing is known any more. */
  #lost = false;
  readonly #temporary: string | undefined;

  constructor(temporary: string | undefined) {
    this.#temporary = temporary;
  }

  /** What is known now, to be given back when a process of its own has ended. */
  get all(): ReadonlyMap<string, readonly ShellWord[]> {
    return this.#values;
  }

  giveBack(values: ReadonlyMap<string, readonly ShellWord[]>): void {
    this.#values = values;
  }

  lose(): void {
    this.#lost = true;
  }

  /** Assignments that count from here on. Several of one name are the words of a loop. */
  take(assignments: readonly ShellAssignment[]): void {
    for (const { name } of assignments) {
      const all = assignments.filter((each) => each.name === name);
      const words = all.flatMap(({ value }) => this.#valueOf(value));
      if (/^IFS$/.test(name)) this.lose();
      const isKnown = all.every(({ appends, value }) => appends !== true && this.#valueOf(value).length > 0);
      this.set(name, isKnown ? words : []);
    }
  }

  #valueOf(value: ShellWord): readonly ShellWord[] {
    if (this.#temporary !== undefined && makesTemporary.test(value.text)) {
      return [literal(`${this.#temporary}/made-by-mktemp`)];
    }
    // A process that the line has started, by its number.
    if (value.text === "$!") return [literal("99999")];
    return this.resolve(value).filter(({ text, dynamic }) => !dynamic && !/\s/.test(text));
  }

  /** No words: it is not known. */
  set(name: string, words: readonly ShellWord[]): void {
    const values = new Map(this.#values);
    if (words.length === 0 || words.length > mostWords) values.delete(name);
    else values.set(name, words);
    this.#values = values;
  }

  /** Follows what builtins of the shell do to variables. `files`: the files that the standard input lists, if they are known. */
  notice(name: string, args: readonly ShellWord[], files: readonly ShellWord[] | undefined): void {
    const set = variablesSet(name, args);
    if (["source", "."].includes(name) || set.some(({ dynamic }) => dynamic)) this.lose();
    this.forget(set.map(({ text }) => text));
    const [only, ...more] = set;
    // A part of a name is another name, and another file is another input.
    const isRead = name === "read" && !hasOption(args, "unN");
    if (isRead && files !== undefined && only !== undefined && more.length === 0) this.set(only.text, files);
  }

  forget(names: Iterable<string>): void {
    if (this.#values.size === 0) return;
    for (const name of names) this.set(name, []);
  }

  /** What the word becomes: itself when that cannot be told. */
  resolve(word: ShellWord): readonly ShellWord[] {
    const { parts } = word;
    if (!word.dynamic || parts === undefined || this.#lost || this.#values.size === 0) return [word];
    let found: readonly ShellWord[] = [literal("")];
    for (const part of parts) {
      const values = typeof part === "string" ? [literal(part)] : this.#partOf(part);
      if (values === undefined || found.length * values.length > mostWords) return [word];
      found = found.flatMap((before) =>
        values.map((value) => ({
          text: `${before.text}${value.text}`,
          dynamic: false,
          home: before.text === "" ? value.home : before.home,
          pattern: before.pattern || value.pattern || word.pattern || /[*?[]/.test(value.text),
        })),
      );
    }
    return found;
  }

  #partOf({ variable, without, part }: Exclude<WordPart, string>): readonly ShellWord[] | undefined {
    return this.#values.get(variable)?.map((word) => {
      const text = part === undefined ? word.text : partOfPath(word.text, part);
      const isCut = without !== undefined && text.endsWith(without) && (part === undefined || text !== without);
      const home = word.home && part !== "last";
      return { ...word, home, text: isCut ? text.slice(0, text.length - without.length) : text };
    });
  }
}

/** A slash at the end does not count. */
function partOfPath(path: string, part: "last" | "before"): string {
  const plain = path.replace(/(?<=.)\/+$/, "");
  const at = plain.lastIndexOf("/");
  if (part === "last") return plain.slice(at + 1);
  return at < 0 ? "." : plain.slice(0, at) || "/";
}

/**
 * The calls that a command may become whose words have these values: in each round of a loop a variable has one of them.
 * Undefined: they are too many.
 */
export function oneOfEach(values: readonly (readonly ShellWord[])[]): readonly (readonly ShellWord[])[] | undefined {
  const calls: ShellWord[][] = [[]];
  for (const [first, ...more] of values) {
    if (first === undefined || calls.length * (more.length + 1) > mostCalls) return undefined;
    const others = more.flatMap((word) => calls.map((before) => [...before, word]));
    for (const call of calls) call.push(first);
    calls.push(...others);
  }
  return calls;
}

const mostCalls = 200;

/** Its file or directory lies where temporary ones do. */
const makesTemporary = /^\$\(mktemp(?: -[dqu]+| -t [\w.-]+)*(?: \/tmp\/[\w.-]*X{3,}[\w.-]*)?\)$/;

/** The names of all variables that these commands assign to, as far as they are written as assignments. */
export function* assignedIn(nodes: readonly ShellNode[]): Generator<string> {
  for (const node of nodes) {
    if (node.kind === "group") yield* assignedIn(node.nodes);
    else for (const { name } of node.assignments) yield name;
  }
}
