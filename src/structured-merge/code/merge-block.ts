import { matches } from "../lines/align.ts";
import { mergeLines } from "../lines/merge-lines.ts";
import { dependenceBetween } from "./meaning/dependence.ts";
import { lostNameUsed } from "./meaning/lost-names.ts";
import { isQuiet } from "./meaning/purity.ts";
import { movedPastEdit } from "./moved-lines.ts";
import {
  type Code,
  childOf,
  eachOf,
  fieldOf,
  no,
  nodesOf,
  ok,
  partsOf,
  pick,
  type Result,
  type Triple,
  textOf,
} from "./syntax.ts";
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

/** A fault that no line merge notices: a line that would stand twice, or on the wrong side of the other side's edit. */
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

/**
 * Merges a sequence of statements to which both sides only added, where the order of the additions does not matter:
 * each sets another attribute, declares another constant, or registers another option. Undefined where that cannot be
 * shown.
 */
function mergeInsertions(versions: Triple<Code>): string | undefined {
  const parts = eachOf(versions, partsOf);
  const [ours, theirs] = [runsOf(parts.base, parts.ours), runsOf(parts.base, parts.theirs)];
  if (ours === undefined || theirs === undefined) return undefined;
  const [mine, other] = [ours, theirs].map((runs) => [...runs.values()].flat());
  if (!mine?.every((one) => other?.every((two) => areIndependent(one, two)))) return undefined;
  return written(versions.ours, { parts, ours, theirs });
}

type Runs = ReadonlyMap<number, readonly Code[]>;

/** What a side added behind each statement of the base (-1: before all); undefined when it did anything else. */
function runsOf(base: readonly Code[], side: readonly Code[]): Runs | undefined {
  const texts = side.map(textOf);
  if (new Set(texts).size !== texts.length) return undefined;
  const places = matches(base.map(textOf), texts);
  if (places.some((place) => place === undefined)) return undefined;
  const known = new Map(places.map((place, index) => [place, index]));
  const runs = new Map<number, Code[]>();
  let after = -1;
  for (const [index, code] of side.entries()) {
    const at = known.get(index);
    if (at === undefined) runs.set(after, [...(runs.get(after) ?? []), code]);
    else after = at;
  }
  return runs;
}

interface Insertions {
  readonly parts: Triple<readonly Code[]>;
  readonly ours: Runs;
  readonly theirs: Runs;
}

/** Ours with the lines of theirs put behind what ours has at the same place. */
function written(ours: Code, { parts, ours: mine, theirs }: Insertions): string | undefined {
  const inserts: { at: number; text: string }[] = [];
  for (const [after, run] of theirs) {
    const anchor = mine.get(after)?.at(-1) ?? parts.ours.find((code) => textOf(code) === textOfBase(parts.base, after));
    const [first] = run;
    const last = run.at(-1);
    if (anchor === undefined || first === undefined || last === undefined) return undefined;
    const from = commentStart(first);
    const to = lineEnd(last);
    const text = first.src.slice(from, to);
    if (!opensLine(first) || !closesLine(last) || !closesLine(anchor)) return undefined;
    inserts.push({ at: lineEnd(anchor), text: `\n${text}` });
  }
  let out = textOf(ours);
  for (const { at, text } of inserts.toSorted((one, other) => other.at - one.at)) {
    const place = at - ours.node.start;
    out = out.slice(0, place) + text + out.slice(place);
  }
  return out;
}

const textOfBase = (base: readonly Code[], index: number): string | undefined => {
  const code = base[index];
  return code === undefined ? undefined : textOf(code);
};

const lineStart = ({ src, node }: Code): number => src.lastIndexOf("\n", node.start - 1) + 1;
const lineEnd = ({ src, node }: Code): number => {
  const end = src.indexOf("\n", node.end);
  return end === -1 ? src.length : end;
};
const opensLine = (code: Code): boolean => code.src.slice(lineStart(code), code.node.start).trim() === "";
const closesLine = (code: Code): boolean =>
  code.src.slice(code.node.end, lineEnd(code)).replace(/^;/, "").trim() === "";

/** Where the comment lines right above begin, which travel with it. */
function commentStart(code: Code): number {
  let at = lineStart(code);
  while (at > 0) {
    const above = code.src.lastIndexOf("\n", at - 2) + 1;
    if (!/^\s*(\/\/|#|\*|\/\*)/.test(code.src.slice(above, at))) break;
    at = above;
  }
  return at;
}

function areIndependent(one: Code, other: Code): boolean {
  const [left, right] = [effectOf(one), effectOf(other)];
  if (left === undefined || right === undefined || left.sort !== right.sort) return false;
  return left.target !== right.target && !mentions(one, right.target) && !mentions(other, left.target);
}

interface Effect {
  readonly sort: string;
  /** The names it sets, or the option it registers. */
  readonly target: string;
}

/** Calls of a component that only ask for a place to keep something. */
const keepers =
  /^(React\.)?(useState|useRef|useId|useContext|useSelector|useDispatch|useRouter|useNavigate|useTranslation)\b/;

/** What a statement does, when that is one of the few things that have no order among themselves. */
function effectOf(statement: Code): Effect | undefined {
  const { type } = statement.node;
  if (type === "lexical_declaration") {
    const declarator = partsOf(statement).length === 1 ? childOf(statement, "variable_declarator") : undefined;
    const [name, value] = [declarator && fieldOf(declarator, "name"), declarator && fieldOf(declarator, "value")];
    if (name === undefined || value === undefined) return undefined;
    const kept = value.node.type === "call_expression" && keepers.test(textOf(value));
    return kept || isQuiet(value) ? { sort: kept ? "keep" : "declare", target: textOf(name) } : undefined;
  }
  const [expression] = type === "expression_statement" ? partsOf(statement) : [];
  if (expression === undefined) return undefined;
  if (/^assignment(_expression)?$/.test(expression.node.type)) {
    const [left, right] = [fieldOf(expression, "left"), fieldOf(expression, "right")];
    if (left === undefined || right === undefined || !/^(this|self)\.[\w$#]+$/.test(textOf(left))) return undefined;
    return isQuiet(right) ? { sort: "attribute", target: textOf(left) } : undefined;
  }
  return optionOf(expression);
}

/** `parser.add_argument("--name", ...)`: known by its name, which begins with a dash and so has no place. */
function optionOf(call: Code): Effect | undefined {
  const callee = call.node.type === "call" ? fieldOf(call, "function") : undefined;
  const list = fieldOf(call, "arguments");
  const [first, ...rest] = list === undefined ? [] : partsOf(list);
  if (callee === undefined || list === undefined || first?.node.type !== "string") return undefined;
  const isOption = /^\w+\.add_argument$/.test(textOf(callee)) && /^["']--[\w-]+["']$/.test(textOf(first));
  const plain = rest.every((argument) => argument.node.type === "keyword_argument");
  const taken = textOf(list).includes("dest=");
  return isOption && plain && !taken
    ? { sort: `option of ${textOf(callee)}`, target: textOf(first).slice(1, -1) }
    : undefined;
}

function mentions(code: Code, target: string): boolean {
  const words = new Set(textOf(code).match(/[\w$-]+/g) ?? []);
  return (target.match(/[\w$-]+/g) ?? []).some((word) => !/^(this|self)$/.test(word) && words.has(word));
}
