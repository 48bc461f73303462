import type { Code } from "../syntax.ts";
import { type Container, type Unit, unitOf } from "./unit.ts";

/** The part of a text to cut: from the start of a line to the end of a line, and the nodes in it, comments too. */
export interface Stretch {
  readonly src: string;
  readonly from: number;
  readonly to: number;
  readonly items: readonly Code[];
}

/** A run of lines around one item. */
interface Row {
  readonly item: Code;
  readonly start: number;
  readonly lineStart: number;
  end: number;
  lineEnd: number;
}

/**
 * Cuts whole lines into units; undefined where two units share a line or one key.
 * Comments go with the unit they stand directly above; a comment set off by a blank line is a unit of its own.
 */
export function splitLines({ src, from, to, items }: Stretch): Unit[] | undefined {
  const rows = rowsOf({ src, from, to, items });
  if (rows === undefined) return undefined;
  const units: Unit[] = [];
  let at = from;
  let comments: Row[] = [];
  const blankBefore = (row: Row) => src.slice(at, row.lineStart);
  for (const row of rows) {
    const gap = blankBefore(row);
    if (gap.trim() !== "") return undefined;
    if (gap !== "" && comments.length > 0) {
      units.push(commentUnit(src, comments, from));
      comments = [];
    }
    at = row.lineEnd;
    if (row.item.node.type === "comment") {
      comments.push(row);
      continue;
    }
    const first = comments[0] ?? row;
    units.push(
      unitOf(row.item, {
        gap: gapBefore(src, first.lineStart, from),
        before: src.slice(first.lineStart, row.start),
        after: src.slice(row.item.node.end, row.lineEnd),
      }),
    );
    comments = [];
  }
  if (src.slice(at, to).trim() !== "") return undefined;
  if (comments.length > 0) units.push(commentUnit(src, comments, from));
  return distinct(rebindings(joinOverloads(joinRepeatedComments(units))));
}

function rowsOf({ src, from, to, items }: Stretch): Row[] | undefined {
  const rows: Row[] = [];
  for (const item of items) {
    const { start, end } = item.node;
    const lineStart = src.lastIndexOf("\n", start - 1) + 1;
    const newline = src.indexOf("\n", end - (src[end - 1] === "\n" ? 1 : 0));
    const lineEnd = newline === -1 || newline >= to ? to : newline + 1;
    const last = rows.at(-1);
    if (last !== undefined && start < last.lineEnd) {
      if (item.node.type !== "comment" || src.slice(start, end).includes("\n")) return undefined;
      last.end = end;
      last.lineEnd = Math.max(last.lineEnd, lineEnd);
      continue;
    }
    if (lineStart < from || src.slice(lineStart, start).trim() !== "") return undefined;
    rows.push({ item, start, lineStart, end, lineEnd });
  }
  const clean = rows.every((row) =>
    /^\s*[;,]?\s*(\/\/.*|\/\*.*\*\/\s*|#.*)?\s*$/.test(src.slice(row.item.node.end, row.lineEnd)),
  );
  return clean ? rows : undefined;
}

function gapBefore(src: string, lineStart: number, from: number): string {
  let at = lineStart;
  while (at > from) {
    const previous = at < 2 ? 0 : src.lastIndexOf("\n", at - 2) + 1;
    if (src.slice(previous, at).trim() !== "") break;
    at = Math.max(previous, from);
  }
  return src.slice(at, lineStart);
}

function commentUnit(src: string, rows: readonly Row[], from: number): Unit {
  const [first] = rows;
  const last = rows.at(-1);
  if (first === undefined || last === undefined) throw new Error("a comment unit has at least one comment");
  const text = src.slice(first.start, last.item.node.end);
  return {
    key: `comment ${text.replace(/\s+/g, " ")}`,
    names: [],
    flow: "free",
    code: undefined,
    gap: gapBefore(src, first.lineStart, from),
    before: src.slice(first.lineStart, first.start),
    text,
    after: src.slice(last.item.node.end, last.lineEnd),
  };
}

/** A ruler line that occurs twice cannot be told apart by its text, so it goes with the unit below it. */
function joinRepeatedComments(units: readonly Unit[]): Unit[] {
  const seen = new Map<string, number>();
  for (const { key } of units) seen.set(key, (seen.get(key) ?? 0) + 1);
  const out: Unit[] = [];
  let held = "";
  let heldGap = "";
  for (const unit of units) {
    if (unit.code === undefined && (seen.get(unit.key) ?? 0) > 1) {
      if (held === "") heldGap = unit.gap;
      held += (held === "" ? "" : unit.gap) + unit.before + unit.text + unit.after;
      continue;
    }
    out.push(held === "" ? unit : { ...unit, gap: heldGap, before: held + unit.gap + unit.before });
    held = "";
  }
  const last = out.at(-1);
  if (held !== "" && last !== undefined) out[out.length - 1] = { ...last, after: last.after + heldGap + held };
  return out;
}

/** Overload signatures and their implementation stand next to each other and mean something only together. */
function joinOverloads(units: readonly Unit[]): Unit[] {
  const out: Unit[] = [];
  for (const unit of units) {
    const last = out.at(-1);
    if (
      last === undefined ||
      last.key !== unit.key ||
      !/^(static )?(function|member) /.test(unit.key) ||
      !isCallable(unit)
    ) {
      out.push(unit);
      continue;
    }
    const text = last.text + last.after + unit.gap + unit.before + unit.text;
    out[out.length - 1] = { ...last, code: undefined, text, after: unit.after };
  }
  return out;
}

/** A name that is bound twice changes its meaning on the way, so both places are part of the order. */
function rebindings(units: readonly Unit[]): Unit[] {
  const bound = Map.groupBy(
    units.flatMap(({ names }, index) => names.map((name) => ({ name, index }))),
    ({ name }) => name,
  );
  const twice = new Set(
    [...bound.values()].filter((places) => places.length > 1).flatMap((places) => places.map(({ index }) => index)),
  );
  return units.map((unit, index) =>
    twice.has(index) && unit.flow === "free" && isAssigned(unit) ? { ...unit, flow: "effect" } : unit,
  );
}

const isAssigned = ({ key }: Unit): boolean => /^(variable|assign) /.test(key);

const isCallable = ({ code }: Unit): boolean =>
  code !== undefined &&
  !/^(public_field_definition|field_definition|property_signature|pair|shorthand.*)$/.test(code.node.type);

/** Units that share a key are told apart by their whole text; if even that is shared, nothing can be. */
export function distinct(units: readonly Unit[]): Unit[] | undefined {
  const count = new Map<string, number>();
  for (const { key } of units) count.set(key, (count.get(key) ?? 0) + 1);
  const out = units.map(
    (unit): Unit =>
      (count.get(unit.key) ?? 0) > 1
        ? {
            ...unit,
            key: `repeated ${unit.key} ${unit.text}`,
            flow: unit.flow === "free" ? "effect" : unit.flow,
            code: undefined,
          }
        : unit,
  );
  return new Set(out.map(({ key }) => key)).size === out.length ? out : undefined;
}

/** Cuts a bracketed list with separators; undefined for layouts where a cut would have to guess. */
export function splitList(code: Code, items: readonly Code[]): Container | undefined {
  const { src, node } = code;
  const open = node.children[0];
  const close = node.children.at(-1);
  if (open === undefined || close === undefined || open === close) return undefined;
  const comments = node.children
    .filter(({ type }) => type === "comment")
    .map((comment) => ({ ...code, node: comment }));
  const list = { src, from: open.end, to: close.start, items, comments };
  const cut = src.slice(open.start, close.end).includes("\n") ? splitRows(list) : splitInline(list);
  return (
    cut && {
      ...cut,
      head: src.slice(node.start, open.end) + cut.head,
      tail: cut.tail + src.slice(close.start, node.end),
    }
  );
}

/** The inside of a list, between its brackets. */
interface ListInside {
  readonly src: string;
  readonly from: number;
  readonly to: number;
  readonly items: readonly Code[];
  readonly comments: readonly Code[];
}

/** Everything on one line: `a, b, c`. */
export function splitInline({ src, from, to, items, comments }: ListInside): Container | undefined {
  const [first] = items;
  const last = items.at(-1);
  if (comments.length > 0 || src.slice(from, to).includes("\n")) return undefined;
  if (first === undefined || last === undefined) {
    return { layout: "inline", head: src.slice(from, to), units: [], tail: "", separator: ",", trailing: false };
  }
  const between = items.slice(1).map((item, index) => src.slice(items[index]?.node.end, item.node.start).trim());
  const separator = between[0] ?? ",";
  if (between.some((text) => text !== separator || !/^[,;|]$/.test(text))) return undefined;
  const rest = src.slice(last.node.end, to);
  if (!/^\s*[,;]?\s*$/.test(rest)) return undefined;
  const units = distinct(items.map((item) => unitOf(item, { gap: "", before: "", after: "" })));
  return (
    units && {
      layout: "inline",
      head: src.slice(from, first.node.start),
      units,
      tail: rest.replace(/^\s*[,;]/, ""),
      separator,
      trailing: /[,;]/.test(rest),
    }
  );
}

/** One item to a line, each with the comment lines above it and the comment behind it. */
export function splitRows({ src, from, to, items, comments }: ListInside): Container | undefined {
  const firstLine = src.indexOf("\n", from) + 1;
  const lastLine = src.lastIndexOf("\n", to - 1) + 1;
  if (firstLine === 0 || firstLine > lastLine || src.slice(from, firstLine).trim() !== "") return undefined;
  if (src.slice(lastLine, to).trim() !== "") return undefined;
  const units: Unit[] = [];
  let at = firstLine;
  let trailing = true;
  for (const [index, item] of items.entries()) {
    const newline = src.indexOf("\n", item.node.end);
    const lineEnd = newline === -1 ? to : newline + 1;
    const before = src.slice(at, item.node.start);
    const behind = /^(?:\s*(,))?(.*\n)$/.exec(src.slice(item.node.end, lineEnd));
    if (
      behind === null ||
      !isOnlyComments(src, { from: at, to: item.node.start }, comments) ||
      !/^\s*((\/\/|#).*|\/\*.*\*\/\s*)?$/.test((behind[2] ?? "").trimEnd())
    )
      return undefined;
    if (behind[1] === undefined && index < items.length - 1) return undefined;
    trailing = behind[1] === ",";
    const gap = /^(\s*\n)*/.exec(before)?.[0] ?? "";
    units.push(unitOf(item, { gap, before: before.slice(gap.length), after: behind[2] ?? "" }));
    at = lineEnd;
  }
  if (at > lastLine || src.slice(at, lastLine).trim() !== "" || !commentsCovered(units, comments)) return undefined;
  const told = distinct(units);
  return (
    told && {
      layout: "rows",
      head: src.slice(from, firstLine),
      units: told,
      tail: src.slice(at, to),
      separator: ",",
      trailing: trailing && units.length > 0,
    }
  );
}

/** Nothing but comments and white space, the last line being the indentation of the item. */
function isOnlyComments(src: string, span: { from: number; to: number }, comments: readonly Code[]): boolean {
  let rest = "";
  let at = span.from;
  for (const { node } of comments.filter(({ node }) => node.start >= span.from && node.end <= span.to)) {
    rest += src.slice(at, node.start);
    at = node.end;
  }
  const tail = src.slice(at, span.to);
  return (rest + tail).trim() === "" && (at === span.from || tail.includes("\n"));
}

const commentsCovered = (units: readonly Unit[], comments: readonly Code[]): boolean =>
  comments.every((comment) => {
    const text = comment.src.slice(comment.node.start, comment.node.end).trim();
    return units.some(({ before, after }) => before.includes(text) || after.includes(text));
  });
