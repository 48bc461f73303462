import { attempt, merged, unsure } from "../outcome.ts";
import { type Branch, type Document, type Leaf, type Node, type Part, printDocument } from "./document-tree.ts";

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

export type JsonEdit =
  | { readonly ok: true; readonly text: string }
  /** `problem` names the place. */
  | { readonly ok: false; readonly problem: string };

/** Changes a JSON text in place: every part that `change` does not touch keeps its bytes. */
export function editJson(text: string, change: (root: Branch, style: Style) => Branch): JsonEdit {
  const outcome = attempt(() => {
    const bom = text.startsWith(byteOrderMark) ? byteOrderMark : "";
    const document: Document = parseJson(text.slice(bom.length));
    const root = change(asMap(document.root, "the file"), styleOf(text, document.root));
    return merged(`${bom}${printDocument({ ...document, root })}`);
  });
  return outcome.kind === "merged" ? { ok: true, text: outcome.content } : { ok: false, problem: outcome.reason };
}

const byteOrderMark = "\ufeff";

/** How the file is written: its own indentation and line ends. */
export interface Style {
  readonly unit: string;
  readonly newline: string;
}

function styleOf(text: string, root: Node): Style {
  const first = root.kind === "scalar" ? undefined : root.parts[0];
  const indent = first === undefined ? undefined : indentOf(first.lead);
  return {
    unit: indent === undefined || indent === "" ? "  " : indent,
    newline: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

/** The indentation of this part's line; undefined when the part shares its line with the one before. */
const indentOf = (lead: string): string | undefined => /\n([ \t]*)$/.exec(lead)?.[1];

export function asMap(node: Node, what: string): Branch {
  return node.kind === "map" ? node : unsure(`${what} is not an object`);
}

export function asList(node: Node, what: string): Branch {
  return node.kind === "list" ? node : unsure(`${what} is not a list`);
}

export const partOf = (branch: Branch, key: string): Part | undefined => branch.parts.find((part) => part.key === key);

/** The text of a string; undefined for anything else. */
export const stringOf = (node: Node | undefined): string | undefined =>
  node?.kind === "scalar" && node.value.kind === "scalar" && node.value.is.startsWith("s:")
    ? node.value.is.slice(2)
    : undefined;

/** Where something is added: the branch, the indentation of its own line, and the key if it is an object. */
interface Place {
  readonly branch: Branch;
  readonly indent: string;
  readonly key?: string;
}

/** Adds a value behind the others, written the way they are. */
export function added({ branch, indent, key }: Place, value: unknown, { unit, newline }: Style): Branch {
  const last = branch.parts.at(-1);
  const inline = last !== undefined && branch.parts.every(({ lead }) => indentOf(lead) === undefined);
  const own = innerIndent(branch, indent, unit);
  const text = inline ? JSON.stringify(value) : JSON.stringify(value, null, unit).replaceAll("\n", `${newline}${own}`);
  const leaf: Leaf = { kind: "scalar", text, value: { kind: "scalar", is: "" } };
  const head = key === undefined ? "" : `${JSON.stringify(key)}:${inline ? "" : " "}`;
  const part = { head, value: leaf, after: "", trail: "", ...(key === undefined ? {} : { key }) };
  if (last !== undefined) {
    const lead = inline ? (branch.parts[1] ?? last).lead : `${newline}${own}`;
    return { ...branch, parts: [...branch.parts, { ...part, lead }] };
  }
  // Comments of an empty branch stay before the first that comes in.
  const remarks = branch.close.slice(0, -1).trimEnd();
  const close = `${newline}${indent}${branch.close.slice(-1)}`;
  return { ...branch, parts: [{ ...part, lead: `${remarks}${newline}${own}` }], close };
}

export function innerIndent(branch: Branch, indent: string, unit: string): string {
  const found = branch.parts.map(({ lead }) => indentOf(lead)).findLast((one) => one !== undefined);
  return found ?? indent + unit;
}

export const without = (branch: Branch, gone: readonly Part[]): Branch => ({
  ...branch,
  parts: branch.parts.filter((part) => !gone.includes(part)),
});

export const replaced = (branch: Branch, part: Part, value: Node): Branch => ({
  ...branch,
  parts: branch.parts.map((one) => (one === part ? { ...part, value } : one)),
});
