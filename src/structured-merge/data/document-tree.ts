import type { Value } from "./value.ts";

/**
 * A data file as text that knows its structure, and loses nothing: printing a parsed tree gives the source back, byte
 * for byte. A merge moves whole parts between trees, so untouched text stays as it was written.
 */
export type Node = Leaf | Branch;

export interface Leaf {
  readonly kind: "scalar";
  readonly text: string;
  readonly value: Value;
  readonly special?: Special;
}

/**
 * `anchor`: it has a name that other places use. `alias`: it stands for what another place says. Either way it
 * cannot be judged alone.
 */
export type Special = "anchor" | "alias";

export interface Branch {
  readonly kind: "map" | "list";
  /** `comma`: parts are separated by commas (JSON, flow YAML). `block`: each part starts its own line (block YAML). */
  readonly style: "comma" | "block";
  readonly open: string;
  readonly parts: readonly Part[];
  /** From after the last part, over its comments, to the closing bracket. */
  readonly close: string;
  readonly trailingComma?: boolean;
  /** Where the lines of its parts start, in a block. */
  readonly column?: number;
  readonly special?: Special;
  readonly mark?: string;
}

/** One entry of a map or item of a list, with the text around it. */
export interface Part {
  /** The decoded key; undefined in a list. */
  readonly key?: string;
  /** Whitespace and comments before it. */
  readonly lead: string;
  /** The key and what stands between it and the value, or the dash of an item. */
  readonly head: string;
  readonly value: Node;
  /** Between the value and its comma. */
  readonly after: string;
  /** The rest of the line: a comment beside it. */
  readonly trail: string;
}

export function print(node: Node): string {
  if (node.kind === "scalar") return node.text;
  const last = node.parts.length - 1;
  const parts = node.parts.map((part, at) => {
    const comma = node.style === "comma" && (at < last || node.trailingComma === true) ? "," : "";
    return `${part.lead}${part.head}${print(part.value)}${part.after}${comma}${part.trail}`;
  });
  return `${node.open}${parts.join("")}${node.close}`;
}

/** What the node says. Keys are known to be distinct: parsers refuse others. */
export function meaning(node: Node): Value {
  if (node.kind === "scalar") return node.value;
  const known = values.get(node);
  if (known !== undefined) return known;
  const mark = node.mark === undefined ? {} : { mark: node.mark };
  const value: Value =
    node.kind === "list"
      ? { kind: "list", items: node.parts.map((part) => meaning(part.value)), ...mark }
      : { kind: "map", entries: new Map(node.parts.map((part) => [part.key ?? "", meaning(part.value)])), ...mark };
  values.set(node, value);
  return value;
}

const values = new WeakMap<Node, Value>();

/** Whether it, or anything in it, is tied to other places of the file in one of these ways. */
export function isSpecial(node: Node, ways: readonly Special[]): boolean {
  if (node.special !== undefined && ways.includes(node.special)) return true;
  return node.kind !== "scalar" && node.parts.some((part) => isSpecial(part.value, ways));
}

/** What a branch says beyond its values: its comments and the order of its keys, as one text without its whitespace. */
export function remarks(node: Node): string {
  if (node.kind === "scalar") return "";
  const parts = node.parts.map(
    ({ key = "", lead, value, after, trail }) => `${key} ${lead} ${remarks(value)} ${after} ${trail}`,
  );
  return `${parts.join(" ")} ${node.close}`.replace(/\s+/g, " ");
}

/** The whole file: `before` and `after` are what stands around the root. */
export interface Document {
  readonly before: string;
  readonly root: Node;
  readonly after: string;
  /** Every comment, trimmed, in order. */
  readonly comments: readonly string[];
  /** What each anchor stands for, as text; undefined when a name is given twice. */
  readonly anchors?: ReadonlyMap<string, string> | undefined;
}

export const printDocument = ({ before, root, after }: Document): string => `${before}${print(root)}${after}`;
