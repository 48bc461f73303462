import type { Dependencies } from "../task/dependency.ts";

export interface Plan {
  readonly ids: readonly string[];
  readonly order: Dependencies;
  /** For each task those that must not run beside it. */
  readonly conflicts: ReadonlyMap<string, ReadonlySet<string>>;
  /** How long the chain behind each task is; what holds up most goes first. */
  readonly lengths: ReadonlyMap<string, number>;
  readonly builders: number;
}

/**
 * Which tasks would run beside each other, round by round, if all took equally long. Takes the most pressing that fit
 * together: not always the best there is, but what a coordinator would do.
 */
export function planRounds({ ids, order, conflicts, lengths, builders }: Plan): readonly (readonly string[])[] {
  const done = new Set<string>();
  const urgent = ids.toSorted((a, b) => (lengths.get(b) ?? 0) - (lengths.get(a) ?? 0));
  const rounds: string[][] = [];
  while (done.size < ids.length) {
    const open = urgent.filter((id) => !done.has(id));
    const free = open.filter((id) => order.blockedBy(id).every((before) => done.has(before)));
    const round: string[] = [];
    // In a cycle nobody is free; somebody has to begin all the same.
    for (const id of free.length === 0 ? open.slice(0, 1) : free) {
      if (round.length >= builders) break;
      if (!round.some((other) => conflicts.get(id)?.has(other) === true)) round.push(id);
    }
    for (const id of round) done.add(id);
    rounds.push(round);
  }
  return rounds;
}
