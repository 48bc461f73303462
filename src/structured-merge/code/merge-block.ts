import { mergeLines } from "../lines/merge-lines.ts";
import { dependenceBetween } from "./dependence.ts";
import { mergeInsertions } from "./insertions.ts";
import { lostNameUsed } from "./lost-names.ts";
import { movedPastEdit } from "./moved-lines.ts";
import { no, ok, type Result } from "./result.ts";
import { type Code, eachOf, fieldOf, nodesOf, partsOf, pick, type Triple, textOf } from "./syntax.ts";
import { isAlike, saysSomething } from "./word-likeness.ts";

/** Line merge of a node, refused where the edits touch or where one depends on what the other writes. */
export function mergeText(versions: Triple<Code>): Result<string, string> {
  const { base, ours, theirs } = eachOf(versions, textOf);
  const merged = mergeLines(base, ours, theirs);
  if (merged.kind === "conflict") return no("both sides edited the same lines");
  const problem = entangled(versions) ?? misplaced({ base, ours, theirs }, merged.text);
  return problem === undefined ? ok(merged.text) : no(problem);
}

/**
 * Statements or elements whose order is the program. Lines first; where edits touch, statement by statement,
 * as long as both sides kept their number and no two neighbours were edited by different sides.
 */
export function mergeBlock(
  versions: Triple<Code>,
  mergeNode: (versions: Triple<Code>) => Result<string, string>,
): Result<string, string> {
  const exits = eachOf(versions, exitsOf);
  if (exits.ours !== exits.base || exits.theirs !== exits.base)
    return no("a side added or removed a way out of the block");
  const problem = entangled(versions);
  if (problem !== undefined) return inserted(versions) ?? no(problem);
  const { base, ours, theirs } = eachOf(versions, textOf);
  const merged = mergeLines(base, ours, theirs);
  if (merged.kind === "merged") {
    const wrong = misplaced({ base, ours, theirs }, merged.text);
    return wrong === undefined ? ok(merged.text) : no(wrong);
  }
  return inserted(versions) ?? byPosition(versions, mergeNode);
}

function inserted(versions: Triple<Code>): Result<string, string> | undefined {
  const text = lostNameUsed(versions) === undefined ? mergeInsertions(versions) : undefined;
  return text === undefined ? undefined : ok(text);
}

function entangled(versions: Triple<Code>): string | undefined {
  const lost = lostNameUsed(versions);
  if (lost !== undefined) return `one side removed or renamed ${lost} and the other side newly uses it`;
  if (hookBehindExit(versions))
    return "one side added a way out and the other side a hook, which must always be reached";
  const name = dependenceBetween(versions);
  return name === undefined ? undefined : `one side writes ${name} and the other side's edit uses it`;
}

/** Hooks of a component are counted, so none may stand behind a return that is not always taken. */
function hookBehindExit({ base, ours, theirs }: Triple<Code>): boolean {
  const hooks = (code: Code): number => [...nodesOf(code)].filter(isHook).length;
  const ways = (code: Code): number => [...nodesOf(code)].filter(({ node }) => exitTypes.test(node.type)).length;
  const clash = (one: Code, other: Code): boolean => ways(one) > ways(base) && hooks(other) > hooks(base);
  return clash(ours, theirs) || clash(theirs, ours);
}

function isHook(code: Code): boolean {
  const callee = code.node.type === "call_expression" ? fieldOf(code, "function") : undefined;
  return callee !== undefined && /^(\w+\.)?use[A-Z]\w*$/.test(textOf(callee));
}

/** What no line merge notices: a line that would stand twice, or on the wrong side of the other side's edit. */
function misplaced(texts: Triple<string>, merged: string): string | undefined {
  const moved = movedPastEdit(texts);
  if (moved !== undefined) return `one side moved "${moved}" past what the other side edited`;
  return doubled(texts, merged);
}

/** A line that both sides added at different places of one sequence: twice would be once too often, once a guess. */
function doubled(texts: Triple<string>, merged: string): string | undefined {
  const [base, ours, theirs, result] = [texts.base, texts.ours, texts.theirs, merged].map(lineCounts);
  for (const [line, count] of result ?? []) {
    const [was, left, right] = [base?.get(line) ?? 0, ours?.get(line) ?? 0, theirs?.get(line) ?? 0];
    if (left > was && right > was && count > Math.max(left, right))
      return `both sides added "${line}" at different places`;
  }
  return undefined;
}

/** How often each line occurs that says something. */
function lineCounts(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of text.split("\n").map((one) => one.trim().replace(/[,;]$/, ""))) {
    if (saysSomething(line)) counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return counts;
}

const exitTypes = /^(return|throw|break|continue|raise)_statement$/;
const exitsOf = (code: Code): number => partsOf(code).filter(({ node }) => exitTypes.test(node.type)).length;

function byPosition(
  versions: Triple<Code>,
  mergeNode: (versions: Triple<Code>) => Result<string, string>,
): Result<string, string> {
  const parts = eachOf(versions, partsOf);
  const refused = no("both sides edited the same lines");
  const count = parts.base.length;
  if (count === 0 || parts.ours.length !== count || parts.theirs.length !== count) return refused;
  if (isShifted(parts.base, parts.ours) || isShifted(parts.base, parts.theirs)) return refused;
  const between = eachOf(versions, betweenParts);
  let out = "";
  let lastEditor: "ours" | "theirs" | "both" | undefined;
  for (let index = 0; index <= count; index++) {
    const gap = pick({
      base: between.base[index] ?? "",
      ours: between.ours[index] ?? "",
      theirs: between.theirs[index] ?? "",
    });
    if (gap === undefined) return refused;
    out += gap;
    const [base, ours, theirs] = [parts.base[index], parts.ours[index], parts.theirs[index]];
    if (base === undefined || ours === undefined || theirs === undefined) continue;
    const editor = editorOf({ base: textOf(base), ours: textOf(ours), theirs: textOf(theirs) });
    if (editor !== undefined && lastEditor !== undefined && (editor !== lastEditor || editor === "both"))
      return refused;
    lastEditor = editor;
    const merged = mergeNode({ base, ours, theirs });
    if (!merged.ok) return merged;
    out += merged.value;
  }
  return ok(out);
}

/** The same number of parts, but not the same ones in the same places: positions say nothing then. */
function isShifted(base: readonly Code[], side: readonly Code[]): boolean {
  const old = base.map(textOf);
  return side.some((code, index) => {
    const [was, is] = [old[index] ?? "", textOf(code)];
    return was !== is && (old.includes(is) || !isAlike(was, is));
  });
}

function editorOf({ base, ours, theirs }: Triple<string>): "ours" | "theirs" | "both" | undefined {
  if (ours !== base && theirs !== base) return "both";
  return ours !== base ? "ours" : theirs !== base ? "theirs" : undefined;
}

/** What stands before, between and after the parts. */
function betweenParts(code: Code): string[] {
  const out: string[] = [];
  let at = code.node.start;
  for (const { node } of partsOf(code)) {
    out.push(code.src.slice(at, node.start));
    at = node.end;
  }
  return [...out, code.src.slice(at, code.node.end)];
}
