import { hunks, splitLines } from "./line-merge.ts";
import { boundNames } from "./naming.ts";
import { type Code, fieldOf, nodesOf, partsOf, type Triple, textOf } from "./syntax.ts";

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
  const gone = new Set(edits.flatMap(({ from, to }) => range(from, to)));
  const fresh = new Set(edits.flatMap(({ sideFrom, sideTo }) => range(sideFrom, sideTo)));
  const removed = pathsOn(base, gone);
  const added = pathsOn(side, fresh);
  return { writes: removed.writes.union(added.writes), uses: removed.uses.union(added.uses) };
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

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

function pathsOn(code: Code, lines: ReadonlySet<number>): { writes: Set<string>; uses: Set<string> } {
  const lineOf = lineCounter(code);
  const writes = new Set<string>();
  const uses = new Set<string>();
  const touched = (part: Code) =>
    range(lineOf(part.node.start), lineOf(part.node.end) + 1).some((line) => lines.has(line));
  for (const part of nodesOf(code)) {
    if (!touched(part)) continue;
    const target = targetOf(part);
    const whole = /^for_/.test(part.node.type) && target !== undefined ? touched(target) : true;
    if (target !== undefined && whole) for (const path of targetPaths(target)) writes.add(path);
    const path = pathOf(part);
    if (path !== undefined) uses.add(path);
  }
  return { writes, uses };
}

function lineCounter({ src, node }: Code): (offset: number) => number {
  const breaks: number[] = [];
  for (let at = src.indexOf("\n", node.start); at !== -1 && at < node.end; at = src.indexOf("\n", at + 1))
    breaks.push(at);
  return (offset) => {
    const index = breaks.findIndex((at) => at >= offset);
    return index === -1 ? breaks.length : index;
  };
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

/** `a`, `this.b` or `a.b.c`: a name as written, without what is computed. */
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
