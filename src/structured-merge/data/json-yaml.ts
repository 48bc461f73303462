import { hasConflictMarkers, unconserved } from "../lines/conserved-lines.ts";
import { mergeNearLines } from "../lines/merge-lines.ts";
import { attempt, type MergeOutcome, merged, refused, type Texts, Unsure, unsure } from "../outcome.ts";
import { parseYaml } from "../parsers/yaml-tree.ts";
import { type Document, meaning, print, printDocument } from "./document-tree.ts";
import { parseJson } from "./json-text.ts";
import { type Habits, mergeTrees } from "./merge-tree.ts";
import { mergeValues, type Path, spelled } from "./merge-values.ts";
import { canon, sameValue, type Value } from "./value.ts";

/** Merges JSON, with comments or without, key by key. */
export function mergeJson(texts: Texts, path: string): MergeOutcome {
  const ordered = (inside: Path): boolean => isMatched(inside) || (isPackage(path) && isConditional(inside));
  const outcome = mergeDocuments(texts, { ...format, ordered });
  if (outcome.kind === "refused" || !isPackage(path)) return outcome;
  return attempt(() => {
    checkHomes(texts, outcome.content);
    return outcome;
  });
}

const format: TreeFormat = {
  parse: parseJson,
  reindent: shifted,
  ties: [],
  ordered: () => false,
};

const isPackage = (path: string): boolean => /(^|\/)package\.json$/.test(path);

/** The first condition that fits is taken. */
const isConditional = ([first]: Path): boolean => first === "exports" || first === "imports";

/** Maps of patterns, of which the first that matches counts. */
const isMatched = (inside: Path): boolean => inside.at(-1) === "moduleNameMapper" || inside.at(-1) === "transform";

/** Strings of JSON have no line breaks, so every line may be moved; only block comments make it unclear. */
function shifted(text: string, from: string, to: string): string | undefined {
  if (text.includes("/*")) return undefined;
  const [first = "", ...rest] = text.split("\n");
  if (rest.some((line) => line.trim() !== "" && !line.startsWith(from))) return undefined;
  const extra = (line: string): string => /^[ \t]*/.exec(line.slice(from.length))?.[0] ?? "";
  const step = Math.min(...rest.map((line) => extra(line).length).filter((length) => length > 0));
  const unit = unitFor({ step, from, to });
  const moved = (line: string): string => {
    const levels = extra(line).length / step;
    const inner = unit === undefined || !Number.isInteger(levels) ? extra(line) : unit.repeat(levels);
    return `${to}${extra(line) === "" ? "" : inner}${line.trimStart()}`;
  };
  return [first, ...rest.map((line) => (line.trim() === "" ? line : moved(line)))].join("\n");
}

/** One level of indentation as ours writes it; undefined when that cannot be told, and theirs is kept. */
function unitFor({ step, from, to }: { step: number; from: string; to: string }): string | undefined {
  if (to.startsWith("\t")) return "\t";
  const width = (step * to.length) / from.length;
  return Number.isInteger(width) ? " ".repeat(width) : undefined;
}

/** Gives up when a package would be needed in two ways that no version alone has, as for running and for developing. */
function checkHomes({ base, ours, theirs }: Texts, content: string): void {
  const known = [base, ours, theirs].map(homesOf);
  for (const [name, homes] of homesOf(content)) {
    if (homes.includes(" ") && !known.some((version) => version.get(name) === homes)) {
      unsure(`${name} would be needed in more than one way: ${homes}`);
    }
  }
}

/** The maps of a manifest each package stands in. */
function homesOf(text: string): ReadonlyMap<string, string> {
  const root = meaning(parseJson(text).root);
  const found = new Map<string, string>();
  for (const home of ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"]) {
    const map = root.kind === "map" ? root.entries.get(home) : undefined;
    const names = map?.kind === "map" ? map.entries.keys() : [];
    for (const name of names) found.set(name, found.has(name) ? `${found.get(name)} ${home}` : home);
  }
  return found;
}

/** Merges YAML key by key. Indentation carries meaning there, so text is never moved to another depth. */
export function mergeYaml(texts: Texts): MergeOutcome {
  const format = { parse: parseYaml, reindent: () => undefined, ordered: () => false };
  return mergeDocuments(texts, { ...format, ties: ["anchor", "alias"] });
}

/** A format of trees: how to read it, and the rules for writing it. `parse` gives up on a text that it cannot read. */
interface TreeFormat extends Habits {
  readonly parse: (text: string) => Document;
}

/**
 * Merges three versions of a data file. The merged value is decided first; the text is then made by lines or, where
 * lines collide, by tree. A text counts only if it reads as exactly that value and keeps every comment both sides want.
 */
function mergeDocuments({ base, ours, theirs }: Texts, format: TreeFormat): MergeOutcome {
  return attempt(() => {
    const documents = { base: read(base, format), ours: read(ours, format), theirs: read(theirs, format) };
    const [b, o, t] = [meaning(documents.base.root), meaning(documents.ours.root), meaning(documents.theirs.root)];
    const wanted = mergeValues(b, o, t);
    checkMoves({ base: b, ours: o, theirs: t });
    checkOrder({ base: b, ours: o, theirs: t }, format.ordered);
    checkDangling({ base: b, ours: o, theirs: t });
    if (wanted === undefined) return refused("nothing would be left of the file");
    const check = (text: string): string | undefined => fault(text, { wanted, format, ...documents });
    const lines = mergeNearLines(base, ours, theirs);
    if (lines.kind === "merged" && check(lines.text) === undefined) return merged(lines.text);
    const tried = attempt(() => checked(byTree(documents, format), check));
    if (tried.kind === "merged") return tried;
    // A side that put things in another order can only be the one the other's changes are written into.
    const exchanged = { base: documents.base, ours: documents.theirs, theirs: documents.ours };
    const second = attempt(() => checked(byTree(exchanged, format), check));
    return second.kind === "merged" ? second : tried;
  });
}

function checked(text: string, check: (text: string) => string | undefined): MergeOutcome {
  const problem = check(text);
  return problem === undefined ? merged(text) : refused(problem);
}

interface Documents {
  readonly base: Document;
  readonly ours: Document;
  readonly theirs: Document;
}

/** A parser that cannot give the text back exactly has misunderstood it. */
function read(text: string, format: TreeFormat): Document {
  const document = format.parse(text);
  return printDocument(document) === text ? document : unsure("the file cannot be taken apart without changing it");
}

function byTree({ base, ours, theirs }: Documents, format: TreeFormat): string {
  const ties = sameAnchors([base, ours, theirs]) ? format.ties.filter((tie) => tie !== "alias") : format.ties;
  const root = mergeTrees({ base: base.root, ours: ours.root, theirs: theirs.root }, { ...format, ties });
  const around = (b: string, o: string, t: string): string => (o === b ? t : o);
  return `${around(base.before, ours.before, theirs.before)}${print(root)}${around(base.after, ours.after, theirs.after)}`;
}

/** An alias means the same everywhere when all versions agree on what every anchor stands for. */
function sameAnchors(documents: readonly Document[]): boolean {
  const told = documents.map(({ anchors }) =>
    anchors === undefined ? undefined : JSON.stringify([...anchors].sort()),
  );
  return told[0] !== undefined && told.every((one) => one === told[0]);
}

interface Expectation extends Documents {
  readonly wanted: Value;
  readonly format: TreeFormat;
}

function fault(text: string, { wanted, format, base, ours, theirs }: Expectation): string | undefined {
  if (hasConflictMarkers(text)) return "the result would look like a conflict";
  const document = readable(text, format);
  if (document === undefined || !sameValue(meaning(document.root), wanted)) {
    return "the merged text would not say what both sides want";
  }
  if (document.anchors === undefined && ours.anchors !== undefined && theirs.anchors !== undefined) {
    return "both sides gave one name to different things";
  }
  const lost = unconserved({
    base: base.comments,
    ours: ours.comments,
    theirs: theirs.comments,
    result: document.comments,
  });
  return lost === undefined ? undefined : `the comment "${lost}" would be lost, repeated or brought back`;
}

function readable(text: string, format: TreeFormat): Document | undefined {
  try {
    return format.parse(text);
  } catch (thrown) {
    if (thrown instanceof Unsure) return undefined;
    throw thrown;
  }
}

/** Gives up where the order of keys has a meaning and one side changed it while the other changed anything there. */
function checkOrder(
  { base, ours, theirs }: { base: Value; ours: Value; theirs: Value },
  ordered: (path: Path) => boolean,
  path: Path = [],
): void {
  if (base.kind !== "map" || ours.kind !== "map" || theirs.kind !== "map") return;
  if (ordered(path)) {
    const clash = (mover: MapValue, other: MapValue): boolean =>
      isReordered(base, mover) && (!sameValue(base, other) || isReordered(base, other));
    const alike = [...ours.entries.keys()].join("\n") === [...theirs.entries.keys()].join("\n");
    if (!alike && (clash(ours, theirs) || clash(theirs, ours))) unsure(`${spelled(path)} was put in another order`);
  }
  for (const [key, value] of base.entries) {
    const [mine, other] = [ours.entries.get(key), theirs.entries.get(key)];
    if (mine !== undefined && other !== undefined)
      checkOrder({ base: value, ours: mine, theirs: other }, ordered, [...path, key]);
  }
}

type MapValue = Extract<Value, { kind: "map" }>;

function isReordered(base: MapValue, side: MapValue): boolean {
  const kept = [...base.entries.keys()].filter((key) => side.entries.has(key));
  const now = [...side.entries.keys()].filter((key) => base.entries.has(key));
  return kept.join("\n") !== now.join("\n");
}

/**
 * Gives up when something both sides removed turns up elsewhere on a side: that side moved it, and the other moved it to
 * another place or wanted it gone.
 */
function checkMoves({ base, ours, theirs }: { base: Value; ours: Value; theirs: Value }): void {
  const removed: Found[] = [];
  difference(base, [ours, theirs], [], (found) => removed.push(found));
  if (removed.length === 0) return;
  const signs = new Map(removed.map((found) => [signOf(found), found.path]));
  for (const [side, other] of [
    [ours, theirs],
    [theirs, ours],
  ] as const) {
    difference(side, [base, other], [], (found) => {
      const from = signs.get(signOf(found));
      if (from !== undefined) unsure(`both sides took ${spelled(from)} away, and one put it at ${spelled(found.path)}`);
    });
  }
}

interface Found {
  readonly path: Path;
  readonly value: Value;
}

/** The keys that are in `here` and in none of `absent`, at the highest place where that is so, and below it. */
function difference(
  here: Value,
  absent: readonly (Value | undefined)[],
  path: Path,
  report: (found: Found) => void,
): void {
  if (here.kind !== "map") return;
  for (const [key, inner] of here.entries) {
    const others = absent.map((other) => (other?.kind === "map" ? other.entries.get(key) : undefined));
    if (others.every((other) => other === undefined)) report({ path: [...path, key], value: inner });
    difference(inner, others, [...path, key], report);
  }
}

/** Small values are everywhere; only with their key do they say that the same thing was meant. */
const signOf = ({ path, value }: Found): string =>
  value.kind === "scalar" ? `${path.at(-1) ?? ""}=${canon(value)}` : canon(value);

/**
 * Gives up when one side removed or renamed a key, or took a word off a list, while the other side has just begun to name
 * it: a job that a new job waits for, a schema that a new path refers to, a script that a new script runs.
 */
function checkDangling({ base, ours, theirs }: { base: Value; ours: Value; theirs: Value }): void {
  dangles({ base, remover: ours, namer: theirs });
  dangles({ base, remover: theirs, namer: ours });
}

interface Roles {
  readonly base: Value;
  readonly remover: Value;
  readonly namer: Value;
}

function dangles({ base, remover, namer }: Roles): void {
  const removed: Removed[] = [];
  collectRemoved(base, remover, [], removed);
  if (removed.length === 0) return;
  const fresh: string[] = [];
  collectFresh(namer, base, fresh);
  for (const { name, path, whole } of removed) {
    if (fresh.some((text) => (whole ? text === name : mentions(text, name)))) {
      unsure(`${spelled(path)} was removed or renamed on one side and is newly named on the other`);
    }
  }
}

interface Removed {
  readonly name: string;
  readonly path: Path;
  /** Only a text that is nothing else names it. */
  readonly whole: boolean;
}

function collectRemoved(was: Value, is: Value | undefined, path: Path, found: Removed[]): void {
  if (was.kind === "map" && is?.kind === "map") {
    for (const [key, value] of was.entries) {
      const here = [...path, key];
      if (is.entries.has(key)) collectRemoved(value, is.entries.get(key), here, found);
      else found.push({ name: key, path: here, whole: false });
    }
  }
  if (was.kind !== "list" || is?.kind !== "list") return;
  const known = new Set(is.items.flatMap(nameOf));
  for (const name of was.items.flatMap(nameOf)) if (!known.has(name)) found.push({ name, path, whole: false });
  const left = new Set(is.items.flatMap(wordOf));
  for (const name of was.items.flatMap(wordOf)) if (!left.has(name)) found.push({ name, path, whole: true });
}

/** The id by which other places speak of an item. */
function nameOf(item: Value): readonly string[] {
  const id = item.kind === "map" ? (item.entries.get("id") ?? item.entries.get("name")) : undefined;
  return id === undefined ? [] : wordOf(id);
}

/** A scalar that could be a name. */
function wordOf(value: Value): readonly string[] {
  const text = value.kind === "scalar" ? value.is.slice(2) : "";
  return /^[A-Za-z_][\w.-]+$/.test(text) && !/^(true|false|null|yes|no|on|off)$/.test(text) ? [text] : [];
}

/** The scalars a side has where the base has another value or none. */
function collectFresh(is: Value, was: Value | undefined, found: string[]): void {
  if (is.kind === "scalar") {
    if (was?.kind !== "scalar" || was.is !== is.is) found.push(is.is.slice(2));
  } else if (is.kind === "map") {
    for (const [key, value] of is.entries)
      collectFresh(value, was?.kind === "map" ? was.entries.get(key) : undefined, found);
  } else {
    const known = new Set(was?.kind === "list" ? was.items.flatMap(wordOf) : []);
    for (const item of is.items)
      if (!wordOf(item).some((word) => known.has(word))) collectFresh(item, undefined, found);
  }
}

/** The whole text, a step of a path in it, or what a package manager is told to run. */
function mentions(text: string, name: string): boolean {
  if (name.length < 2 || !text.includes(name)) return false;
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(^|[/.#:]|\\b(run|npm|yarn|pnpm|bun)\\s+)${literal}($|[^\\w-])`).test(text);
}
