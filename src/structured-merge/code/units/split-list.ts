import type { Code } from "../syntax.ts";
import { distinct } from "./split-lines.ts";
import { type Container, type Unit, unitOf } from "./unit.ts";

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
export interface ListInside {
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
