export type Marks = readonly (readonly [from: number, to: number])[];

/** Two lines with more parts than this are not compared word by word: it would take long, and tell little. */
const mostParts = 150;
/** Lines that share less than this are two different lines, and marks would only be noise. */
const leastShared = 0.4;

/** The parts in which a line differs from the line that it took the place of; undefined where marks tell nothing. */
export function wordMarks(
  before: string,
  after: string,
): { readonly before: Marks; readonly after: Marks } | undefined {
  const [old, now] = [partsOf(before), partsOf(after)];
  if (old.length > mostParts || now.length > mostParts || before === after) return undefined;
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  const room = Math.min(old.length, now.length) - start;
  while (end < room && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const kept = commonParts(old.slice(start, old.length - end), now.slice(start, now.length - end));
  const same = (parts: readonly string[], middle: ReadonlySet<number>): readonly boolean[] =>
    parts.map((_, at) => at < start || at >= parts.length - end || middle.has(at - start));
  const [sameOld, sameNow] = [same(old, kept.old), same(now, kept.now)];
  const shared = lengthOf(old, sameOld) * 2;
  const whole = before.trim().length + after.trim().length;
  if (whole === 0 || shared / whole < leastShared) return undefined;
  return { before: marksOf(old, sameOld), after: marksOf(now, sameNow) };
}

/** Words, runs of blanks, and every other sign by itself. */
const partsOf = (line: string): readonly string[] => line.match(/[\p{L}\p{N}_$]+|\s+|[^\p{L}\p{N}_$\s]/gu) ?? [];

/** The places of the longest sequence of parts that both have in the same order. */
function commonParts(old: readonly string[], now: readonly string[]) {
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        old[i] === now[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
    }
  }
  const places = { old: new Set<number>(), now: new Set<number>() };
  for (let i = 0, j = 0; i < old.length && j < now.length; ) {
    if (old[i] === now[j]) {
      places.old.add(i++);
      places.now.add(j++);
    } else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) i++;
    else j++;
  }
  return places;
}

/** How many characters other than blanks are the same. */
const lengthOf = (parts: readonly string[], same: readonly boolean[]): number =>
  parts.reduce((sum, part, at) => sum + (same[at] === true ? part.trim().length : 0), 0);

/** Parts that differ and stand beside each other, or with only blanks between them, are one mark. */
function marksOf(parts: readonly string[], same: readonly boolean[]): Marks {
  const marks: [number, number][] = [];
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const last = marks.at(-1);
    const isBlankBetween = part.trim() === "" && last?.[1] === at && same[index + 1] === false;
    if (same[index] !== true || isBlankBetween) {
      if (last !== undefined && last[1] === at) last[1] = at + part.length;
      else marks.push([at, at + part.length]);
    }
    at += part.length;
  }
  return marks;
}
