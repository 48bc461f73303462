import type { Dependencies } from "../task/dependency.ts";

/**
 * For each task how many tasks follow each other from it to the end of the longest chain behind it, itself included. A
 * cycle, which the tracker refuses, counts as if it ended where it closes.
 */
export function remainingLengths(ids: readonly string[], order: Dependencies): ReadonlyMap<string, number> {
  const lengths = new Map<string, number>();
  const open = new Set<string>();
  const visit = (id: string): number => {
    const known = lengths.get(id);
    if (known !== undefined) return known;
    if (open.has(id)) return 0;
    open.add(id);
    const length = 1 + Math.max(0, ...order.blocks(id).map(visit));
    open.delete(id);
    lengths.set(id, length);
    return length;
  };
  for (const id of ids) visit(id);
  return lengths;
}

/** The longest chain of tasks that wait for each other, first one first. */
export function criticalPath(
  ids: readonly string[],
  order: Dependencies,
  lengths: ReadonlyMap<string, number>,
): readonly string[] {
  const longest = (among: readonly string[]): string | undefined =>
    among.toSorted((a, b) => (lengths.get(b) ?? 0) - (lengths.get(a) ?? 0))[0];
  const path: string[] = [];
  for (let next = longest(ids); next !== undefined && !path.includes(next); next = longest(order.blocks(next))) {
    path.push(next);
  }
  return path;
}
