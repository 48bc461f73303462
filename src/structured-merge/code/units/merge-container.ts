import { unwrap } from "../meaning/naming.ts";
import { mergeText } from "../merge-block.ts";
import {
  type Code,
  childOf,
  eachOf,
  fieldOf,
  no,
  ok,
  partsOf,
  pick,
  type Result,
  type Triple,
  textOf,
} from "../syntax.ts";
import { mergeUnits, type UnitMerge } from "./merge-units.ts";
import { splitLines, splitList } from "./split-units.ts";
import type { Container, Layout, Unit } from "./unit.ts";
import type { Units } from "./unit-order.ts";

/** Merges a keyed container unit by unit. A container that cannot be cut without doubt is merged as text. */
export function mergeContainer(versions: Triple<Code>, merge: UnitMerge): Result<string, string> {
  const { base, ours, theirs } = eachOf(versions, split);
  if (base === undefined || ours === undefined || theirs === undefined) return mergeText(versions);
  const text = mergeSplit({ base, ours, theirs }, merge, { fewestValues: isEnumeration(versions.base) ? 1 : 2 });
  if (!text.ok || versions.ours.node.type !== "class_definition") return text;
  // A Python class ends with its last statement; the newline after it is not its own.
  return ok(text.value.replace(/\n$/, ""));
}

/** Values of an enumeration are told apart by definition; of other containers only where there is a series of them. */
function isEnumeration(code: Code): boolean {
  const bases = fieldOf(code, "superclasses");
  return code.node.type === "enum_body" || (bases !== undefined && /(Enum|Flag)\b/.test(textOf(bases)));
}

/** The same for versions that are cut already. */
export function mergeSplit(
  versions: Triple<Container>,
  merge: UnitMerge,
  { fewestValues }: { readonly fewestValues: number } = { fewestValues: 2 },
): Result<string, string> {
  const layout = commonLayout(versions);
  if (layout === undefined) return no("both sides laid it out differently");
  const units = eachOf(versions, (container) => container.units);
  const merged = mergeUnits(units, merge);
  if (!merged.ok) return merged;
  if (merged.value.length === 0) return no("nothing of it is left");
  const running = layout === "lines" ? runsTogether(units, merged.value) : undefined;
  const problem =
    running ?? fallsApart(units, merged.value) ?? valueCollision(units, merged.value, { fewest: fewestValues });
  if (problem !== undefined) return no(problem);
  const text = render(versions, merged.value, layout);
  return text === undefined ? no("both sides changed what stands around its parts") : ok(text);
}

/** Whether the three versions are laid out in ways that can be written as one. */
function commonLayout(versions: Triple<Container>): Layout | undefined {
  const filled = [versions.base, versions.ours, versions.theirs].filter(({ units }) => units.length > 0);
  const seen = new Set(filled.map(({ layout }) => layout));
  if (seen.size === 0) return undefined;
  if (seen.size === 1) return filled[0]?.layout;
  if (seen.has("lines")) return undefined;
  return "rows";
}

/** Writes the merged units back between the brackets of the versions. */
function render(versions: Triple<Container>, units: readonly Unit[], layout: Layout): string | undefined {
  const like = (container: Container) => container.layout === layout && container.units.length > 0;
  const model = [versions.ours, versions.theirs, versions.base].find(like);
  if (model === undefined) return undefined;
  const fill = (container: Container) => (like(container) ? container : like(versions.base) ? versions.base : model);
  const filled = {
    base: like(versions.base) ? versions.base : undefined,
    ours: fill(versions.ours),
    theirs: fill(versions.theirs),
  };
  const edge = (of: (container: Container) => string) => {
    const [ours, theirs] = [of(filled.ours), of(filled.theirs)];
    return pick({ base: filled.base === undefined ? theirs : of(filled.base), ours, theirs });
  };
  const head = edge((container) => container.head);
  const tail = edge((container) => container.tail);
  const trailing = edge((container) => String(container.trailing));
  if (head === undefined || tail === undefined || trailing === undefined) return undefined;
  const indent = /[ \t]*$/.exec(model.units[0]?.before ?? "")?.[0] ?? "";
  const inner = units.map((unit, index) => {
    const last = index === units.length - 1;
    const separator = layout === "lines" || (last && trailing !== "true") ? "" : model.separator;
    if (layout !== "inline") return written(layout === "rows" ? asRow(unit, indent) : unit, separator);
    return `${unit.text}${separator}${last ? "" : " "}`;
  });
  return `${head}${inner.join("")}${tail}`;
}

const written = ({ gap, before, text, after }: Unit, separator: string): string =>
  `${gap}${before}${text}${separator}${after}`;

/** A unit that stood among others on one line gets a line of its own. */
const asRow = (unit: Unit, indent: string): Unit =>
  unit.after.endsWith("\n") ? unit : { ...unit, before: indent, after: "\n" };

/** A unit that could be read as the continuation of the one before it. */
const continues = /^([([`+\-*/.,?<&|^%=]|in\b|instanceof\b)/;

/** Two units that were not neighbours on any side must not become one statement for want of a semicolon. */
function runsTogether(units: Units, result: readonly Unit[]): string | undefined {
  for (const [index, unit] of result.entries()) {
    const before = result[index - 1];
    if (before === undefined || !continues.test(unit.text) || endsItself(before)) continue;
    if (![units.ours, units.theirs].some((side) => areNeighbours(side, before.key, unit.key))) {
      return "two statements would run together for want of a semicolon";
    }
  }
  return undefined;
}

const endsItself = ({ text, after, key }: Unit): boolean =>
  /;$/.test(text.trim()) || /^\s*;/.test(after) || /^(comment|function|class|type|enum|namespace) /.test(key);

const areNeighbours = (side: readonly Unit[], one: string, next: string): boolean =>
  side.some(({ key }, index) => key === one && side[index + 1]?.key === next);

/**
 * Both sides took the same next number or code: `A = 1, B = 2` on which one adds `C = 3` and the other `D = 3`.
 * Noticed where all values were literals, no two were equal before, and there were at least `fewest` of them.
 */
function valueCollision(
  { base, ours, theirs }: Units,
  result: readonly Unit[],
  { fewest }: { readonly fewest: number },
): string | undefined {
  const all = literalsOf(base);
  // In a file full of other things, the constants in capitals with numbers are the series.
  const isSeries = all.length === base.filter(isNamed).length;
  const read = (units: readonly Unit[]) => literalsOf(isSeries ? units : units.filter(isNumbered));
  const known = read(base);
  if (known.length < fewest || hasTwins(known) || hasTwins(read(ours)) || hasTwins(read(theirs))) return undefined;
  const values = read(result);
  const twin = values.find((value, index) => values.indexOf(value) !== index);
  return twin === undefined ? undefined : `both sides added a part with the value ${twin}, where values were unique`;
}

const isNamed = ({ names }: Unit): boolean => names.length > 0;
const isNumbered = ({ names, text }: Unit): boolean =>
  /^[A-Z][A-Z0-9_]*$/.test(names[0] ?? "") && /=\s*-?[\d(]/.test(text);
const hasTwins = (values: readonly string[]): boolean => new Set(values).size !== values.length;
const literal = /^-?(\d[\w.]*|(["'])[^"'\n]*\2|\(?1\s*<<\s*\d+\)?)$/;

function literalsOf(units: readonly Unit[]): string[] {
  return units.flatMap(({ code }) => {
    if (code === undefined) return [];
    const inner = unwrap(code);
    const holder = childOf(inner, "variable_declarator", "assignment") ?? inner;
    const value = fieldOf(holder, "value") ?? fieldOf(holder, "right");
    const text = value === undefined ? "" : textOf(value);
    return literal.test(text) ? [text] : [];
  });
}

const braced = ["class_body", "interface_body", "object_type", "statement_block", "switch_body"];
const lists = ["object", "object_pattern", "enum_body", "named_imports", "export_clause", "dictionary", "list"];

/** Cuts a node into keyed units; undefined where it is no container or cannot be cut without doubt. */
function split(code: Code): Container | undefined {
  const { type } = code.node;
  if (type === "program" || type === "module")
    return code.node.start === 0 || type === "program" || code.language === "python" ? splitFile(code) : undefined;
  if (type === "class_definition") return splitPythonClass(code);
  if (lists.includes(type)) return withSlots(code, splitList(code, partsOf(code)));
  if (!braced.includes(type)) return undefined;
  if (textOf(code).replace(/[{}\s]/g, "") === "") return empty(code);
  if (type === "switch_body") return withFallThrough(splitBraces(code));
  const isType = type === "interface_body" || type === "object_type";
  return splitBraces(code) ?? (isType ? splitList(code, partsOf(code)) : undefined);
}

/** Bodies that can be cut for sure only if they say nothing yet. */
const empty = (code: Code): Container => ({
  layout: "inline",
  head: textOf(code),
  units: [],
  tail: "",
  separator: "",
  trailing: false,
});

function splitFile(code: Code): Container | undefined {
  const units = splitLines({ src: code.src, from: 0, to: code.src.length, items: itemsOf(code) });
  return units && { layout: "lines", head: "", units, tail: "", separator: "", trailing: false };
}

function splitBraces(code: Code): Container | undefined {
  const { src, node } = code;
  const open = node.children[0];
  const close = node.children.at(-1);
  if (open?.type !== "{" || close?.type !== "}") return undefined;
  const newline = src.indexOf("\n", open.end);
  const from = newline + 1;
  const to = src.lastIndexOf("\n", close.start) + 1;
  if (newline === -1 || from > to) return undefined;
  const inside = itemsOf(code).filter(({ node: item }) => item.start >= from);
  const onOpening = itemsOf(code).filter(({ node: item }) => item.start < from);
  if (onOpening.some(({ node: item }) => item.type !== "comment" || item.end > newline)) return undefined;
  if (src.slice(to, close.start).trim() !== "") return undefined;
  const units = splitLines({ src, from, to, items: inside });
  return (
    units && {
      layout: "lines",
      head: src.slice(node.start, from),
      units,
      tail: src.slice(to, node.end),
      separator: "",
      trailing: false,
    }
  );
}

/** The body of a class, from the line after its colon to its last statement. */
function splitPythonClass(code: Code): Container | undefined {
  const { src, node } = code;
  const body = fieldOf(code, "body");
  const colon = node.children.find(({ type }) => type === ":");
  if (body === undefined || colon === undefined) return undefined;
  const newline = src.indexOf("\n", colon.end);
  if (newline === -1 || newline > body.node.start || !/^\s*(#.*)?$/.test(src.slice(colon.end, newline)))
    return undefined;
  const early = itemsOf(code).filter(({ node: item }) => item.type === "comment" && item.start > newline);
  const items = [...early, ...itemsOf(body)].filter(({ node: item }) => item.end <= node.end);
  const units = splitLines({
    src,
    from: newline + 1,
    to: node.end,
    items: items.toSorted((a, b) => a.node.start - b.node.start),
  });
  const last = units?.at(-1);
  if (units === undefined || last === undefined) return undefined;
  // The class node ends before its last newline; every unit owns one while the body is put together.
  const complete = [...units.slice(0, -1), { ...last, after: `${last.after}\n` }];
  const container: Container = {
    layout: "lines",
    head: src.slice(node.start, newline + 1),
    units: complete.map((unit) => pythonSlots(code, unit)),
    tail: "",
    separator: "",
    trailing: false,
  };
  return container;
}

const positional = /\b(NamedTuple|Structure)\b/;
const generated = /@\s*(\w+\.)?(dataclass|dataclasses|define|attrs?|frozen|mutable|s)\b/;

/** Where a class turns its attributes into positions or numbers, an attribute's place has a meaning. */
function pythonSlots(code: Code, unit: Unit): Unit {
  if (!unit.key.startsWith("variable ")) return unit;
  const bases = fieldOf(code, "superclasses");
  const above = code.src.slice(Math.max(0, code.src.lastIndexOf("\n\n", code.node.start)), code.node.start);
  const counted =
    /\bauto\s*\(/.test(unit.text) || generated.test(above) || (bases !== undefined && positional.test(textOf(bases)));
  return counted ? { ...unit, flow: "slot" } : unit;
}

/** A case that runs on into the next one is bound to its place. */
function withFallThrough(container: Container | undefined): Container | undefined {
  if (container === undefined) return undefined;
  const units = container.units.map(
    (unit): Unit => ({ ...unit, flow: unit.code === undefined || endsCase(unit.code) ? "free" : "slot" }),
  );
  return { ...container, units };
}

/** Members of an enum without a value of their own are numbered by their place. */
function withSlots(code: Code, container: Container | undefined): Container | undefined {
  if (container === undefined || code.node.type !== "enum_body") return container;
  const counted = container.units.some((unit) => unit.code?.node.type === "property_identifier");
  return counted
    ? { ...container, units: container.units.map((unit) => ({ ...unit, flow: "slot" as const })) }
    : container;
}

const itemsOf = (code: Code): Code[] =>
  code.node.children.filter(({ named }) => named).map((node) => ({ ...code, node }));

const leaves = /^(break|return|throw|continue)_statement$/;

/** A switch case that runs on into the next one must be followed by the case its author saw there. */
function fallsApart(units: Units, result: readonly Unit[]): string | undefined {
  for (const [index, unit] of result.entries()) {
    if (!/^(case |default$)/.test(unit.key)) continue;
    const versions = [...units.ours, ...units.theirs].filter(({ key }) => key === unit.key);
    if (versions.every(ends)) continue;
    const next = result[index + 1]?.key;
    const seen = [units.ours, units.theirs].flatMap((side) => {
      const at = side.findIndex(({ key }) => key === unit.key);
      return at === -1 ? [] : [side[at + 1]?.key];
    });
    if (seen.some((key) => key !== next)) return `"${unit.key}" runs on into a case that is not the same on both sides`;
  }
  return undefined;
}

const ends = ({ code }: Unit): boolean => code !== undefined && endsCase(code);

/** Whether a case leaves the switch by its last statement. */
function endsCase(code: Code): boolean {
  const last = partsOf(code).at(-1);
  if (last === undefined) return false;
  if (leaves.test(last.node.type)) return true;
  const inner = last.node.type === "statement_block" ? partsOf(last).at(-1) : undefined;
  return inner !== undefined && leaves.test(inner.node.type);
}
