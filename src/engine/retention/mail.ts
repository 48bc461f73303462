import type { EnginePorts } from "../ports.ts";
import type { Prune } from "./prune.ts";

/** A look must not hold the writers' lock for long, however much mail there is. */
const mostAtOnce = 500;
const mostLooks = 20;

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
      await tx.events.append([{ source: "engine", type: "mail_purged", data, createdAt: clock.now() }]);
      return part;
    });
    removed += purged;
    if (last === null) return { removed, more: false };
  }
  return { removed, more: true };
};
