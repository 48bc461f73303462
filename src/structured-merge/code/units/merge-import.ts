import { type Code, childOf, no, ok, partsOf, pick, type Result, type Triple, textOf } from "../syntax.ts";
import { mergeSplit } from "./merge-container.ts";
import type { UnitMerge } from "./merge-units.ts";
import { splitInline, splitList, splitRows } from "./split-units.ts";
import type { Container } from "./unit.ts";

/** Three versions of an import of one module; without a base, both sides have just added it. */
export interface ImportVersions {
  readonly base: Code | undefined;
  readonly ours: Code;
  readonly theirs: Code;
}

/** Merges imports of one module as sets of imported names. */
export function mergeImport(versions: ImportVersions, merge: UnitMerge): Result<string, string> {
  const ours = partsOfImport(versions.ours);
  const theirs = partsOfImport(versions.theirs);
  const base = versions.base === undefined ? undefined : partsOfImport(versions.base);
  if (ours === undefined || theirs === undefined || (versions.base !== undefined && base === undefined)) {
    return no("both sides changed an import that cannot be cut into names");
  }
  const of = (read: (one: ImportParts) => string, empty: string) =>
    pick({ base: base === undefined ? empty : read(base), ours: read(ours), theirs: read(theirs) });
  const head = of((one) => one.head, theirs.head);
  const tail = of((one) => one.tail, theirs.tail);
  const first = of((one) => one.first, "");
  if (head === undefined || tail === undefined || first === undefined)
    return no("both sides changed the form of one import");
  const list = mergeLists({ base: base?.list, ours: ours.list, theirs: theirs.list }, merge);
  if (!list.ok) return list;
  const names = [first, list.value].filter((text) => text !== "").join(", ");
  return names === "" ? no("nothing of it is left") : ok(`${head}${names}${tail}`);
}

interface ImportParts {
  readonly head: string;
  /** The default import or the namespace, as written. */
  readonly first: string;
  readonly list: Container | undefined;
  readonly tail: string;
}

function partsOfImport(code: Code): ImportParts | undefined {
  return code.language === "python" ? pythonParts(code) : scriptParts(code);
}

function scriptParts(code: Code): ImportParts | undefined {
  const clause = childOf(code, "import_clause");
  if (clause === undefined || clause.node.children.some(({ type }) => type === "comment")) return undefined;
  const named = childOf(clause, "named_imports");
  const list = named === undefined ? undefined : splitList(named, partsOf(named));
  if (named !== undefined && list === undefined) return undefined;
  const first = partsOf(clause)
    .filter(({ node }) => node.type !== "named_imports")
    .map(textOf)
    .join(", ");
  return {
    head: code.src.slice(code.node.start, clause.node.start),
    first,
    list,
    tail: code.src.slice(clause.node.end, code.node.end),
  };
}

function pythonParts(code: Code): ImportParts | undefined {
  const { src, node } = code;
  const keyword = node.children.findLast(({ type }) => type === "import");
  const items = partsOf(code).filter((item) => item.node.field === "name");
  if (keyword === undefined || node.type !== "import_from_statement" || items.length === 0) return undefined;
  const open = node.children.find(({ type }) => type === "(");
  const close = node.children.find(({ type }) => type === ")");
  const comments = node.children
    .filter(({ type }) => type === "comment")
    .map((comment) => ({ ...code, node: comment }));
  const inside = { src, from: open?.end ?? keyword.end, to: close?.start ?? node.end, items, comments };
  const cut = src.slice(inside.from, inside.to).includes("\n") ? splitRows(inside) : splitInline(inside);
  if (cut === undefined || (open === undefined && src.slice(inside.from, inside.to).includes("\n"))) return undefined;
  const head = src.slice(inside.from - (open === undefined ? 0 : 1), inside.from);
  const opening = open === undefined ? "" : src.slice(keyword.end, open.start);
  return {
    head: src.slice(node.start, keyword.end),
    first: "",
    list: {
      ...cut,
      head: `${opening}${open === undefined ? "" : head}${cut.head}`,
      tail: cut.tail + src.slice(inside.to, node.end),
    },
    tail: "",
  };
}

function mergeLists(lists: Triple<Container | undefined>, merge: UnitMerge): Result<string, string> {
  const model = lists.ours ?? lists.theirs ?? lists.base;
  if (model === undefined) return ok("");
  const none: Container = { ...model, units: [] };
  const filled = { base: lists.base ?? none, ours: lists.ours ?? none, theirs: lists.theirs ?? none };
  if (filled.ours.units.length === 0 && filled.theirs.units.length === 0) return ok("");
  return mergeSplit(filled, merge);
}
