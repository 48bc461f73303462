import { expireClaim } from "../usecases/mail/expire.ts";
import type { EnginePorts } from "./ports.ts";

const mostAtOnce = 100;

/**
 * Takes mail back from readers that died with it in hand, so that it is delivered again or visibly given up. What was
 * printed waits for its reader's next look instead: a person need not be told the same twice. True when one had expired.
 */
export async function expireClaims(ports: EnginePorts): Promise<boolean> {
  const now = ports.clock.now();
  const due = await ports.store.read((tx) => tx.deliveries.nextExpiry());
  if (due === undefined || due > now) return false;
  return ports.store.transaction(async (tx) => {
    let any = false;
    for (const delivery of await tx.deliveries.expired(now, mostAtOnce)) {
      const message = await tx.messages.bySeq(delivery.messageSeq);
      if (message === undefined) continue;
      await expireClaim(tx, { ids: ports.ids, now, settings: ports.rules }, { message, delivery });
      any = true;
    }
    return any;
  });
}
