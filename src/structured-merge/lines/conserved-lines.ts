/**
 * The last net below every merge, on plain lines (or comments): added lines are present, removed lines are gone, no
 * line came twice. Blank lines do not count, and whitespace around a line does not either. Returns the first line that
 * breaks the rule.
 */
export function unconserved(sides: {
  readonly base: readonly string[];
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
  readonly result: readonly string[];
}): string | undefined {
  const [base, ours, theirs, result] = [sides.base, sides.ours, sides.theirs, sides.result].map(counts);
  if (base === undefined || ours === undefined || theirs === undefined || result === undefined) return undefined;
  for (const line of new Set([...base.keys(), ...ours.keys(), ...theirs.keys(), ...result.keys()])) {
    const b = base.get(line) ?? 0;
    const o = (ours.get(line) ?? 0) - b;
    const t = (theirs.get(line) ?? 0) - b;
    const got = (result.get(line) ?? 0) - b;
    // Both may have made the very same change, which then counts once.
    const sameWay = o * t > 0;
    const least = sameWay ? Math.min(o + t, o, t) : o + t;
    const most = sameWay ? Math.max(o + t, o, t) : o + t;
    const shared = sameWay && o > 0 ? Math.max(o, t) : least;
    const cap = sameWay && o < 0 ? Math.min(o, t) : most;
    if (got < shared || got > cap) return line;
  }
  return undefined;
}

function counts(lines: readonly string[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const line of lines) {
    const text = line.trim().replace(/\s+/g, " ");
    if (text !== "") found.set(text, (found.get(text) ?? 0) + 1);
  }
  return found;
}

/** What git writes around a conflict it leaves to a person; a text with such lines is no version of a file. */
export const hasConflictMarkers = (text: string): boolean =>
  /^<{7}( |$)/m.test(text) || /^>{7}( |$)/m.test(text) || /^\|{7}( |$)/m.test(text);
