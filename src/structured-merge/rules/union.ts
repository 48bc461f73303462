import { meaning } from "../data/document-tree.ts";
import { parseJson } from "../data/json-text.ts";
import { mergeMarkdown } from "../data/markdown.ts";
import { canon, type Value } from "../data/value.ts";
import { formatOf } from "../file-format.ts";
import { alignThree, type Chunk } from "../lines/align.ts";
import { unconserved } from "../lines/conserved-lines.ts";
import { mergeNearLines } from "../lines/merge-lines.ts";
import { attempt, type MergeOutcome, merged, refused, type Texts, unsure } from "../outcome.ts";
import { type Answer, escalate, isEmptied, plainOf, resolved, skip, type Versions } from "../versions.ts";

/** Merges a file to which both sides add, by the git attribute or by its kind. */
export function mergeByUnion(versions: Versions): Answer {
  const merge = mergerFor(versions);
  if (merge === undefined) return skip;
  if (isEmptied(versions)) return escalate("one side emptied the file, the other changed it");
  const plain = plainOf(versions);
  if (plain === undefined) return escalate("the line ends of the file are mixed");
  const outcome = merge(plain);
  return outcome.kind === "merged" ? resolved("union", plain.restore(outcome.content)) : escalate(outcome.reason);
}

function mergerFor({ path, base, union }: Versions): ((texts: Texts) => MergeOutcome) | undefined {
  const format = formatOf(path);
  if (format === "jsonl") return mergeJsonl;
  if (format === "line-set") return mergeLineSet;
  if (union === true) return mergeUnion;
  if (base === null) return undefined;
  if (format === "changelog") return (texts) => mergeMarkdown(texts, { changelog: true });
  if (format === "ignore-list") return mergeIgnoreList;
  return undefined;
}

/** Where both sides changed a place, ours and then what theirs has besides. A deletion beside a change is no union. */
function mergeUnion(texts: Texts): MergeOutcome {
  return attempt(() => merged(woven(texts, () => undefined)));
}

/** Patterns have no order among themselves, as long as none of them takes another back. */
function mergeIgnoreList(texts: Texts): MergeOutcome {
  return attempt(() => {
    const negated = [texts.base, texts.ours, texts.theirs].some((text) => /^!/m.test(text));
    const content = woven(texts, ({ base }) => {
      if (base.length > 0) unsure("both sides changed the same patterns");
      if (negated) unsure("the order of patterns matters where one is negated");
    });
    return merged(content);
  });
}

function woven({ base, ours, theirs }: Texts, check: (chunk: Chunk<string>) => void): string {
  const sides = { base: lines(base), ours: lines(ours), theirs: lines(theirs) };
  const result = alignThree(sides, (line) => line).flatMap((chunk) => {
    const [b, o, t] = [chunk.base.join("\n"), chunk.ours.join("\n"), chunk.theirs.join("\n")];
    const same = (x: readonly string[], y: readonly string[]): boolean => x.length === y.length;
    if (chunk.stable || (o === t && same(chunk.ours, chunk.theirs)) || (b === t && same(chunk.base, chunk.theirs))) {
      return chunk.ours;
    }
    if (b === o && same(chunk.base, chunk.ours)) return chunk.theirs;
    if (chunk.ours.length === 0 || chunk.theirs.length === 0) unsure("one side deleted lines the other changed");
    check(chunk);
    const known = new Set(chunk.ours);
    return [...chunk.ours, ...chunk.theirs.filter((line) => line.trim() === "" || !known.has(line))];
  });
  return result.map((line) => `${line}\n`).join("");
}

const lines = (text: string): readonly string[] => (text === "" ? [] : text.slice(0, -1).split("\n"));

/**
 * Merges a file whose lines are a set, as `go.sum`: what both have, and what each added or removed. The first two words of
 * a line are its key: one key with two values is left to a person.
 */
function mergeLineSet({ base, ours, theirs }: Texts): MergeOutcome {
  const [b = [], o = [], t = []] = [base, ours, theirs].map((text) => text.split("\n").filter((line) => line !== ""));
  if ([b, o, t].some((lines) => new Set(lines).size !== lines.length)) return refused("a line stands twice");
  const [inBase, inOurs, inTheirs] = [new Set(b), new Set(o), new Set(t)];
  const kept = o.filter((line) => inTheirs.has(line) || !inBase.has(line));
  const result = [...kept, ...t.filter((line) => !inOurs.has(line) && !inBase.has(line))];
  const keys = result.map((line) => line.split(/\s+/, 2).join(" "));
  if (new Set(keys).size !== keys.length) return refused("both sides have another value for one key");
  const sorted = (lines: readonly string[]): boolean => lines.join("\n") === lines.toSorted().join("\n");
  const ordered = [b, o, t].every(sorted) ? result.toSorted() : result;
  return merged(ordered.map((line) => `${line}\n`).join(""));
}

/** One line of a JSONL file. */
interface Row {
  readonly text: string;
  readonly value: Value;
  readonly id: string | undefined;
}

/**
 * Merges files of one JSON value per line. Rows with an id are merged by it; rows without can only have been appended.
 * The result has everything both sides have; the same id with different contents is left to a person.
 */
function mergeJsonl(texts: Texts): MergeOutcome {
  return attempt(() => {
    const sides = { base: rows(texts.base), ours: rows(texts.ours), theirs: rows(texts.theirs) };
    const keyed = [sides.base, sides.ours, sides.theirs].every(hasOwnIds);
    const content = keyed ? byId(sides) : appended(sides, texts);
    for (const line of content.split("\n")) if (line.trim() !== "") parseJson(line);
    return merged(content);
  });
}

interface Sides {
  readonly base: readonly Row[];
  readonly ours: readonly Row[];
  readonly theirs: readonly Row[];
}

function rows(text: string): readonly Row[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => {
    const { root, comments } = parseJson(line);
    if (comments.length > 0) unsure("a JSONL line has a comment");
    const value = meaning(root);
    const id = value.kind === "map" ? value.entries.get("id") : undefined;
    return { text: line, value, id: id?.kind === "scalar" ? id.is : undefined };
  });
}

const hasOwnIds = (list: readonly Row[]): boolean =>
  list.every(({ id }) => id !== undefined) && new Set(list.map(({ id }) => id)).size === list.length;

function byId({ base, ours, theirs }: Sides): string {
  const [inBase, inOurs, inTheirs] = [indexed(base), indexed(ours), indexed(theirs)];
  const shared = (list: readonly Row[]): string =>
    list.flatMap(({ id }) => (inBase.has(id) && inTheirs.has(id) ? [id] : [])).join("\n");
  if (shared(base) !== shared(theirs)) return unsure("the other side put the rows in another order");
  const result: Row[] = [];
  for (const row of ours) {
    const kept = settled({ base: inBase.get(row.id), ours: row, theirs: inTheirs.get(row.id) });
    if (kept !== undefined) result.push(kept);
  }
  theirs.forEach((row, at) => {
    if (inOurs.has(row.id)) return;
    if (settled({ base: inBase.get(row.id), ours: undefined, theirs: row }) === undefined) return;
    const before = theirs.slice(0, at).findLast(({ id }) => result.some((other) => other.id === id));
    const last = theirs.slice(at + 1).every(({ id }) => !inBase.has(id));
    let place = last ? result.length : result.findIndex(({ id }) => id === before?.id) + 1;
    while (place < result.length && !inBase.has(result[place]?.id) && !inTheirs.has(result[place]?.id)) place++;
    result.splice(place, 0, row);
  });
  return printed(result);
}

const indexed = (list: readonly Row[]): ReadonlyMap<string | undefined, Row> =>
  new Map(list.map((row) => [row.id, row]));

function settled(row: { base: Row | undefined; ours: Row | undefined; theirs: Row | undefined }): Row | undefined {
  const { base, ours, theirs } = row;
  const [b, o, t] = [base, ours, theirs].map((side) => canon(side?.value));
  if (o === t || b === t) return ours;
  if (b === o) return theirs;
  return unsure(`both sides changed the row with id ${(ours ?? theirs ?? base)?.id?.slice(2) ?? ""}`);
}

/** Rows without ids: what both sides put at the end, ours first, the same row once. */
function appended({ base, ours, theirs }: Sides, texts: Texts): string {
  const added = (side: readonly Row[]): readonly Row[] | undefined =>
    base.every((row, at) => row.text === side[at]?.text) ? side.slice(base.length) : undefined;
  const [fromOurs, fromTheirs] = [added(ours), added(theirs)];
  if (fromOurs === undefined || fromTheirs === undefined) return throughLines(texts);
  const known = new Map(fromOurs.map((row) => [canon(row.value), row]));
  const ids = new Map(fromOurs.map((row) => [row.id, canon(row.value)]));
  for (const row of fromTheirs) {
    if (row.id !== undefined && ids.has(row.id) && !known.has(canon(row.value))) {
      unsure(`both sides added a row with id ${row.id.slice(2)}`);
    }
  }
  return printed([...ours, ...fromTheirs.filter((row) => !known.has(canon(row.value)))]);
}

function throughLines({ base, ours, theirs }: Texts): string {
  const lines = mergeNearLines(base, ours, theirs);
  if (lines.kind === "conflict") return unsure("both sides changed rows that have no id of their own");
  const lists = [base, ours, theirs, lines.text].map((text) => text.split("\n").filter((line) => line.trim() !== ""));
  const [b = [], o = [], t = [], result = []] = lists;
  if (lists.some((list) => new Set(list).size !== list.length)) return unsure("rows without ids repeat");
  const lost = unconserved({ base: b, ours: o, theirs: t, result });
  return lost === undefined ? lines.text : unsure("a row would be lost, repeated or brought back");
}

const printed = (list: readonly Row[]): string => list.map(({ text }) => `${text}\n`).join("");
