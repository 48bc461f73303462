import type { Code } from "../syntax.ts";
import { type Unit, unitOf } from "./unit.ts";

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
