import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node } from "yaml";
import { templateProblem } from "./template.ts";

export interface Problem {
  readonly line: number;
  readonly message: string;
  readonly wantsKey?: true;
}

/** Answer of a decoder that has already noted why it cannot use the node. */
export const refused: unique symbol = Symbol("refused");

/** Turns one YAML node into a value, or notes a problem with its line. */
export type Decode<T> = (node: Node | null, notes: Notes) => T | typeof refused;

interface Field<T> {
  readonly decode: Decode<T>;
  readonly absent: { readonly value: T } | undefined;
}

/** Collects every problem of one document, so that a person mends them in one go. */
export class Notes {
  readonly problems: Problem[] = [];
  readonly #document: Document;
  readonly #lines: LineCounter;

  constructor(document: Document, lines: LineCounter) {
    this.#document = document;
    this.#lines = lines;
  }

  /** Notes a whole sentence. */
  refuse(node: Node | null, message: string): typeof refused {
    this.problems.push({ line: this.line(node), message });
    return refused;
  }

  /** Notes the end of a sentence that begins with the key the value belongs to: `must be ...`. */
  wrong(node: Node | null, message: string): typeof refused {
    this.problems.push({ line: this.line(node), message, wantsKey: true });
    return refused;
  }

  /** Completes what `wrong` noted about the value of this key. */
  within<T>(key: string, decode: () => T): T {
    const before = this.problems.length;
    const value = decode();
    for (const [at, problem] of this.problems.entries()) {
      if (at < before || problem.wantsKey !== true) continue;
      this.problems[at] = { line: problem.line, message: `"${key}" ${problem.message}` };
    }
    return value;
  }

  line(node: Node | null): number {
    return Math.max(1, this.#lines.linePos(node?.range?.[0] ?? 0).line);
  }

  /** Follows an alias to its anchor, so that scenarios may share steps. */
  resolve(node: Node | null): Node | null {
    return isAlias(node) ? (node.resolve(this.#document) ?? null) : node;
  }
}

/** A string used as it stands. Numbers are taken as they were typed: `task: 7` is the text "7". */
export const plain: Decode<string> = (raw, notes) => {
  const node = notes.resolve(raw);
  if (isScalar(node) && typeof node.value === "string") return node.value;
  if (isScalar(node) && typeof node.value === "number") return node.source ?? String(node.value);
  return notes.wrong(raw, "must be text; put it in quotes");
};

/** A string in which templates are filled in when the step runs. */
export const text: Decode<string> = (raw, notes) => {
  const value = plain(raw, notes);
  if (value === refused) return refused;
  const problem = templateProblem(value);
  return problem === undefined ? value : notes.wrong(raw, problem);
};

export function count({ min = 0, max = Number.MAX_SAFE_INTEGER } = {}): Decode<number> {
  return (raw, notes) => {
    const node = notes.resolve(raw);
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    return notes.wrong(raw, `must be a whole number ${range}`);
  };
}

export const flag: Decode<boolean> = (raw, notes) => {
  const node = notes.resolve(raw);
  if (isScalar(node) && typeof node.value === "boolean") return node.value;
  return notes.wrong(raw, "must be true or false");
};

/** For steps that take nothing: `hang: true`. */
export const yes: Decode<true> = (raw, notes) => {
  const node = notes.resolve(raw);
  return isScalar(node) && node.value === true ? true : notes.wrong(raw, "takes no value but true");
};

export function oneOf<const T extends string>(allowed: readonly T[]): Decode<T> {
  return (raw, notes) => {
    const node = notes.resolve(raw);
    const value = isScalar(node) ? node.value : undefined;
    const found = allowed.find((one) => one === value);
    return found ?? notes.wrong(raw, `must be one of ${allowed.join(", ")}`);
  };
}

export function list<T>(decode: Decode<T>): Decode<readonly T[]> {
  return (raw, notes) => {
    const node = notes.resolve(raw);
    if (!isSeq<Node>(node)) return notes.wrong(raw, "must be a list");
    const good: T[] = [];
    for (const item of node.items) {
      const value = decode(item, notes);
      if (value !== refused) good.push(value);
    }
    return good.length === node.items.length ? good : refused;
  };
}

/** Any YAML value, for the input of a pretended tool call. */
export const anything: Decode<unknown> = (raw, notes) => {
  const node = notes.resolve(raw);
  if (isMap<Node, Node | null>(node)) {
    const values = node.items.map((pair) => anything(pair.value, notes));
    if (values.includes(refused)) return refused;
    return Object.fromEntries(node.items.map((pair, at) => [String(pair.key), values[at]]));
  }
  if (isSeq<Node>(node)) return list(anything)(node, notes);
  if (isScalar(node) && typeof node.value === "string") return text(node, notes);
  return isScalar(node) ? node.value : null;
};

/** Reads `true` as "with every option at its default". */
export function orTrue<T>(decode: Decode<T>, value: T): Decode<T> {
  return (raw, notes) => {
    const node = notes.resolve(raw);
    return isScalar(node) && node.value === true ? value : decode(raw, notes);
  };
}

export const required = <T>(decode: Decode<T>): Field<T> => ({ decode, absent: undefined });

export const optional = <T>(decode: Decode<T>): Field<T | undefined> => ({ decode, absent: { value: undefined } });

export const defaulting = <T>(decode: Decode<T>, value: T): Field<T> => ({ decode, absent: { value } });

/** A map with exactly these keys. Unknown and missing ones are problems. */
export function record<T extends object>(fields: { readonly [K in keyof T]: Field<T[K]> }): Decode<T> {
  return (raw, notes) => {
    const node = notes.resolve(raw);
    if (!isMap<Node, Node | null>(node)) {
      return notes.wrong(raw, `must be a map with ${Object.keys(fields).join(", ")}`);
    }
    const before = notes.problems.length;
    const given = new Map(node.items.map((pair) => [String(pair.key), pair]));
    for (const [key, pair] of given) {
      if (!(key in fields)) notes.refuse(pair.key, `unknown key "${key}"; known: ${Object.keys(fields).join(", ")}`);
    }
    const out: Partial<T> = {};
    for (const key in fields) {
      const pair = given.get(key);
      if (pair === undefined) {
        if (fields[key].absent === undefined) notes.refuse(raw, `"${key}" is missing`);
        else out[key] = fields[key].absent.value;
        continue;
      }
      const value = notes.within(key, () => fields[key].decode(pair.value ?? pair.key, notes));
      if (value !== refused) out[key] = value;
    }
    // Every key of `fields` was either set above or noted as a problem.
    return notes.problems.length === before ? (out as T) : refused;
  };
}
