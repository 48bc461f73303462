import { alignThree, type Chunk } from "../lines/align.ts";
import { unsure } from "../outcome.ts";
import {
  type Branch,
  isSpecial,
  meaning,
  type Node,
  type Part,
  print,
  remarks,
  type Special,
} from "./document-tree.ts";
import { dictionaries, type Path, spelled } from "./merge-values.ts";
import { areResources, canon, counterparts, identityOf, sameValue } from "./value.ts";

/**
 * Ours with the changes of theirs written into it. Untouched text keeps every byte. Where both sides changed the same
 * thing it gives up; comments are checked afterwards, by the caller, over the whole file.
 */
export function mergeTrees(three: Three<Node>, habits: Habits): Node {
  return mergeNodes(three, [], habits);
}

/** Three versions of one thing; the base is absent where both sides added it. */
interface Three<T> {
  readonly base: T | undefined;
  readonly ours: T;
  readonly theirs: T;
}

interface Branches {
  readonly base: Branch;
  readonly ours: Branch;
  readonly theirs: Branch;
}

function mergeNodes(three: Three<Node>, path: Path, habits: Habits): Node {
  const { base, ours, theirs } = three;
  const [textB, textO, textT] = [base, ours, theirs].map((node) => (node === undefined ? undefined : print(node)));
  if (textO === textT || textB === textT) return ours;
  if (textB === textO) return theirs;
  const [b, o, t] = [base && meaning(base), meaning(ours), meaning(theirs)];
  const quiet = (a: Node | undefined, z: Node): boolean => a !== undefined && remarks(a) === remarks(z);
  const branches = [base, ours, theirs].every((node) => node !== undefined && node.kind !== "scalar");
  if (sameValue(o, t) && (!branches || quiet(ours, theirs))) return ours;
  if (sameValue(b, t) && (!branches || quiet(base, theirs))) return ours;
  if (sameValue(b, o) && (!branches || quiet(base, ours))) return theirs;
  const both = `both sides ${base === undefined ? "added" : "changed"} ${spelled(path)}`;
  if (ours.kind === "scalar" || theirs.kind === "scalar" || base?.kind === "scalar") return unsure(both);
  if (base === undefined && !dictionaries.has(path.at(-1) ?? "")) return unsure(both);
  const before = base ?? { ...ours, parts: [] };
  if (ours.kind !== theirs.kind || before.kind !== ours.kind) return unsure(both);
  if ([before, ours, theirs].some((node) => node.special !== undefined)) {
    return unsure(`both sides changed what the anchor or tag at ${spelled(path)} stands for`);
  }
  return mergeBranches({ base: before, ours, theirs }, path, habits);
}

function mergeBranches(sides: Branches, path: Path, habits: Habits): Branch {
  const { base, ours, theirs } = sides;
  if (ours.style !== theirs.style) unsure(`${spelled(path)} is written in two styles`);
  for (const part of [...ours.parts, ...theirs.parts]) {
    if (part.after !== "") unsure(`the commas of ${spelled(path)} are not at the end of their lines`);
  }
  const [b, o, t] = [uniform(base), uniform(ours), uniform(theirs)];
  const merge = ours.kind === "map" ? mergeMapParts : mergeListParts;
  const parts = merge({ base: b.branch, ours: o.branch, theirs: t.branch }, path, habits);
  if (ours.parts.length === 0) return { ...theirs, parts: opened(parts, theirs, t.opening) };
  const opening =
    o.opening === undefined
      ? undefined
      : surroundings({ base: b.opening ?? o.opening, ours: o.opening, theirs: t.opening ?? o.opening });
  return {
    ...ours,
    parts: opened(parts, ours, opening),
    close: surroundings({ base: base.close, ours: ours.close, theirs: theirs.close }),
    trailingComma: parts.length > 0 && ours.trailingComma === true,
  };
}

/** Gives the first part the text its place wants. A comment there may belong to the part that used to be first. */
function opened(parts: readonly Part[], from: Branch, opening: string | undefined): readonly Part[] {
  const [first, ...rest] = parts;
  const [before] = from.parts;
  if (first === undefined || before === undefined || opening === undefined) return parts;
  const [now, then] = [meaning(first.value), meaning(before.value)];
  const same =
    from.kind === "map" ? first.key === before.key : identityOf(now) === identityOf(then) && sameValue(now, then);
  if (!same && hasComment(opening)) unsure("a comment stands before what is no longer first");
  if (hasComment(first.lead)) unsure("a comment stands before what is now first");
  return [{ ...first, lead: opening }, ...rest];
}

/** One part all three have. */
function mergePart(three: { base: Part; ours: Part; theirs: Part }, path: Path, habits: Habits): Part {
  const { base, ours, theirs } = three;
  const value = mergeNodes({ base: base.value, ours: ours.value, theirs: theirs.value }, path, habits);
  const kept = {
    ...ours,
    lead: surroundings({ base: base.lead, ours: ours.lead, theirs: theirs.lead }),
    trail: surroundings({ base: base.trail, ours: ours.trail, theirs: theirs.trail }),
  };
  if (print(ours.value) !== print(base.value) || print(theirs.value) !== print(base.value)) {
    const decidedWhole = value === ours.value || value === theirs.value;
    if (decidedWhole) untied(path, habits, base.value, ours.value, theirs.value);
  }
  if (value !== theirs.value || value === ours.value) return { ...kept, value };
  return { ...kept, ...moved({ part: theirs, to: ours, habits, path }) };
}

/** Comments and whitespace around a part: ours, unless only theirs said something else in its comments. */
function surroundings({ base, ours, theirs }: { base: string; ours: string; theirs: string }): string {
  const words = (text: string): string => text.replace(/\s+/g, " ").trim();
  if (words(ours) !== words(base) || words(theirs) === words(base)) return ours;
  return indentOf(theirs) === indentOf(ours) ? theirs : unsure("a comment is indented differently on the two sides");
}

/** The items of a list, which have an order: edits of the two sides must have an unchanged item between them. */
function mergeListParts(sides: Branches, path: Path, habits: Habits): readonly Part[] {
  const lists = { base: sides.base.parts, ours: sides.ours.parts, theirs: sides.theirs.parts };
  let index = 0;
  return alignThree(lists, keyOf).flatMap((chunk) => {
    const parts = settled({ chunk, sides, path, habits, index });
    index += chunk.base.length;
    return parts;
  });
}

const keyOf = (part: Part): string => canon(meaning(part.value));

interface Place {
  readonly chunk: Chunk<Part>;
  readonly sides: Branches;
  readonly path: Path;
  readonly habits: Habits;
  /** Of the chunk's first item in the base. */
  readonly index: number;
}

function settled({ chunk, sides, path, habits, index }: Place): readonly Part[] {
  const { base, ours, theirs } = chunk;
  const [b, o, t] = [base, ours, theirs].map((parts) => parts.map(keyOf).join("\n"));
  const pairs = chunk.stable ? base.map((_, at) => ({ base: at, ours: at, theirs: at })) : counterpartsOf(chunk);
  const here = [...path, `[${index}]`];
  if (pairs !== undefined) {
    return pairs.flatMap((pair) => {
      const [part, mine, other] = [base[pair.base], ours[pair.ours], theirs[pair.theirs]];
      if (part !== undefined && mine !== undefined && other !== undefined) {
        return [mergePart({ base: part, ours: mine, theirs: other }, [...path, `[${index + pair.base}]`], habits)];
      }
      untied(here, habits, part?.value, mine?.value, other?.value);
      // Gone on one side at least; that the other left it alone is decided on values.
      if (part !== undefined) return [];
      if (other !== undefined) return [adopted({ part: other, into: sides.ours, path: here, habits })];
      return mine ?? [];
    });
  }
  untied(here, habits, ...[...base, ...ours, ...theirs].map(({ value }) => value));
  const fresh = [...ours, ...theirs].map(({ value }) => meaning(value));
  const bothAdded = base.length === 0 && ours.length > 0 && theirs.length > 0 && o !== t;
  if (bothAdded && path.length === 0 && areResources(fresh)) {
    return [...ours, ...theirs.map((part) => adopted({ part, into: sides.ours, path: here, habits }))];
  }
  if (o === t || b === t) return ours;
  if (b !== o) return unsure(`both sides changed the same place of the list ${spelled(path)}`);
  return theirs.map((part) => adopted({ part, into: sides.ours, path: here, habits }));
}

/** Items known by id, key or name, none of them new: each can be merged with its counterparts. */
function counterpartsOf({ base, ours, theirs }: Chunk<Part>): ReturnType<typeof counterparts> {
  const values = (parts: readonly Part[]) => parts.map((part) => meaning(part.value));
  return counterparts(values(base), values(ours), values(theirs));
}

/** The entries of a map by key: ours in their order, with what theirs added, changed and deleted. */
function mergeMapParts(sides: Branches, path: Path, habits: Habits): readonly Part[] {
  const [inBase, inOurs, inTheirs] = [byKey(sides.base), byKey(sides.ours), byKey(sides.theirs)];
  const kept = (part: Part): boolean => inBase.has(part.key ?? "") && inTheirs.has(part.key ?? "");
  if (orderOf(sides.base.parts.filter(kept)) !== orderOf(sides.theirs.parts.filter(kept))) {
    unsure(`the other side put the entries of ${spelled(path)} in another order`);
  }
  const parts: Part[] = [];
  for (const ours of sides.ours.parts) {
    const key = ours.key ?? "";
    const here = [...path, key];
    const base = inBase.get(key);
    const theirs = inTheirs.get(key);
    if (theirs !== undefined && base !== undefined) parts.push(mergePart({ base, ours, theirs }, here, habits));
    else if (theirs !== undefined) {
      const value = mergeNodes({ base: undefined, ours: ours.value, theirs: theirs.value }, here, habits);
      parts.push({ ...ours, value });
    } else if (base === undefined) parts.push(ours);
    else gone({ base, kept: ours, path: here, habits });
  }
  for (const theirs of sides.theirs.parts) {
    const key = theirs.key ?? "";
    const base = inBase.get(key);
    if (inOurs.has(key)) continue;
    if (base !== undefined) gone({ base, kept: theirs, path: [...path, key], habits });
    else insert({ parts, theirs, sides, path, habits });
  }
  return parts;
}

const byKey = ({ parts }: Branch): ReadonlyMap<string, Part> => new Map(parts.map((part) => [part.key ?? "", part]));

const orderOf = (parts: readonly Part[]): string => JSON.stringify(parts.map(({ key }) => key));

/** A deletion holds only for what the other side left as it was. */
function gone({ base, kept, path, habits }: { base: Part; kept: Part; path: Path; habits: Habits }): void {
  if (!sameValue(meaning(base.value), meaning(kept.value))) {
    unsure(`one side deleted ${spelled(path)}, the other changed it`);
  }
  untied(path, habits, base.value);
}

interface Insertion {
  /** Grows by the new entry. */
  readonly parts: Part[];
  readonly theirs: Part;
  readonly sides: Branches;
  readonly path: Path;
  readonly habits: Habits;
}

function insert({ parts, theirs, sides, path, habits }: Insertion): void {
  const here = [...path, theirs.key ?? ""];
  untied(here, habits, theirs.value);
  const part = adopted({ part: theirs, into: sides.ours, path: here, habits });
  const order = sortingOf(sides);
  if (order !== undefined) {
    const place = parts.findIndex((other) => order(other.key ?? "", part.key ?? "") > 0);
    parts.splice(place < 0 ? parts.length : place, 0, part);
    return;
  }
  const anchor = precedingShared(theirs, sides.theirs, parts);
  const known = new Set([...sides.base.parts, ...sides.theirs.parts].map(({ key }) => key));
  let place = anchor + 1;
  while (place < parts.length && !known.has(parts[place]?.key)) {
    if (habits.ordered(path)) unsure(`both sides added to ${spelled(path)}, where order matters`);
    place++;
  }
  parts.splice(place, 0, part);
}

/** The place of the nearest entry before it in theirs that the result has too; -1 when there is none. */
function precedingShared(part: Part, { parts: siblings }: Branch, parts: readonly Part[]): number {
  for (let at = siblings.indexOf(part) - 1; at >= 0; at--) {
    const place = parts.findIndex(({ key }) => key === siblings[at]?.key);
    if (place >= 0) return place;
  }
  return -1;
}

type Order = (a: string, b: string) => number;

const byUnit: Order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const byLetter: Order = (a, b) => byUnit(a.toLowerCase(), b.toLowerCase());

/** The order in which all three versions keep their keys, if there is one. */
function sortingOf({ base, ours, theirs }: Branches): Order | undefined {
  if (base.parts.length < 2) return undefined;
  return [byUnit, byLetter].find((order) =>
    [base, ours, theirs].every(({ parts }) =>
      parts.every((part, at) => at === 0 || order(parts[at - 1]?.key ?? "", part.key ?? "") < 0),
    ),
  );
}

/** What differs between formats. */
export interface Habits {
  /** How a text of theirs is made to fit ours when the indentation differs; undefined when it cannot be. */
  readonly reindent: (text: string, from: string, to: string) => string | undefined;
  /** Ways of being tied to other places that keep a part from being moved. */
  readonly ties: readonly Special[];
  /** Maps in which the order of keys has a meaning. */
  readonly ordered: (path: Path) => boolean;
}

/** Whether text around parts, which is otherwise blank, says anything. */
const hasComment = (text: string): boolean => text.trim() !== "";

/** The indentation of a part's line; undefined for a part in the middle of a line. */
function indentOf(lead: string): string | undefined {
  const start = lead.lastIndexOf("\n");
  return start < 0 ? undefined : lead.slice(start + 1);
}

/**
 * A branch whose first part starts like the others. What stood before the first is the `opening`: it belongs to the
 * place (the start of the file, a dash, a bracket on the same line), not to the part.
 */
function uniform(branch: Branch): { readonly branch: Branch; readonly opening?: string } {
  const [first, ...rest] = branch.parts;
  if (first === undefined || first.lead.startsWith("\n")) return { branch };
  const indent = indentAmong(branch);
  const lead = indent === undefined ? (rest[0]?.lead ?? " ") : `\n${indent}`;
  return { branch: { ...branch, parts: [{ ...first, lead }, ...rest] }, opening: first.lead };
}

/** A part of theirs, written so that it can stand among the parts of ours. */
function adopted(adoption: { part: Part; into: Branch; path: Path; habits: Habits }): Part {
  const { part, into, path, habits } = adoption;
  if (into.parts.length === 0) return part;
  const sibling = into.parts.findLast(({ lead }) => indentOf(lead) !== undefined) ?? into.parts.at(-1);
  return { ...part, lead: leadAmong(part, into), ...moved({ part, to: sibling, habits, path }) };
}

/** Head and value of a part of theirs, written the way its place among ours wants it. */
function moved(move: { part: Part; to: Part | undefined; habits: Habits; path: Path }): Pick<Part, "head" | "value"> {
  const { part, to, habits, path } = move;
  const text = print(part.value);
  const from = indentOf(part.lead);
  const into = to === undefined ? undefined : indentOf(to.lead);
  if (!text.includes("\n") || into === undefined || from === undefined || from === into) {
    return { head: part.head, value: part.value };
  }
  const fitted = habits.reindent(text, from, into);
  if (fitted === undefined) return unsure(`${spelled(path)} is indented differently on the two sides`);
  return { head: part.head, value: { kind: "scalar", text: fitted, value: meaning(part.value) } };
}

/** Gives up where a change involves anchors, aliases or tags: their meaning is decided at another place of the file. */
function untied(path: Path, { ties }: Habits, ...nodes: readonly (Node | undefined)[]): void {
  if (nodes.some((node) => node !== undefined && isSpecial(node, ties))) {
    unsure(`an anchor, alias or tag is involved in the change of ${spelled(path)}`);
  }
}

function leadAmong(part: Part, into: Branch): string {
  const indent = indentAmong(into);
  if (indent === undefined) {
    if (hasComment(part.lead) || hasComment(part.trail)) unsure("a comment cannot be put into a shared line");
    return into.parts[1]?.lead ?? " ";
  }
  if (hasComment(part.lead)) {
    if (!part.lead.startsWith("\n") || indentOf(part.lead) !== indent) unsure("a comment is indented differently");
    return part.lead;
  }
  const own = part.lead.lastIndexOf("\n");
  return own < 0 ? `\n${indent}` : `${part.lead.slice(0, own + 1)}${indent}`;
}

/** The indentation parts have on lines of their own; undefined when they share a line. */
function indentAmong({ parts, style, column }: Branch): string | undefined {
  if (style === "block") return " ".repeat(column ?? 0);
  const found = parts.findLast((part, at) => (at > 0 || parts.length === 1) && indentOf(part.lead) !== undefined);
  return found === undefined ? undefined : indentOf(found.lead);
}
