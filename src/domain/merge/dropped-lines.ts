import { alignMatched, matchingPlaces } from "../../structured-merge/index.ts";

/** The versions of one file around a merge commit of a branch. Undefined where a version has no such file. */
export interface Versions<T> {
  /** The common ancestor of both sides. */
  readonly base: T | undefined;
  /** The side of the branch. */
  readonly ours: T | undefined;
  /** The side that was merged in, as it has landed. */
  readonly landed: T | undefined;
  /** What git makes of both sides by itself. Conflicts are in it with their marks. */
  readonly automatic: T | undefined;
  /** What the merge commit has. */
  readonly recorded: T | undefined;
  /** What the branch has now. */
  readonly head: T | undefined;
  /** What the landing branch has now. */
  readonly tip: T | undefined;
}

/** Each version as text. */
export type MergedFile = Versions<string>;

/**
 * What the ids of the versions tell about `dropsLandedLines`, without their content. Undefined: only the content tells.
 * A whole file that was put back counts, though its lines may be blank.
 */
export function tellByIds(ids: Versions<string>): boolean | undefined {
  const { base, landed } = ids;
  const [old, fresh] = [
    [ids.ours, ids.recorded, ids.head],
    [ids.automatic, ids.tip],
  ];
  if (landed === undefined || base === landed || fresh.includes(undefined)) return false;
  // One text cannot have the old lines and the new ones at the same place.
  if (old.some((id) => id === landed || fresh.includes(id)) || fresh.includes(base)) return false;
  const isWhole = old.every((id) => id === base) && fresh.every((id) => id === landed);
  if (isWhole) return true;
  return base === undefined || old.includes(undefined) ? false : undefined;
}

/**
 * Does the branch lack lines that others have landed, because its merge commit left them out where git would have taken
 * them in without a conflict?
 *
 * Only what is provable counts: the merge and the branch have the old text at that place, and the landing branch has the
 * new one. So a conflict that was settled by hand does not count, nor a change of a later ordinary commit, nor lines
 * that were moved. A removal does not count either: a merge may keep what the branch still uses.
 */
export function dropsLandedLines(file: MergedFile): boolean {
  const { base, landed, automatic, head } = file;
  if (landed === undefined || automatic === undefined) return false;
  const edited = editsOf(base, landed);
  let left = edited.edits
    .map((edit, at) => ({ edit, at }))
    .filter(({ edit }) => edit.added.some((line) => line.trim() !== ""));
  const known = new Map<string | undefined, readonly Standing[]>();
  // To align a version is slow, so it ends with the first version that leaves no edit.
  for (const [version, wanted] of [
    [file.recorded, "old"],
    [head, "old"],
    [file.ours, "old"],
    [file.tip, "new"],
    [automatic, "new"],
  ] as const) {
    if (left.length === 0) return false;
    const standings = known.get(version) ?? standingsOf(edited, version);
    known.set(version, standings);
    left = left.filter(({ at }) => standings[at] === wanted);
  }
  const isSomewhere = isMoved(linesOf(automatic), linesOf(head ?? ""));
  return left.some(({ edit }) => !isSomewhere(edit.added));
}

/** Lines of the base that the landed work has replaced. */
interface Edit {
  readonly base: Range;
  readonly landed: Range;
  readonly added: readonly string[];
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** What a version has at the place of an edit: the old lines, the new ones, or neither. */
type Standing = "old" | "new" | "other";

/** Files that are no text are compared as a whole. */
const isText = (text: string): boolean => !text.includes("\0");

const linesOf = (text: string): readonly string[] => text.split("\n");

interface Edited {
  readonly base: string | undefined;
  readonly landed: string;
  readonly edits: readonly Edit[];
  /** The place of each line of the base in the landed text. Undefined where the file is compared as a whole. */
  readonly places: ReturnType<typeof matchingPlaces> | undefined;
}

function editsOf(base: string | undefined, landed: string): Edited {
  if (base === landed) return { base, landed, edits: [], places: undefined };
  if (base === undefined || !isText(base) || !isText(landed)) {
    const whole = { from: 0, to: 0 };
    return { base, landed, edits: [{ base: whole, landed: whole, added: linesOf(landed) }], places: undefined };
  }
  const [before, after] = [linesOf(base), linesOf(landed)];
  const places = matchingPlaces(before, after);
  const edits: Edit[] = [];
  let [b, l] = [0, 0];
  const edited = (nextB: number, nextL: number): void => {
    if (nextB > b || nextL > l)
      edits.push({ base: { from: b, to: nextB }, landed: { from: l, to: nextL }, added: after.slice(l, nextL) });
  };
  for (const [at, place] of places.entries()) {
    if (place === undefined) continue;
    edited(at, place);
    [b, l] = [at + 1, place + 1];
  }
  edited(before.length, after.length);
  return { base, landed, edits, places };
}

function standingsOf({ base, landed, edits, places }: Edited, version: string | undefined): readonly Standing[] {
  if (version === landed) return edits.map(() => "new");
  if (version === base) return edits.map(() => "old");
  if (version === undefined || base === undefined || places === undefined || !isText(version))
    return edits.map(() => "other");
  const standings: Standing[] = edits.map(() => "other");
  const sides = { base: linesOf(base), ours: linesOf(version), theirs: linesOf(landed) };
  let [b, l, at] = [0, 0, 0];
  for (const { stable, base: old, ours, theirs } of alignMatched(
    sides,
    matchingPlaces(sides.base, sides.ours),
    places,
  )) {
    const [toB, toL] = [b + old.length, l + theirs.length];
    const standing = stable ? "other" : same(ours, theirs) ? "new" : same(ours, old) ? "old" : "other";
    // Both come in the order of the file.
    for (let edit = edits[at]; edit !== undefined && edit.base.to <= toB && edit.landed.to <= toL; edit = edits[++at])
      if (!stable && isWithin(edit.base, { from: b, to: toB }) && isWithin(edit.landed, { from: l, to: toL }))
        standings[at] = standing;
    [b, l] = [toB, toL];
  }
  return standings;
}

const isWithin = (inner: Range, outer: Range): boolean => inner.from >= outer.from && inner.to <= outer.to;

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((line, at) => line === b[at]);

/** Has `now` each of these lines at least as often as the merge of git, so at some other place? */
function isMoved(automatic: readonly string[], now: readonly string[]): (added: readonly string[]) => boolean {
  const [wanted, found] = [countsOf(automatic), countsOf(now)];
  return (added) =>
    added
      .map((line) => line.trim())
      .filter((line) => line !== "")
      .every((line) => (found.get(line) ?? 0) >= (wanted.get(line) ?? 0));
}

function countsOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line.trim(), (counts.get(line.trim()) ?? 0) + 1);
  return counts;
}
