/** Two texts share at least half of their words: most likely one was made from the other. */
export const isAlike = (one: string, other: string): boolean => likeness(one, other) >= leastAlike;

/** From here on two texts count as alike. */
export const leastAlike = 0.5;

/** The share of their words and signs that two texts have in common, from 0 to 1. */
export function likeness(one: string, other: string): number {
  const left = countWords(one);
  const right = countWords(other);
  let shared = 0;
  for (const [word, count] of left) shared += Math.min(count, right.get(word) ?? 0);
  const total = size(left) + size(right);
  return total === 0 ? 0 : (2 * shared) / total;
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

/** A line that is more than brackets and bare keywords, which may repeat without meaning anything. */
export const saysSomething = (line: string): boolean =>
  /\w/.test(line) && !/^\W*(break|continue|return|pass|else|try|finally|do)\W*$/.test(line);
