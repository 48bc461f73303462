import { unsure } from "../outcome.ts";
import type { Branch, Document, Leaf, Node, Part } from "./document-tree.ts";

/** Reads JSON, with comments and trailing commas allowed, into a tree that prints back exactly as it was written. */
export function parseJson(text: string): Document {
  const reader = new Reader(text);
  const before = reader.trivia();
  const root = reader.node(0);
  const after = reader.trivia();
  if (reader.at < text.length) unsure(`not valid JSON at line ${reader.line()}`);
  return { before, root, after, comments: reader.comments };
}

/** Deeper than any file a person edits, and far from the end of the stack. */
const deepest = 200;

const space = /[ \t\n\r]+/y;
const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const word = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const string = /"(?:[^"\\\n]|\\.)*"/y;
/** Comments beside an entry, up to the end of its line. */
const beside = /[ \t]*(?:\/\*[^\n]*?\*\/[ \t]*)*(?:\/\/[^\n]*)?(?=\n|$)/y;

class Reader {
  at = 0;
  readonly comments: string[] = [];
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  line(): number {
    return this.#text.slice(0, this.at).split("\n").length;
  }

  node(depth: number): Node {
    if (depth > deepest) unsure("the JSON is nested too deeply");
    const next = this.#text[this.at];
    if (next === "{") return this.#branch({ kind: "map", end: "}", depth });
    if (next === "[") return this.#branch({ kind: "list", end: "]", depth });
    if (next === '"') return this.#string();
    const text = this.#take(word);
    if (text === "") unsure(`not valid JSON at line ${this.line()}`);
    return { kind: "scalar", text, value: { kind: "scalar", is: `n:${text}` } };
  }

  trivia(): string {
    const start = this.at;
    for (;;) {
      this.#take(space);
      const found = this.#take(comment);
      if (found === "") return this.#text.slice(start, this.at);
      this.comments.push(found.trim());
    }
  }

  #branch({ kind, end, depth }: { kind: Branch["kind"]; end: "}" | "]"; depth: number }): Branch {
    const open = this.#text[this.at++] ?? "";
    const parts: Part[] = [];
    const keys = new Set<string>();
    let trailingComma = false;
    for (;;) {
      const lead = this.trivia();
      if (this.#text[this.at] === end) {
        this.at++;
        return { kind, style: "comma", open, parts, close: `${lead}${end}`, trailingComma };
      }
      if (parts.length > 0 && !trailingComma) unsure(`not valid JSON at line ${this.line()}`);
      const { head, key } = kind === "map" ? this.#key(keys) : { head: "", key: undefined };
      const value = this.node(depth + 1);
      const after = this.#untilComma();
      trailingComma = after !== undefined;
      const trail = this.#beside();
      parts.push({ lead, head, value, after: after ?? "", trail, ...(key === undefined ? {} : { key }) });
    }
  }

  #key(keys: Set<string>): { head: string; key: string } {
    const start = this.at;
    if (this.#text[start] !== '"') unsure(`not valid JSON at line ${this.line()}`);
    const key = this.#string().key;
    if (keys.has(key)) unsure(`the key ${JSON.stringify(key)} stands twice in one object`);
    keys.add(key);
    this.trivia();
    if (this.#text[this.at++] !== ":") unsure(`not valid JSON at line ${this.line()}`);
    this.trivia();
    return { head: this.#text.slice(start, this.at), key };
  }

  #string(): Leaf & { readonly key: string } {
    const text = this.#take(string);
    const key = decoded(text) ?? unsure(`not valid JSON at line ${this.line()}`);
    return { kind: "scalar", text, value: { kind: "scalar", is: `s:${key}` }, key };
  }

  /** What stands before a comma, with the comma read; undefined, and nothing read, when none follows. */
  #untilComma(): string | undefined {
    const start = this.at;
    const known = this.comments.length;
    const text = this.trivia();
    if (this.#text[this.at] === ",") {
      this.at++;
      return text;
    }
    this.at = start;
    this.comments.length = known;
    return undefined;
  }

  #beside(): string {
    const start = this.at;
    const text = this.#take(beside);
    if (text.includes("/")) {
      this.comments.push(text.trim());
      return text;
    }
    this.at = start;
    return "";
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.at += found.length;
    return found;
  }
}

function decoded(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : undefined;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}
