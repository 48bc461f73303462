/** Two texts share at least half of their words: most likely one was made from the other. */
export function isAlike(one: string, other: string): boolean {
  const left = countWords(one);
  const right = countWords(other);
  let shared = 0;
  for (const [word, count] of left) shared += Math.min(count, right.get(word) ?? 0);
  const total = size(left) + size(right);
  return total > 0 && (2 * shared) / total >= 0.5;
}

/** How often each word or sign occurs. */
export function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of text.match(/[\p{L}\p{N}_$]+|[^\s\p{L}\p{N}_$]/gu) ?? [])
    counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

const size = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0);
