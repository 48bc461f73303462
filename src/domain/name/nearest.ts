/**
 * The candidate a person most likely meant: within one edit (a swap of neighbours counts as one), within two of a long
 * word that begins alike, or one that starts with what was typed. Undefined when nothing is close enough to be worth
 * suggesting: a word that means something else is worse than none.
 */
export function nearest(typed: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = 3;
  let prefixed: string | undefined;
  for (const candidate of candidates) {
    if (prefixed === undefined && typed.length >= 2 && candidate.startsWith(typed)) prefixed = candidate;
    if (Math.abs(candidate.length - typed.length) >= bestDistance) continue;
    const distance = editDistance(typed, candidate);
    const longAndAlike = candidate.length >= 5 && candidate[0] === typed[0];
    if (distance > 1 && !longAndAlike) continue;
    if (distance < bestDistance && distance < Math.max(typed.length, candidate.length)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? prefixed;
}

/** Damerau-Levenshtein distance (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, substitution);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforePrevious[j - 2] ?? 0) + 1);
      }
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}
