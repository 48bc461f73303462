import { type Hunk, hunks, splitLines } from "../lines/merge-lines.ts";
import type { Triple } from "./syntax.ts";
import { leastAlike, likeness, saysSomething } from "./word-likeness.ts";

/**
 * A line that one side moved (and perhaps edited) past a place where the other side edited. By lines such edits do not
 * touch, but what stood before the other side's edit would stand behind it, or the other way round. Answers with the line.
 */
export function movedPastEdit(texts: Triple<string>): string | undefined {
  const base = splitLines(texts.base);
  const [ours, theirs] = [texts.ours, texts.theirs].map((text) => editsOf(base, splitLines(text)));
  if (ours === undefined || theirs === undefined) return undefined;
  return movedPast(ours, theirs) ?? movedPast(theirs, ours);
}

/** A hunk with the lines it took away and those it wrote, without the ones it only kept. */
interface Edit extends Hunk {
  readonly removed: readonly string[];
  readonly added: readonly string[];
  /** The place and text of the edit: the same edit on both sides has the same id. */
  readonly id: string;
}

function editsOf(base: readonly string[], side: readonly string[]): Edit[] {
  return hunks(base, side).map((hunk) => {
    const was = base.slice(hunk.from, hunk.to).map((line) => line.trim());
    const is = side.slice(hunk.sideFrom, hunk.sideTo).map((line) => line.trim());
    return {
      ...hunk,
      removed: without(was, is).filter(saysSomething),
      added: without(is, was).filter(saysSomething),
      id: `${hunk.from} ${hunk.to} ${is.join("\n")}`,
    };
  });
}

/** The lines of a list that another list does not have, or has less often. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return lines.filter((line) => {
    const at = left.indexOf(line);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

/** Pairs of lines beyond which comparing would take long; so much rewriting may have moved anything. */
const mostPairs = 100_000;

function movedPast(mover: readonly Edit[], other: readonly Edit[]): string | undefined {
  const common = new Set(mover.map(({ id }) => id));
  const own = other.filter(({ id }) => !common.has(id));
  const count = (of: (edit: Edit) => readonly string[]) => mover.reduce((sum, edit) => sum + of(edit).length, 0);
  const isMuch = count(({ removed }) => removed) * count(({ added }) => added) > mostPairs;
  for (const from of mover) {
    for (const to of mover) {
      const [start, end] = [Math.min(from.from, to.from), Math.max(from.to, to.to)];
      if (from === to || !own.some((edit) => edit.from <= end && edit.to >= start)) continue;
      const line = isMuch ? from.removed[0] : movedLine(from, to);
      if (line !== undefined) return line;
    }
  }
  return undefined;
}

/** A line of the one edit that stands in the other again, or became a line there rather than any at its own place. */
function movedLine(from: Edit, to: Edit): string | undefined {
  return from.removed.find(
    (line) =>
      to.added.includes(line) ||
      to.added.some((written) => {
        const like = sharedNames(line, written);
        return (
          like >= leastAlike &&
          from.added.every((here) => sharedNames(line, here) < like) &&
          to.removed.every((old) => sharedNames(old, written) < like)
        );
      }),
  );
}

/** Signs do not count here, since all calls share theirs. */
const sharedNames = (one: string, other: string): number => likeness(namesIn(one), namesIn(other));
const namesIn = (line: string): string => (line.match(/[\p{L}\p{N}_$]+/gu) ?? []).join(" ");
