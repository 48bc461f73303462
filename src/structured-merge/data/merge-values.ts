import { alignThree, type Chunk } from "../lines/align.ts";
import { unsure } from "../outcome.ts";
import { areResources, canon, counterparts, distinctIdentities, hasRepeats, sameValue, type Value } from "./value.ts";

/** Where in the file: keys from the root, items of lists as `[n]`. */
export type Path = readonly string[];

type Side = Value | undefined;

/**
 * What the merged file has to say, worked out on values alone. It knows nothing of text: the text merge must arrive at
 * the same value by its own way, or nothing is merged. Gives up where both sides decided differently.
 */
export function mergeValues(base: Side, ours: Side, theirs: Side, path: Path = []): Side {
  if (sameValue(ours, theirs) || sameValue(base, theirs)) return ours;
  if (sameValue(base, ours)) return theirs;
  if (base === undefined) return bothAdded(ours, theirs, path);
  if (ours === undefined || theirs === undefined)
    return unsure(`one side deleted ${spelled(path)}, the other changed it`);
  if (base.mark !== ours.mark || base.mark !== theirs.mark) return unsure(`anchor or tag of ${spelled(path)} changed`);
  if (base.kind === "map" && ours.kind === "map" && theirs.kind === "map") {
    return mergeMaps({ base, ours, theirs }, path);
  }
  if (base.kind === "list" && ours.kind === "list" && theirs.kind === "list") {
    const items = mergeLists(base.items, ours.items, theirs.items, path);
    return { ...ours, items };
  }
  return unsure(`both sides changed ${spelled(path)}`);
}

/** `a.b[2].c`, for a reason a person reads. */
export const spelled = (path: Path): string =>
  path.length === 0 ? "the document" : path.join(".").replaceAll(".[", "[");

/** Maps that are plain dictionaries by their name: two of them, added by two sides, are one with the entries of both. */
export const dictionaries: ReadonlySet<string> = new Set([
  "dependencies",
  "devDependencies",
  "peerDependencies",
  "optionalDependencies",
  "dev-dependencies",
  "dev_dependencies",
  "resolutions",
  "scripts",
]);

function bothAdded(ours: Side, theirs: Side, path: Path): Side {
  const dictionary = dictionaries.has(path.at(-1) ?? "");
  if (!dictionary || ours?.kind !== "map" || theirs?.kind !== "map") {
    return unsure(`both sides added ${spelled(path)} differently`);
  }
  const base: Value = { kind: "map", entries: new Map() };
  if (ours.mark !== undefined || theirs.mark !== undefined) return unsure(`both sides added ${spelled(path)}`);
  return mergeMaps({ base, ours, theirs }, path);
}

type MapValue = Extract<Value, { kind: "map" }>;

function mergeMaps(sides: Record<"base" | "ours" | "theirs", MapValue>, path: Path): Value {
  const { base, ours, theirs } = sides;
  checkRenames(sides, path);
  const entries = new Map<string, Value>();
  for (const key of new Set([...ours.entries.keys(), ...theirs.entries.keys(), ...base.entries.keys()])) {
    const value = mergeValues(base.entries.get(key), ours.entries.get(key), theirs.entries.get(key), [...path, key]);
    if (value !== undefined) entries.set(key, value);
  }
  return { ...ours, entries };
}

/**
 * A key both sides removed may have been renamed by one or both: then a new key stands for the old one, and taking all
 * new keys would keep a thing twice, or keep one the other side wanted gone.
 */
function checkRenames({ base, ours, theirs }: Record<"base" | "ours" | "theirs", MapValue>, path: Path): void {
  const removed = [...base.entries].filter(([key]) => !ours.entries.has(key) && !theirs.entries.has(key));
  if (removed.length === 0) return;
  const added = (side: MapValue, other: MapValue): Value[] =>
    [...side.entries].filter(([key]) => !base.entries.has(key) && !other.entries.has(key)).map(([, value]) => value);
  const [fromOurs, fromTheirs] = [added(ours, theirs), added(theirs, ours)];
  const old = new Set(removed.map(([, value]) => canon(value)));
  const renamed = [...fromOurs, ...fromTheirs].some((value) => old.has(canon(value)));
  if (renamed || (fromOurs.length > 0 && fromTheirs.length > 0)) {
    unsure(`both sides removed ${spelled([...path, removed[0]?.[0] ?? ""])}, perhaps for something else`);
  }
}

function mergeLists(base: readonly Value[], ours: readonly Value[], theirs: readonly Value[], path: Path): Value[] {
  for (const items of [base, ours, theirs]) {
    if (hasRepeats(items)) unsure(`both sides changed the list ${spelled(path)}, which has equal items`);
  }
  let index = 0;
  const items = alignThree({ base, ours, theirs }, canon).flatMap((chunk) => {
    const settled = settle(chunk, path, index);
    index += chunk.base.length;
    return settled;
  });
  checkPresence(items, { base, ours, theirs, path });
  return items;
}

function settle(chunk: Chunk<Value>, path: Path, index: number): readonly Value[] {
  const { base, ours, theirs } = chunk;
  const same = (a: readonly Value[], b: readonly Value[]): boolean =>
    a.length === b.length && a.every((item, at) => sameValue(item, b[at]));
  if (chunk.stable || same(ours, theirs) || same(base, theirs)) return ours;
  if (same(base, ours)) return theirs;
  if (base.length === 0 && path.length === 0 && areResources([...ours, ...theirs])) return [...ours, ...theirs];
  const pairs = counterparts(base, ours, theirs);
  if (pairs === undefined) return unsure(`both sides changed the same place of the list ${spelled(path)}`);
  return pairs.flatMap((pair) => {
    const here = [...path, `[${index + Math.max(pair.base, 0)}]`];
    return mergeValues(base[pair.base], ours[pair.ours], theirs[pair.theirs], here) ?? [];
  });
}

interface ListSides {
  readonly base: readonly Value[];
  readonly ours: readonly Value[];
  readonly theirs: readonly Value[];
  readonly path: Path;
}

/** An item moved by one side and removed or moved by the other must not come back or come twice. */
function checkPresence(items: readonly Value[], { base, ours, theirs, path }: ListSides): void {
  const moved = `items of the list ${spelled(path)} were moved or added on both sides`;
  if (hasRepeats(items)) unsure(moved);
  const [inBase, inOurs, inTheirs] = [base, ours, theirs].map((side) => new Set(side.map(canon)));
  for (const item of items) {
    const key = canon(item);
    if (inBase?.has(key) === true && !(inOurs?.has(key) === true && inTheirs?.has(key) === true)) unsure(moved);
  }
  const told = [base, ours, theirs].every((side) => distinctIdentities(side) !== undefined);
  if (told && distinctIdentities(items) === undefined) unsure(moved);
}
