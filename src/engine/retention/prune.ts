import type { OldRowKind } from "../../ports/store/old-rows.ts";
import type { Store } from "../../ports/store.ts";

/** The moment up to which things are old. */
export interface When {
  readonly before: number;
  /** Hours since the beginning of time. Where not all can be looked at, every hour looks at others. */
  readonly hour: number;
}

export interface Pruned {
  readonly removed: number;
  /** Something old was not looked at yet: the next pass goes on there. */
  readonly more: boolean;
}

/** Lets go of one kind of old things, as far as one pass may go. Safe to repeat and to cut short. */
export type Prune<Ports> = (ports: Ports, when: When) => Promise<Pruned>;

/** A look must not hold the writers' lock for long, and a pass must not take the engine's time, whatever there is. */
const mostAtOnce = 500;
const mostLooks = 20;

/** Deletes old rows of one table, oldest first, from where the last pass ended. Writes nothing when none are free. */
export async function pruneRows({ store }: { readonly store: Store }, kind: OldRowKind, when: When): Promise<Pruned> {
  let removed = 0;
  for (let looks = 0; looks < mostLooks; looks++) {
    const { saved, free, last } = await store.read(async (tx) => {
      const after = await tx.oldRows.place(kind);
      return { saved: after, ...(await tx.oldRows.look(kind, { before: when.before, after, most: mostAtOnce })) };
    });
    if (free.length > 0 || saved !== null || last !== null) {
      removed += await store.transaction(async (tx) => {
        if (saved !== null || last !== null) await tx.oldRows.setPlace(kind, last);
        return tx.oldRows.remove(kind, free, when.before);
      });
    }
    if (last === null) return { removed, more: false };
  }
  return { removed, more: true };
}

/** Of many things so many, every hour others, so that those which stay do not hide the rest. */
export function turnOf<Row>(all: readonly Row[], most: number, hour: number): readonly Row[] {
  if (all.length <= most) return all;
  const start = (hour * most) % all.length;
  return [...all.slice(start), ...all.slice(0, start)].slice(0, most);
}
