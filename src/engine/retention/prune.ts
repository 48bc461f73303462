import type { OldRowKind } from "../../ports/store/old-rows.ts";
import type { Store } from "../../ports/store.ts";
import { record } from "../../usecases/events/record.ts";
import type { EnginePorts } from "../ports.ts";

/** The time of a pass: everything from before `before` is old. */
export interface When {
  readonly before: number;
  /** Hours since the epoch. If there are too many things for one pass, each hour looks at others. */
  readonly hour: number;
}

export interface Pruned {
  readonly removed: number;
  /** Old things are left that this pass has not looked at; the next pass goes on there. */
  readonly more: boolean;
}

/** Deletes old things of one kind, as many as one pass may. Safe to repeat and to kill. */
export type Prune<Ports> = (ports: Ports, when: When) => Promise<Pruned>;

/** Limits the time for which one look holds the writers' lock, and the time of a pass. */
const mostAtOnce = 500;
const mostLooks = 20;

/** Deletes old rows of one table, oldest first, from where the last pass ended. Writes nothing when no row may go. */
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

/** Deletes mail of ended runs that every recipient has read and that no agent waits for. Unread mail stays. */
export const pruneMail: Prune<Pick<EnginePorts, "store" | "clock">> = async ({ store, clock }, { before }) => {
  let removed = 0;
  for (let look = 0; look < mostLooks; look++) {
    const { purged, last } = await store.transaction(async (tx) => {
      const saved = await tx.oldRows.place("mail");
      const part = await tx.messages.purgeSettled(before, { after: saved?.at ?? 0, most: mostAtOnce });
      const next = part.last === null ? null : { at: part.last, id: "" };
      if (saved !== null || next !== null) await tx.oldRows.setPlace("mail", next);
      if (part.purged === 0) return part;
      const data = { before, purged: part.purged };
      await record(tx, clock.now(), { source: "engine", type: "mail_purged", data });
      return part;
    });
    removed += purged;
    if (last === null) return { removed, more: false };
  }
  return { removed, more: true };
};

/** Returns at most so many things, others each hour, so that things which must stay do not hide the rest. */
export function turnOf<Row>(all: readonly Row[], most: number, hour: number): readonly Row[] {
  if (all.length <= most) return all;
  const start = (hour * most) % all.length;
  return [...all.slice(start), ...all.slice(0, start)].slice(0, most);
}
