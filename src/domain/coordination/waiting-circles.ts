/** An agent, and those whose answer or end it waits for. */
export interface Waiter {
  readonly name: string;
  /** Something other than these waits gives it a turn. */
  readonly isWoken: boolean;
  readonly waitsFor: readonly string[];
}

/**
 * The agents that wait for each other in a circle out of which nothing leads: none of them has a turn ahead, and neither
 * has anybody whom one of them waits for. A name that is not among the waiters, as of a person, counts as awake. Each
 * circle is sorted by name and comes once.
 */
export function waitingCircles(waiters: readonly Waiter[]): readonly (readonly string[])[] {
  const asleep = new Map(waiters.filter(({ isWoken }) => !isWoken).map((one) => [one.name, one.waitsFor]));
  for (let before = -1; before !== asleep.size; ) {
    before = asleep.size;
    for (const [name, waitsFor] of asleep) if (waitsFor.some((other) => !asleep.has(other))) asleep.delete(name);
  }
  const reached = new Map([...asleep.keys()].map((name) => [name, reachedFrom(name, asleep)]));
  const circles: (readonly string[])[] = [];
  const placed = new Set<string>();
  for (const name of [...asleep.keys()].sort()) {
    if (placed.has(name) || reached.get(name)?.has(name) !== true) continue;
    const circle = [...(reached.get(name) ?? [])].filter((other) => reached.get(other)?.has(name) === true).sort();
    for (const one of circle) placed.add(one);
    circles.push(circle);
  }
  return circles;
}

/** Everybody at the end of one or more waits from here; the agent itself only when its waits lead back to it. */
function reachedFrom(first: string, waits: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [...(waits.get(first) ?? [])];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    open.push(...(waits.get(name) ?? []));
  }
  return reached;
}
