import type { Agent } from "./agent.ts";

/** One agent in the tree of a fleet, with the lines that lead to it. */
export interface TreeRow<T> {
  readonly item: T;
  readonly depth: number;
  /** The lines of the tree before the name: two characters for each level below the first. */
  readonly lead: string;
}

/**
 * A fleet from the top: coordinators, their leads, the workers of each lead. An agent whose parent is not in the list stands
 * at the top. Siblings keep the order they have.
 */
export function fleetTree<T>(
  items: readonly T[],
  agentOf: (item: T) => Pick<Agent, "name" | "parentName">,
): readonly TreeRow<T>[] {
  const names = new Set(items.map((item) => agentOf(item).name));
  const children = Map.groupBy(items, (item) => {
    const { name, parentName } = agentOf(item);
    return names.has(parentName) && parentName !== name ? parentName : null;
  });
  const rows: TreeRow<T>[] = [];
  const placed = new Set<T>();
  const place = (item: T, depth: number, lead: string, below: string): void => {
    placed.add(item);
    rows.push({ item, depth, lead });
    const own = children.get(agentOf(item).name) ?? [];
    for (const [at, child] of own.entries()) {
      if (placed.has(child)) continue;
      const isLast = at === own.length - 1;
      place(child, depth + 1, `${below}${isLast ? "└ " : "├ "}`, `${below}${isLast ? "  " : "│ "}`);
    }
  };
  for (const item of children.get(null) ?? []) place(item, 0, "", "");
  // Agents that are each other's parents have no top: they are listed all the same.
  for (const item of items) if (!placed.has(item)) place(item, 0, "", "");
  return rows;
}
