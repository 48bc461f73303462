import { unsure } from "../outcome.ts";
import { type Branch, meaning, type Part } from "./document-tree.ts";
import { type Path, spelled } from "./merge-values.ts";
import { adopted, untied } from "./part-text.ts";
import type { Branches, Merging } from "./tree-merge.ts";
import { sameValue } from "./value.ts";

/** The entries of a map by key: ours in their order, with what theirs added, changed and deleted. */
export function mergeMapParts(sides: Branches, path: Path, merging: Merging): readonly Part[] {
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
    if (theirs !== undefined && base !== undefined) parts.push(merging.part({ base, ours, theirs }, here));
    else if (theirs !== undefined) {
      const value = merging.nodes({ base: undefined, ours: ours.value, theirs: theirs.value }, here);
      parts.push({ ...ours, value });
    } else if (base === undefined) parts.push(ours);
    else gone({ base, kept: ours, path: here, merging });
  }
  for (const theirs of sides.theirs.parts) {
    const key = theirs.key ?? "";
    const base = inBase.get(key);
    if (inOurs.has(key)) continue;
    if (base !== undefined) gone({ base, kept: theirs, path: [...path, key], merging });
    else insert({ parts, theirs, sides, path, merging });
  }
  return parts;
}

const byKey = ({ parts }: Branch): ReadonlyMap<string, Part> => new Map(parts.map((part) => [part.key ?? "", part]));

const orderOf = (parts: readonly Part[]): string => JSON.stringify(parts.map(({ key }) => key));

/** A deletion holds only for what the other side left as it was. */
function gone({ base, kept, path, merging }: { base: Part; kept: Part; path: Path; merging: Merging }): void {
  if (!sameValue(meaning(base.value), meaning(kept.value))) {
    unsure(`one side deleted ${spelled(path)}, the other changed it`);
  }
  untied(path, merging, base.value);
}

interface Insertion {
  /** Grows by the new entry. */
  readonly parts: Part[];
  readonly theirs: Part;
  readonly sides: Branches;
  readonly path: Path;
  readonly merging: Merging;
}

function insert({ parts, theirs, sides, path, merging }: Insertion): void {
  const here = [...path, theirs.key ?? ""];
  untied(here, merging, theirs.value);
  const part = adopted({ part: theirs, into: sides.ours, path: here, habits: merging });
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
    if (merging.ordered(path)) unsure(`both sides added to ${spelled(path)}, where order matters`);
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
