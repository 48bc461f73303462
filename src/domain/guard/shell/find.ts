import { matchesGlob } from "../../text/glob.ts";
import { isSteeringName } from "../steering-files.ts";
import { literal, operands, type ShellWord } from "./syntax.ts";

const execOptions = ["-exec", "-execdir", "-ok", "-okdir"];

/** The commands that `find` or `fd` would run for each file it finds, with the places it looks in instead of the file. */
export function execsOf(name: string, args: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  if (["fd", "fdfind"].includes(name)) return fdExecs(args);
  if (name !== "find") return [];
  const found = whatIsFound(args);
  return args.flatMap((word, at) => {
    if (!execOptions.includes(word.text)) return [];
    const rest = args.slice(at + 1);
    const end = rest.findIndex(({ text }) => text === ";" || text === "+");
    const words = end < 0 ? rest : rest.slice(0, end);
    return [words.flatMap((each) => (each.text.includes("{}") ? found : [each]))];
  });
}

/** What may be found: something below the roots, or the roots themselves when nothing keeps them out. */
function whatIsFound(args: readonly ShellWord[]): readonly ShellWord[] {
  const roots = findRoots(args);
  if (!findsAnything(args)) {
    const [name = "x"] = namesIn(args).filter((text) => !/[*?[\\/]/.test(text));
    return roots.map((root) => ({ ...root, text: `${root.text.replace(/\/+$/, "")}/${name}` }));
  }
  return roots;
}

/** Does it print names and do nothing else? */
export const isSearch = (args: readonly ShellWord[]): boolean =>
  !args.some(({ text }) => /^-(exec|ok|delete|fprint|fls|printf|ls$)/.test(text));

/** The files that it prints, as far as they can be told: judged as if it acted on them. */
export function whatIsPrinted(args: readonly ShellWord[]): readonly ShellWord[] {
  const start = args.findIndex(({ text, dynamic }) => !dynamic && /^(-[^HLPDO]|[!(])/.test(text));
  const [roots, tests] = start < 0 ? [args, []] : [args.slice(0, start), args.slice(start)];
  const isPrint = ({ text }: ShellWord): boolean => /^-print0?$/.test(text);
  const acted = tests.some(isPrint)
    ? tests.map((word) => (isPrint(word) ? literal("-delete") : word))
    : tests.length === 0
      ? [literal("-delete")]
      : [literal("("), ...tests, literal(")"), literal("-delete")];
  return whatIsFound([...roots, ...acted]);
}

const namesIn = (args: readonly ShellWord[]): readonly string[] =>
  args.flatMap(({ text }, at) => (/^-i?name$/.test(text) ? [args[at + 1]?.text ?? ""] : []));

function fdExecs(args: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const at = args.findIndex(({ text }) => /^(-[a-zA-Z]*[xX]|--exec(-batch)?)$/.test(text));
  if (at < 0) return [];
  const [pattern, ...roots] = operands(args.slice(0, at));
  const places = roots.length === 0 ? [literal(".")] : roots;
  const isNarrow = pattern !== undefined && !/^[.*^$]*$/.test(pattern.text);
  const found = isNarrow ? places.map((root) => ({ ...root, text: `${root.text}/x` })) : places;
  const words = args.slice(at + 1).filter(({ text }) => text !== ";");
  const names = words.some(({ text }) => text.includes("{"));
  return [names ? words.flatMap((each) => (each.text.includes("{") ? found : [each])) : [...words, ...found]];
}

/** Where `find` looks. */
export function findRoots(args: readonly ShellWord[]): readonly ShellWord[] {
  const start = args.findIndex(({ text, dynamic }) => !dynamic && /^(-[^HLPDO]|[!(])/.test(text));
  const roots = (start < 0 ? args : args.slice(0, start)).filter(({ text }) => !/^-[HLPDO]/.test(text));
  return roots.length === 0 ? [literal(".")] : roots;
}

/** Does it delete, or hand to another program, what no name or path has picked? */
export function findsAnything(args: readonly ShellWord[]): boolean {
  const start = args.findIndex(({ text, dynamic }) => !dynamic && /^(-[^HLPDO]|[!(])/.test(text));
  return start >= 0 && new Expression(args.slice(start)).read(false).open;
}

interface Outcome {
  /** Only what a name or a path picks is let through. */
  readonly narrow: boolean;
  /** Something is done to what was not picked. */
  readonly open: boolean;
}

/** The expression of `find`, as far as it tells which files are acted on. */
class Expression {
  readonly #words: readonly ShellWord[];
  #at = 0;

  constructor(words: readonly ShellWord[]) {
    this.#words = words;
  }

  /** Alternatives, up to a closing parenthesis. `narrowed`: what comes here was picked before. */
  read(narrowed: boolean): Outcome {
    let narrow = true;
    let open = false;
    do {
      const branch = this.#branch(narrowed);
      narrow &&= branch.narrow;
      open ||= branch.open;
    } while (this.#takes("-o", "-or", ","));
    return { narrow, open };
  }

  #takes(...texts: readonly string[]): boolean {
    const is = texts.includes(this.#words[this.#at]?.text ?? "");
    if (is) this.#at++;
    return is;
  }

  #branch(narrowed: boolean): Outcome {
    let narrow = narrowed;
    let open = false;
    for (let word = this.#words[this.#at]; word !== undefined; word = this.#words[this.#at]) {
      if (["-o", "-or", ",", ")"].includes(word.text)) break;
      const term = this.#term(narrow);
      open ||= term.open;
      narrow ||= term.narrow;
    }
    return { narrow, open };
  }

  #term(narrowed: boolean): Outcome {
    const { text = "" } = this.#words[this.#at++] ?? {};
    if (text === "!" || text === "-not") return { narrow: false, open: this.#term(narrowed).open };
    if (text === "(") {
      const inner = this.read(narrowed);
      this.#takes(")");
      return inner;
    }
    if (text === "-delete") return { narrow: false, open: !narrowed };
    if (execOptions.includes(text)) {
      while (this.#at < this.#words.length && !this.#takes(";", "+")) this.#at++;
      return { narrow: false, open: !narrowed };
    }
    if (text === "-empty") return { narrow: true, open: false };
    if (!/^-i?(name|path|wholename|lname|regex)$/.test(text)) return { narrow: false, open: false };
    const pattern = this.#words[this.#at++];
    const picks = pattern !== undefined && !pattern.dynamic && !/^[*./?]*$/.test(pattern.text);
    return { narrow: picks && !picksSteering(text, pattern.text), open: false };
  }
}

/** Would files be among them that steer agents? */
const picksSteering = (test: string, pattern: string): boolean =>
  /name$/.test(test) && !/wholename/.test(test)
    ? isSteeringName(pattern)
    : steered.some((path) => matchesGlob(path, pattern.replaceAll("**", "*")) || pattern.includes(path.slice(2, -2)));

const steered = ["./.claude/x", "./.codex/x", "./.git/x", "./.overstory/x", "./.gemini/x"];
