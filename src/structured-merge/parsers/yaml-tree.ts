import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type ParsedNode,
  Parser,
  parseAllDocuments,
  type Scalar,
  type Document as YamlDocument,
} from "yaml";
import { type Branch, type Document, meaning, type Node, type Part, type Special } from "../data/document-tree.ts";
import { unsure } from "../outcome.ts";

/** Reads YAML into a tree that prints back exactly. Gives up on what cannot be taken apart safely, duplicate keys included. */
export function parseYaml(text: string): Document {
  const documents = parseAllDocuments(text, { keepSourceTokens: true, uniqueKeys: true, logLevel: "silent" });
  if (!Array.isArray(documents)) return unsure("the YAML file is empty");
  const problem = documents.flatMap(({ errors }) => errors)[0];
  if (problem !== undefined) return unsure(`not valid YAML: ${problem.message.split("\n")[0] ?? ""}`);
  const comments = commentsIn([...new Parser().parse(text)]);
  const converter = new Converter(text);
  const first = startOf(text);
  const roots = documents.map((document) => converter.root(document, first));
  const [only] = roots;
  if (only === undefined) return unsure("the YAML file is empty");
  const { definitions: anchors } = converter;
  if (roots.length === 1)
    return { before: text.slice(0, first), root: only.node, after: text.slice(only.end), comments, anchors };
  return { before: text.slice(0, first), root: stream(text, roots), after: "", comments, anchors };
}

/** Text and end of one node. */
interface Read {
  readonly node: Node;
  readonly start: number;
  readonly end: number;
}

/** After the marker a first document may begin with. */
function startOf(text: string): number {
  const marker = /^(?:(?:#[^\n]*|%[^\n]*)?\n)*---\n/.exec(text)?.[0] ?? "";
  return marker.length;
}

/** Several documents in one file are a list whose items are set off by `---` lines. */
function stream(text: string, roots: readonly Read[]): Branch {
  const parts: Part[] = roots.map(({ node, start }, at) => {
    const previous = roots[at - 1];
    const lead = previous === undefined ? "" : text.slice(previous.end, start);
    if (previous !== undefined && !/^\n(?:(?:#[^\n]*)?\n)*---\n$/.test(lead))
      unsure("documents are not set off plainly");
    return { lead, head: "", value: node, after: "", trail: "" };
  });
  const end = roots.at(-1)?.end ?? text.length;
  return { kind: "list", style: "block", open: "", parts, close: text.slice(end), column: 0 };
}

/** A comment on the rest of the line. */
const beside = /[ \t]+#[^\n]*/y;

class Converter {
  readonly #text: string;
  #anchors = new Set<string>();
  /** Undefined once a name was given twice. */
  definitions: Map<string, string> | undefined = new Map();
  #from = 0;

  constructor(text: string) {
    this.#text = text;
  }

  root(document: YamlDocument.Parsed, first: number): Read {
    this.#anchors = new Set();
    const { contents } = document;
    if (contents === null) return unsure("a YAML document is empty");
    const [begin] = contents.range;
    const between = this.#text.slice(this.#from, begin);
    const marker = this.#from === 0 ? -1 : between.lastIndexOf("\n---\n");
    if (this.#from > 0 && marker < 0) unsure("documents are not set off plainly");
    const start = this.#from === 0 ? first : this.#from + marker + "\n---\n".length;
    if (/^\s*[^\s#]/m.test(this.#text.slice(start, begin))) unsure("a YAML document begins with a tag or an anchor");
    const read = this.#value(contents, start);
    this.#from = read.end;
    return isBlock(contents) ? read : { ...read, node: this.#padded(read, start) };
  }

  /** A document that is one scalar or flow collection, with the text before it. */
  #padded({ node, end }: Read, start: number): Node {
    return { kind: "scalar", text: this.#text.slice(start, end), value: meaning(node) };
  }

  /** `from` is where the text of a block starts: right after the colon, the dash or the properties before it. */
  #value(node: ParsedNode, from: number): Read {
    if (isAlias(node)) return this.#leaf(node, `*${this.#known(node.source)}`, "alias");
    if (node.anchor !== undefined) this.#define(node.anchor, node);
    const special = node.anchor === undefined ? undefined : ("anchor" as const);
    const mark = { ...markOf(node), ...(special === undefined ? {} : { special }) };
    if (isMap(node) || isSeq(node)) {
      if (isBlock(node)) return isMap(node) ? this.#blockMap(node, from, mark) : this.#blockList(node, from, mark);
      return this.#flow(node, mark);
    }
    if (!isScalar(node)) return unsure("an unknown kind of YAML node");
    return this.#scalar(node, special);
  }

  #define(anchor: string, node: ParsedNode): void {
    this.#anchors.add(anchor);
    const text = this.#text.slice(node.range[0], node.range[1]);
    this.definitions = this.definitions?.has(anchor) === true ? undefined : this.definitions?.set(anchor, text);
  }

  #known(anchor: string): string {
    return this.#anchors.has(anchor) ? anchor : unsure(`the alias *${anchor} has no anchor`);
  }

  #leaf(node: ParsedNode, is: string, special: Special | undefined): Read {
    const [start, end] = node.range;
    const value = { kind: "scalar", is } as const;
    const leaf: Node = { kind: "scalar", text: this.#text.slice(start, end), value };
    return { node: special === undefined ? leaf : { ...leaf, special }, start, end };
  }

  #scalar(node: Scalar.Parsed, special: Special | undefined): Read {
    const { mark } = markOf(node);
    const marked = mark === undefined ? "" : ` ${mark}`;
    if (node.type === "PLAIN") return this.#leaf(node, `p:${node.source ?? ""}${marked}`, special);
    const read = this.#leaf(node, `s:${String(node.value)}${marked}`, special);
    if (node.type !== "BLOCK_LITERAL" && node.type !== "BLOCK_FOLDED") return read;
    // The line break that ends a block scalar stays outside, so that all parts of a block look alike.
    const text = this.#text.slice(read.start, read.end).replace(/\n[ \t\n]*$/, "");
    const { node: leaf } = read;
    return leaf.kind === "scalar" ? { ...read, node: { ...leaf, text }, end: read.start + text.length } : read;
  }

  #blockMap(node: ParsedNode, from: number, mark: Partial<Branch>): Read {
    const tokens = tokensOf(node);
    const items = isMap(node) ? node.items : [];
    const parts: Part[] = [];
    let at = from;
    for (const [index, pair] of items.entries()) {
      const token = tokens[index];
      const { key: keyNode, value } = pair;
      if (!isScalar(keyNode) || keyNode.anchor !== undefined || keyNode.tag !== undefined) {
        return unsure("a YAML key is not plain text");
      }
      if (token?.explicitKey === true) return unsure("a YAML key is written with a question mark");
      const key = String(keyNode.source ?? keyNode.value);
      const keyStart = keyNode.range?.[0] ?? at;
      const headEnd = this.#headEnd(token?.sep ?? [], "map-value-ind");
      const read = this.#optional(value, headEnd);
      parts.push(this.#part({ key, from: at, start: keyStart, read }));
      at = read.end + (parts.at(-1)?.trail.length ?? 0);
    }
    const column = this.#column(items[0]?.key);
    return this.#block({ kind: "map", parts, from, end: at, column, mark });
  }

  #blockList(node: ParsedNode, from: number, mark: Partial<Branch>): Read {
    const tokens = tokensOf(node);
    const items = isSeq(node) ? node.items : [];
    const parts: Part[] = [];
    let at = from;
    for (const [index, item] of items.entries()) {
      const start = tokens[index]?.start ?? [];
      const dash = start.find(({ type }) => type === "seq-item-ind")?.offset ?? unsure("a YAML list without dashes");
      if (isPairLike(item)) return unsure("a YAML list holds a pair");
      const read = this.#optional(item, this.#headEnd(start, "seq-item-ind"));
      parts.push(this.#part({ from: at, start: dash, read }));
      at = read.end + (parts.at(-1)?.trail.length ?? 0);
    }
    const dash = tokens[0]?.start?.find(({ type }) => type === "seq-item-ind")?.offset ?? from;
    return this.#block({ kind: "list", parts, from, end: at, column: this.#columnAt(dash), mark });
  }

  #block(block: {
    kind: Branch["kind"];
    parts: readonly Part[];
    from: number;
    end: number;
    column: number;
    mark: Partial<Branch>;
  }): Read {
    const { kind, parts, from, end, column, mark } = block;
    return { node: { kind, style: "block", open: "", parts, close: "", column, ...mark }, start: from, end };
  }

  /** After the colon or dash and any anchor or tag that follows it. */
  #headEnd(tokens: readonly Token[], mark: string): number {
    const from = tokens.findIndex(({ type }) => type === mark);
    if (from < 0) return unsure("a YAML key without a value");
    const last = tokens.slice(from).findLast(({ type }) => type === mark || type === "anchor" || type === "tag");
    return (last?.offset ?? 0) + (last?.source.length ?? 0);
  }

  #optional(value: ParsedNode | null, headEnd: number): Read {
    if (value !== null && !(isScalar(value) && value.range[0] === value.range[1])) return this.#value(value, headEnd);
    if (value !== null && (value.anchor !== undefined || value.tag !== undefined)) unsure("an empty value has a name");
    const node: Node = { kind: "scalar", text: "", value: { kind: "scalar", is: "p:" } };
    return { node, start: headEnd, end: headEnd };
  }

  #part({ key, from, start, read }: { key?: string; from: number; start: number; read: Read }): Part {
    beside.lastIndex = read.end;
    const trail = beside.exec(this.#text)?.[0] ?? "";
    return {
      ...(key === undefined ? {} : { key }),
      lead: this.#text.slice(from, start),
      head: this.#text.slice(start, read.start),
      value: read.node,
      after: "",
      trail,
    };
  }

  #flow(node: ParsedNode, mark: Partial<Branch>): Read {
    const [start, end] = node.range;
    const kind = isMap(node) ? "map" : "list";
    const values = isMap(node) || isSeq(node) ? node.items : [];
    const spans = flowSpans(node);
    let last = start + 1;
    const parts = spans.map((span, index): Part => {
      const item = values[index];
      const pair = isPairLike(item) ? item : undefined;
      if ((pair !== undefined) !== (kind === "map")) return unsure("a flow collection mixes pairs and items");
      const value = pair === undefined ? item : pair.value;
      if (value === null || value === undefined || isPairLike(value))
        return unsure("a flow collection has an empty item");
      const read = this.#value(value, value.range[0]);
      last = span.comma === undefined ? read.end : span.comma + 1;
      const key = pair === undefined ? {} : { key: flowKey(pair.key) };
      return {
        ...key,
        lead: this.#text.slice(span.from, span.start),
        head: this.#text.slice(span.start, read.start),
        value: read.node,
        after: this.#text.slice(read.end, span.comma ?? read.end),
        trail: "",
      };
    });
    const trailingComma = spans.at(-1)?.comma !== undefined;
    return {
      node: {
        kind,
        style: "comma",
        open: this.#text[start] ?? "",
        parts,
        close: this.#text.slice(last, end),
        trailingComma,
        ...mark,
      },
      start,
      end,
    };
  }

  #column(key: ParsedNode | undefined): number {
    return this.#columnAt(key?.range[0] ?? 0);
  }

  #columnAt(offset: number): number {
    return offset - (this.#text.lastIndexOf("\n", offset - 1) + 1);
  }
}

/** An anchor or a tag is part of what a node says. */
function markOf({ anchor, tag }: { anchor?: string; tag?: string }): { mark?: string } {
  return anchor === undefined && tag === undefined ? {} : { mark: `&${anchor ?? ""} ${tag ?? ""}` };
}

const isBlock = (node: ParsedNode): boolean => (isMap(node) || isSeq(node)) && node.flow !== true;

interface PairLike {
  readonly key: ParsedNode;
  readonly value: ParsedNode | null;
}

const isPairLike = (item: unknown): item is PairLike => typeof item === "object" && item !== null && "key" in item;

function flowKey(key: ParsedNode): string {
  if (!isScalar(key) || key.anchor !== undefined || key.tag !== undefined)
    return unsure("a YAML key is not plain text");
  return String(key.source ?? key.value);
}

/** The few fields of the parser's own tokens that positions are read from. */
interface Token {
  readonly type: string;
  readonly offset: number;
  readonly source: string;
}

interface ItemToken {
  readonly start?: readonly Token[];
  readonly key?: Token | null;
  readonly sep?: readonly Token[];
  readonly value?: (Token & { readonly end?: readonly Token[] }) | null;
  readonly explicitKey?: boolean;
}

/** The source tokens of a collection's items, in order. */
function tokensOf(node: { readonly srcToken?: unknown }): readonly ItemToken[] {
  const { srcToken } = node;
  if (typeof srcToken !== "object" || srcToken === null || !("items" in srcToken)) return unsure("YAML without source");
  const items = srcToken.items as readonly ItemToken[];
  // Trailing comments and blank lines are kept by the parser as items without content.
  return items.filter(
    (item) => item.key !== undefined || item.value !== undefined || item.sep !== undefined || hasDash(item),
  );
}

const hasDash = ({ start }: ItemToken): boolean => start?.some(({ type }) => type === "seq-item-ind") === true;

/** Every comment of the file, wherever the parser keeps it. */
function commentsIn(tokens: unknown): string[] {
  if (Array.isArray(tokens)) return tokens.flatMap(commentsIn);
  if (typeof tokens !== "object" || tokens === null) return [];
  if ("type" in tokens && tokens.type === "comment" && "source" in tokens) return [String(tokens.source).trim()];
  return Object.values(tokens).flatMap(commentsIn);
}

interface FlowSpan {
  /** Where the text before the item begins: after the bracket or the previous comma. */
  readonly from: number;
  readonly start: number;
  /** The comma that ends it. */
  readonly comma?: number;
}

/** Where the items of a flow collection stand between their commas. */
function flowSpans(node: {
  readonly srcToken?: unknown;
  readonly range: readonly [number, number, number];
}): readonly FlowSpan[] {
  const { srcToken, range } = node;
  if (typeof srcToken !== "object" || srcToken === null || !("items" in srcToken)) return unsure("YAML without source");
  const items = srcToken.items as readonly ItemToken[];
  const spans: { from: number; start: number; comma?: number }[] = [];
  let from = range[0] + 1;
  let pending: { from: number; start: number; comma?: number } | undefined;
  for (const item of items) {
    const comma = item.start?.find(({ type }) => type === "comma");
    if (comma !== undefined) {
      if (pending === undefined) return unsure("a flow collection begins with a comma");
      pending.comma = comma.offset;
      from = comma.offset + 1;
      pending = undefined;
    }
    const first = item.key ?? item.value;
    if (first === undefined || first === null) continue;
    const properties = item.start?.find(
      ({ type }) => type === "anchor" || type === "tag" || type === "explicit-key-ind",
    );
    pending = { from, start: properties?.offset ?? first.offset };
    spans.push(pending);
  }
  return spans;
}
