import { diffIndices } from "node-diff3";

/** What a line merge came to: one text, or a place where both sides changed the same or touching lines. */
export type LineMerge = { readonly kind: "merged"; readonly text: string } | { readonly kind: "conflict" };

/**
 * Three-way merge by lines, never more daring than git: touching edits conflict, identical edits count once.
 * Where repeated lines allow several readings of an edit, every reading must be clear of the other side.
 */
export function mergeLines(base: string, ours: string, theirs: string): LineMerge {
  if (ours === theirs || theirs === base) return { kind: "merged", text: ours };
  if (ours === base) return { kind: "merged", text: theirs };
  const lines = { base: splitLines(base), ours: splitLines(ours), theirs: splitLines(theirs) };
  const left = hunks(lines.base, lines.ours);
  const right = hunks(lines.base, lines.theirs);
  return weave(lines, left, right);
}

/** The lines of a text, each with its own terminator, so that joining them gives the text back. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Lines `from`..`to` of the base became lines `sideFrom`..`sideTo` of a side. */
export interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly sideFrom: number;
  readonly sideTo: number;
}

/** The edits that turn `base` into `side`, widened to everywhere an equal edit could be said to have happened. */
export function hunks(base: readonly string[], side: readonly string[]): Hunk[] {
  const { head, tail } = unchanged(base, side);
  if (head === 0 && tail === 0) return widened(base, side);
  const near = widened(base.slice(head, base.length - tail), side.slice(head, side.length - tail));
  return near.map(({ from, to, sideFrom, sideTo }) => ({
    from: from + head,
    to: to + head,
    sideFrom: sideFrom + head,
    sideTo: sideTo + head,
  }));
}

/** Lines kept around the edits, so that one among repeated lines is still seen with its possible places. */
const context = 200;

/** How many lines at both ends are the same and far enough from every edit to be left out. */
function unchanged(base: readonly string[], side: readonly string[]): { readonly head: number; readonly tail: number } {
  const shortest = Math.min(base.length, side.length);
  let head = 0;
  while (head < shortest && base[head] === side[head]) head++;
  let tail = 0;
  while (tail < shortest - head && base.at(-1 - tail) === side.at(-1 - tail)) tail++;
  return { head: Math.max(0, head - context), tail: Math.max(0, tail - context) };
}

/** Pairs of equal lines beyond which comparing would take long; such a stretch counts as rewritten. */
const mostPairs = 1_000_000;

function pairsOf(base: readonly string[], side: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const line of base) counts.set(line, (counts.get(line) ?? 0) + 1);
  return side.reduce((sum, line) => sum + (counts.get(line) ?? 0), 0);
}

function widened(base: readonly string[], side: readonly string[]): Hunk[] {
  if ((base.length + 1) * (side.length + 1) <= mostCells) return gaps(surePairs(base, side), side.length);
  if (pairsOf(base, side) > mostPairs) return [{ from: 0, to: base.length, sideFrom: 0, sideTo: side.length }];
  const forward = pairing(base, side);
  const backward = pairing(base.toReversed(), side.toReversed());
  const sure = forward.map((at, index) => {
    const mirrored = backward[base.length - 1 - index];
    return mirrored !== undefined && at !== undefined && side.length - 1 - mirrored === at ? at : undefined;
  });
  for (const hunk of gaps(sure, side.length)) unpairSlides(sure, { base, side, hunk });
  return gaps(sure, side.length);
}

/** Cells of the table of all pairings; beyond it two of them, one from each end, must do. */
const mostCells = 4_000_000;

/**
 * For each base line, the line of the side that every longest pairing gives it. Where pairings of the same length
 * differ, git may have taken either, so the line counts as edited.
 */
function surePairs(base: readonly string[], side: readonly string[]): (number | undefined)[] {
  const width = side.length + 1;
  const before = longestPairings(base, side);
  const mirrored = longestPairings(base.toReversed(), side.toReversed());
  const length = before.at(-1) ?? 0;
  // The longest pairings of the first `at` and `sideAt` lines, and of all lines from there on.
  const until = (at: number, sideAt: number) => before[at * width + sideAt] ?? 0;
  const from = (at: number, sideAt: number) => mirrored[(base.length - at) * width + side.length - sideAt] ?? 0;
  return base.map((line, at) => {
    let pair: number | undefined;
    for (let sideAt = 0; sideAt < width; sideAt++) {
      if (until(at, sideAt) + from(at + 1, sideAt) === length) return undefined;
      if (line !== side[sideAt] || until(at, sideAt) + 1 + from(at + 1, sideAt + 1) !== length) continue;
      if (pair !== undefined) return undefined;
      pair = sideAt;
    }
    return pair;
  });
}

/** How many lines of each beginning of `base` and each beginning of `side` can be paired in order. */
function longestPairings(base: readonly string[], side: readonly string[]): Uint16Array {
  const width = side.length + 1;
  const longest = new Uint16Array((base.length + 1) * width);
  for (let at = 1; at <= base.length; at++) {
    const line = base[at - 1];
    for (let sideAt = 1, cell = at * width + 1; sideAt < width; sideAt++, cell++) {
      longest[cell] =
        line === side[sideAt - 1]
          ? (longest[cell - width - 1] ?? 0) + 1
          : Math.max(longest[cell - 1] ?? 0, longest[cell - width] ?? 0);
    }
  }
  return longest;
}

/** For each base line, the line of the side it is paired with. */
function pairing(base: readonly string[], side: readonly string[]): (number | undefined)[] {
  const pairs = new Array<number | undefined>(base.length).fill(undefined);
  let at = 0;
  let sideAt = 0;
  const pairUntil = (end: number) => {
    while (at < end) pairs[at++] = sideAt++;
  };
  for (const { buffer1, buffer2 } of diffIndices([...base], [...side])) {
    pairUntil(buffer1[0]);
    at = buffer1[0] + buffer1[1];
    sideAt = buffer2[0] + buffer2[1];
  }
  pairUntil(base.length);
  return pairs;
}

function gaps(pairs: readonly (number | undefined)[], sideLength: number): Hunk[] {
  const found: Hunk[] = [];
  let from = 0;
  let sideFrom = 0;
  for (let to = 0; to <= pairs.length; to++) {
    const sideTo = to === pairs.length ? sideLength : pairs[to];
    if (sideTo === undefined) continue;
    if (from < to || sideFrom < sideTo) found.push({ from, to, sideFrom, sideTo });
    from = to + 1;
    sideFrom = sideTo + 1;
  }
  return found;
}

interface Slide {
  readonly base: readonly string[];
  readonly side: readonly string[];
  readonly hunk: Hunk;
}

/** A pure insertion or removal next to lines equal to its own can be told as happening a little earlier or later. */
function unpairSlides(pairs: (number | undefined)[], { base, side, hunk }: Slide): void {
  const inserted = hunk.from === hunk.to;
  if (!inserted && hunk.sideFrom !== hunk.sideTo) return;
  const text = inserted ? side : base;
  const [first, end] = inserted ? [hunk.sideFrom, hunk.sideTo] : [hunk.from, hunk.to];
  for (let step = 1; first - step >= 0 && text[first - step] === text[end - step]; step++) {
    if (hunk.from - step >= 0) pairs[hunk.from - step] = undefined;
  }
  for (let step = 0; end + step < text.length && text[end + step] === text[first + step]; step++) {
    if (hunk.to + step < pairs.length) pairs[hunk.to + step] = undefined;
  }
}

interface ThreeWay {
  readonly base: readonly string[];
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
}

function weave(lines: ThreeWay, left: Hunk[], right: Hunk[]): LineMerge {
  const out: string[] = [];
  let at = 0;
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const from = Math.min(left[l]?.from ?? Number.POSITIVE_INFINITY, right[r]?.from ?? Number.POSITIVE_INFINITY);
    const lStart = l;
    const rStart = r;
    let to = from;
    for (;;) {
      const nextLeft = left[l];
      const nextRight = right[r];
      if (nextLeft !== undefined && nextLeft.from <= to) {
        to = Math.max(to, nextLeft.to);
        l++;
      } else if (nextRight !== undefined && nextRight.from <= to) {
        to = Math.max(to, nextRight.to);
        r++;
      } else break;
    }
    out.push(...lines.base.slice(at, from));
    const oursText = replaced(lines, { side: lines.ours, hunks: left.slice(lStart, l), from, to });
    const theirsText = replaced(lines, { side: lines.theirs, hunks: right.slice(rStart, r), from, to });
    if (l > lStart && r > rStart && oursText !== theirsText) return { kind: "conflict" };
    out.push(l > lStart ? oursText : theirsText);
    at = to;
  }
  out.push(...lines.base.slice(at));
  return { kind: "merged", text: out.join("") };
}

interface Stretch {
  readonly side: readonly string[];
  readonly hunks: readonly Hunk[];
  readonly from: number;
  readonly to: number;
}

/** The text one side has in place of base lines `from`..`to`. */
function replaced(lines: ThreeWay, { side, hunks: edits, from, to }: Stretch): string {
  const out: string[] = [];
  let at = from;
  for (const hunk of edits) {
    out.push(...lines.base.slice(at, hunk.from), ...side.slice(hunk.sideFrom, hunk.sideTo));
    at = hunk.to;
  }
  return [...out, ...lines.base.slice(at, to)].join("");
}

/** The merge by lines, looking only at the stretch of a long file in which anything changed. */
export function mergeNearLines(base: string, ours: string, theirs: string): LineMerge {
  const [b, o, t] = [splitLines(base), splitLines(ours), splitLines(theirs)];
  const shortest = Math.min(b.length, o.length, t.length);
  let head = 0;
  while (head < shortest && b[head] === o[head] && b[head] === t[head]) head++;
  let tail = 0;
  while (tail < shortest - head && b.at(-1 - tail) === o.at(-1 - tail) && b.at(-1 - tail) === t.at(-1 - tail)) tail++;
  const from = Math.max(0, head - context);
  const cut = Math.max(0, tail - context);
  const middle = (lines: readonly string[]): string => lines.slice(from, lines.length - cut).join("");
  const merge = mergeLines(middle(b), middle(o), middle(t));
  if (merge.kind === "conflict") return merge;
  return { kind: "merged", text: [...b.slice(0, from), merge.text, ...b.slice(b.length - cut)].join("") };
}
