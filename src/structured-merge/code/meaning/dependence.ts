import { hunks, splitLines } from "../../lines/merge-lines.ts";
import { type Code, fieldOf, nodesOf, partsOf, type SyntaxNode, type Triple, textOf } from "../syntax.ts";
import { boundNames } from "./naming.ts";

/**
 * A name that one side's edit writes and the other side's edit uses, inside code where both edited.
 * The two edits may be lines apart and still be about the same thing, which no line merge can see.
 */
export function dependenceBetween({ base, ours, theirs }: Triple<Code>): string | undefined {
  const left = touchedPaths(base, ours);
  const right = touchedPaths(base, theirs);
  return meeting(left.writes, right.uses) ?? meeting(right.writes, left.uses);
}

interface Paths {
  readonly writes: ReadonlySet<string>;
  readonly uses: ReadonlySet<string>;
}

function touchedPaths(base: Code, side: Code): Paths {
  // A last line is the same line whether or not another one follows it.
  const lines = (code: Code) => splitLines(`${textOf(code)}\n`);
  const edits = hunks(lines(base), lines(side));
  const paths: { writes: Set<string>; uses: Set<string> } = { writes: new Set(), uses: new Set() };
  for (const { from, to, sideFrom, sideTo } of edits) {
    const stretches = { was: stretchOf(base, from, to), is: stretchOf(side, sideFrom, sideTo) };
    const items = { was: editedItems(stretches.was, stretches.is), is: editedItems(stretches.is, stretches.was) };
    // Nothing is new or gone in it: it was moved or put in another order, and all of it counts.
    const whole = from === to || sideFrom === sideTo || items.was.length + items.is.length === 0;
    for (const [stretch, spans] of [
      [stretches.was, items.was],
      [stretches.is, items.is],
    ] as const) {
      const found = pathsOn(stretch, whole ? undefined : spans);
      for (const path of found.writes) paths.writes.add(path);
      for (const path of found.uses) paths.uses.add(path);
    }
  }
  return paths;
}

const targets: Readonly<Record<string, string>> = {
  assignment_expression: "left",
  augmented_assignment_expression: "left",
  assignment: "left",
  augmented_assignment: "left",
  named_expression: "name",
  update_expression: "argument",
  variable_declarator: "name",
  for_in_statement: "left",
  for_statement: "left",
};
/** Objects whose methods change nothing that the rest of a function reads. */
const bystanders = new Set([
  "console",
  "logger",
  "log",
  "logging",
  "Math",
  "JSON",
  "Object",
  "Array",
  "this",
  "self",
  "cls",
  "super",
  "expect",
]);

/** Some whole lines of a code, as offsets into its source. */
interface Stretch extends Span {
  readonly code: Code;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function stretchOf(code: Code, from: number, to: number): Stretch {
  const lines = splitLines(textOf(code));
  const length = (count: number): number => lines.slice(0, count).reduce((sum, line) => sum + line.length, 0);
  return { code, start: code.node.start + length(from), end: code.node.start + length(to) };
}

const overlap = (one: Span, other: Span): boolean => one.start < other.end && other.start < one.end;

/** Nodes that are lists of items which have nothing to do with each other. */
const lists =
  /^(program|module|statement_block|block|object|array|arguments|argument_list|dictionary|list|tuple|set|object_pattern|named_imports|jsx_element|jsx_opening_element|jsx_self_closing_element|class_body)$/;

/** The smallest items around what a stretch has and its counterpart has not, or has less often. */
function editedItems({ code, ...span }: Stretch, other: Stretch): Span[] {
  const known = countLeaves(other);
  const here = countLeaves({ code, ...span });
  const items: Span[] = [];
  const walk = (node: SyntaxNode, item: Span): void => {
    if (!overlap(node, span)) return;
    const text = code.src.slice(node.start, node.end);
    if (node.children.length === 0 && (here.get(text) ?? 0) > (known.get(text) ?? 0)) items.push(item);
    for (const child of node.children) walk(child, lists.test(node.type) ? child : item);
  };
  walk(code.node, code.node);
  return items;
}

function countLeaves({ code, ...span }: Stretch): Map<string, number> {
  const counts = new Map<string, number>();
  const walk = (node: SyntaxNode): void => {
    if (!overlap(node, span)) return;
    const text = code.src.slice(node.start, node.end);
    if (node.children.length === 0) counts.set(text, (counts.get(text) ?? 0) + 1);
    for (const child of node.children) walk(child);
  };
  walk(code.node);
  return counts;
}

/** The paths that a stretch writes, and those it uses inside of `items` (everywhere, if there are none). */
function pathsOn(
  { code, ...span }: Stretch,
  items: readonly Span[] | undefined,
): { writes: Set<string>; uses: Set<string> } {
  const writes = new Set<string>();
  const uses = new Set<string>();
  if (span.start === span.end) return { writes, uses };
  const touched = (part: Code) => overlap(part.node, span);
  for (const part of nodesOf(code, (node) => overlap(node, span))) {
    if (!touched(part)) continue;
    const target = targetOf(part);
    const whole = /^for_/.test(part.node.type) && target !== undefined ? touched(target) : true;
    if (target !== undefined && whole) for (const path of targetPaths(target)) writes.add(path);
    const path = pathOf(part);
    const counts = items === undefined || items.some((item) => overlap(item, part.node));
    if (path !== undefined && counts) uses.add(path);
  }
  return { writes, uses };
}

function targetOf(part: Code): Code | undefined {
  const field = targets[part.node.type];
  if (field !== undefined) return fieldOf(part, field);
  if (part.node.type !== "call_expression" && part.node.type !== "call") return undefined;
  const callee = fieldOf(part, "function");
  const object = callee && fieldOf(callee, "object");
  return object !== undefined && !bystanders.has(textOf(object)) ? object : undefined;
}

function targetPaths(target: Code): string[] {
  const path = pathOf(target);
  if (path !== undefined) return [path];
  if (/pattern/.test(target.node.type)) return boundNames(target);
  const object = fieldOf(target, "object") ?? fieldOf(target, "value");
  if (object !== undefined) return targetPaths(object);
  return partsOf(target).flatMap(targetPaths);
}

/** `a`, `this.b` or `a.b.c`: a name as written, without computed parts. */
function pathOf(code: Code): string | undefined {
  const { type } = code.node;
  if (type === "identifier" || type === "shorthand_property_identifier") return textOf(code);
  if (type !== "member_expression" && type !== "attribute") return undefined;
  const text = textOf(code).replace(/\?\./g, ".");
  return /^[\w$#]+(\.[\w$#]+)+$/.test(text) ? text : undefined;
}

function meeting(writes: ReadonlySet<string>, uses: ReadonlySet<string>): string | undefined {
  for (const written of writes) {
    if (bystanders.has(written)) continue;
    for (const used of uses) {
      if (bystanders.has(used)) continue;
      if (used === written || used.startsWith(`${written}.`) || written.startsWith(`${used}.`)) return written;
    }
  }
  return undefined;
}
