import type { EnginePorts } from "../ports.ts";

/** A look must not hold the writers' lock for long, however much mail there is. */
const mostAtOnce = 500;
const mostLooks = 4;

/**
 * Deletes mail of ended runs that everybody is done with and that nobody waits for. Mail that was not read stays. Looks
 * at a few of the oldest from where it was last, and answers from where to go on.
 */
export async function pruneMail(
  { store, clock }: Pick<EnginePorts, "store" | "clock">,
  before: number,
  from: number,
): Promise<number> {
  let after = from;
  for (let look = 0; look < mostLooks; look++) {
    const { last } = await store.transaction(async (tx) => {
      const part = await tx.messages.purgeSettled(before, { after, most: mostAtOnce });
      if (part.purged === 0) return part;
      const data = { before, purged: part.purged };
      await tx.events.append([{ source: "engine", type: "mail_purged", data, createdAt: clock.now() }]);
      return part;
    });
    if (last === null) return 0;
    after = last;
  }
  return after;
}
