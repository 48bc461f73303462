import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from "yaml";
import type { Entry, Tree } from "./tree.ts";

/** A remark of the YAML parser itself. */
export interface YamlRemark {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface ParsedYaml {
  /** Absent when the text is empty, or too broken for its content to mean anything. */
  readonly tree: Tree | undefined;
  readonly errors: readonly YamlRemark[];
  readonly warnings: readonly YamlRemark[];
}

/** Far beyond any configuration; aliases that multiply each other or contain themselves end here. */
const maxNodes = 20_000;
const maxDepth = 50;
/** One misplaced bracket makes the rest of a file wrong; further remarks only bury it. */
const maxErrors = 10;

/** The only file that knows the YAML library; it is loaded when a source has changed, never by a hot command. */
export function parseYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const remark = (problem: { code: string; message: string; pos: [number, number] }): YamlRemark => ({
    ...spot(lines, problem.pos[0]),
    message: wording[problem.code] ?? `is not valid YAML: ${problem.message}`,
  });
  const errors = document.errors.slice(0, maxErrors).map(remark);
  const warnings = document.warnings.map(remark);
  const legible = document.errors.every((problem) => problem.code === "DUPLICATE_KEY");
  if (!legible || document.contents === null) return { tree: undefined, errors, warnings };
  const converted = convert(document.contents, lines);
  return { tree: converted.tree, errors: [...errors, ...converted.errors], warnings };
}

/**
 * Writes the value anew into the whole document: comments stay, but indentation may be evened out. Undefined when
 * something that is not a section is in the way.
 */
export function rewriteYaml(text: string, path: readonly string[], value: unknown): string | undefined {
  const document = parseDocument(text);
  for (let depth = 0; depth < path.length; depth++) {
    const above = path.slice(0, depth);
    const node = depth === 0 ? document.contents : document.getIn(above, true);
    if (isMap(node)) continue;
    if (node !== null && node !== undefined && !(isScalar(node) && node.value === null)) return undefined;
    if (depth > 0) document.setIn(above, document.createNode({}));
  }
  document.setIn(path, document.createNode(value));
  return document.toString({ lineWidth: 0, verifyAliasOrder: false });
}

/** The document without what stands at the path: comments stay, but indentation may be evened out. */
export function withoutYaml(text: string, path: readonly string[]): string {
  const document = parseDocument(text);
  document.deleteIn(path);
  return document.toString({ lineWidth: 0, verifyAliasOrder: false });
}

/** The value as YAML that fits on the rest of a line. */
export function inlineYaml(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return /^[A-Za-z][\w./@-]*( [\w./@-]+)*$/.test(value) && parseDocument(value).toJS() === value
    ? value
    : JSON.stringify(value);
}

function convert(root: Node, lines: LineCounter): { tree: Tree | undefined; errors: YamlRemark[] } {
  const errors: YamlRemark[] = [];
  const anchors = new Map<string, Node>();
  let left = maxNodes;
  const node = (given: unknown, outer: number, depth: number): Tree => {
    const [start, end] = (isNode(given) ? given.range : undefined) ?? [outer, outer];
    const here = { ...spot(lines, start), start, end };
    if (depth > maxDepth) left = 0;
    if (--left < 0) return { kind: "leaf", value: null, ...here };
    if (isAlias(given)) {
      const target = anchors.get(given.source);
      if (target === undefined) errors.push({ ...spot(lines, start), message: `has no anchor named ${given.source}` });
      return { ...node(target, start, depth + 1), ...here };
    }
    if (isNode(given) && given.anchor !== undefined) anchors.set(given.anchor, given);
    if (isSeq(given)) return { kind: "list", items: given.items.map((item) => node(item, start, depth + 1)), ...here };
    if (isMap(given)) {
      const entries = given.items.map((pair) => entry(pair, start, depth + 1));
      return { kind: "section", block: given.flow !== true, entries, ...here };
    }
    return { kind: "leaf", value: isScalar(given) ? plain(given.value) : null, ...here };
  };
  const entry = ({ key, value }: Pair, outer: number, depth: number): Entry => {
    const start = (isNode(key) ? key.range?.[0] : undefined) ?? outer;
    return { key: String(isScalar(key) ? key.value : key), ...spot(lines, start), value: node(value, start, depth) };
  };
  const tree = node(root, 0, 0);
  if (left >= 0) return { tree, errors };
  return { tree: undefined, errors: [...errors, { line: 1, column: 1, message: tooLarge }] };
}

const tooLarge = "holds more than any configuration needs";

const wording: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "has the same key twice in one section",
  MULTIPLE_DOCS: "holds more than one YAML document",
  TAB_AS_INDENT: "is indented with a tab; YAML needs spaces",
};

function spot(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

/** Dates, binary data and other foreign scalars have no place in a configuration; their text is shown in the complaint. */
function plain(value: unknown): string | number | boolean | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return String(value);
}
