import { type Code, nodesOf, partsOf, type Triple, textOf } from "./syntax.ts";
import { countWords } from "./word-likeness.ts";

/**
 * The last check, which knows nothing of how the merge was made: it counts. Each line and each token must occur in the
 * result exactly as often as base, ours and theirs demand. Answers with what was lost, kept against a removal, or doubled.
 */
export function unaccounted(versions: Triple<Code>, result: Code): string | undefined {
  const listed = new Set([versions.base, versions.ours, versions.theirs, result].flatMap(listLines));
  const line = miscount({ count: lineCounts, versions, result, skip: (text) => listed.has(text) });
  if (line !== undefined) return line;
  return miscount({ count: tokenCounts, versions, result, skip: () => false });
}

interface Counting {
  readonly count: (code: Code) => Map<string, number>;
  readonly versions: Triple<Code>;
  readonly result: Code;
  readonly skip: (text: string) => boolean;
}

function miscount({ count, versions, result, skip }: Counting): string | undefined {
  const [base, ours, theirs, merged] = [
    count(versions.base),
    count(versions.ours),
    count(versions.theirs),
    count(result),
  ];
  for (const text of new Set([...base.keys(), ...ours.keys(), ...theirs.keys(), ...merged.keys()])) {
    const [least, most] = demanded(base.get(text) ?? 0, ours.get(text) ?? 0, theirs.get(text) ?? 0);
    const found = merged.get(text) ?? 0;
    if ((found < least || found > most) && !skip(text)) return text;
  }
  return undefined;
}

/** How often a thing may occur: both edits applied, or once where both sides may have made the same edit. */
function demanded(base: number, ours: number, theirs: number): readonly [number, number] {
  const both = Math.max(0, ours + theirs - base);
  if (ours > base && theirs > base) return [Math.max(ours, theirs), both];
  if (ours < base && theirs < base) return [both, Math.min(ours, theirs)];
  return [both, both];
}

const tidy = (line: string): string => line.trim().replace(/\s*[,;](\s*(\/\/|#).*)?$/, "$1");

function lineCounts(code: Code): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of code.src.split("\n").map(tidy)) if (line !== "") counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

const rewritten =
  /^(import_statement|import_from_statement|export_clause|union_type|type_alias_declaration|object|object_pattern|object_type|enum_body|dictionary|interface_body)$/;

/** Lines that hold a list written on one line, and its items: a merged list spells them anew, so only tokens count there. */
function listLines(root: Code): string[] {
  return [...nodesOf(root)].flatMap((code) => {
    const { type, start, end } = code.node;
    if (!rewritten.test(type) && !(type === "list" && isNameList(code))) return [];
    const whole = /import|export|union/.test(type);
    if (!whole && textOf(code).includes("\n")) return [];
    const from = root.src.lastIndexOf("\n", start - 1) + 1;
    const to = root.src.indexOf("\n", end);
    const lines = root.src.slice(from, to === -1 ? undefined : to).split("\n");
    return [...lines, ...partsOf(code).map(textOf)].map(tidy);
  });
}

/** The list of a Python module's public names is a set. */
const isNameList = ({ src, node }: Code): boolean => /(^|\n)__all__\s*=\s*$/.test(src.slice(0, node.start));

const separators = new Set([",", ";", "|"]);

function tokenCounts(root: Code): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (text: string, count = 1) => counts.set(text, (counts.get(text) ?? 0) + count);
  for (const code of nodesOf(root, ({ type }) => type !== "string")) {
    const { type, children } = code.node;
    if (children.length > 0 && type !== "string") continue;
    const text = textOf(code);
    if (type === "comment" || type === "jsx_text") for (const [word, count] of countWords(text)) add(word, count);
    else if (!separators.has(text) && text.trim() !== "") add(text);
  }
  return counts;
}
