import { matches } from "../lines/align.ts";
import { isQuiet } from "./purity.ts";
import { type Code, childOf, eachOf, fieldOf, partsOf, type Triple, textOf } from "./syntax.ts";

/**
 * Merges a sequence of statements to which both sides only added, where what they added has no order: each sets
 * another attribute, or declares another constant, or registers another option. Undefined where that cannot be shown.
 */
export function mergeInsertions(versions: Triple<Code>): string | undefined {
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
