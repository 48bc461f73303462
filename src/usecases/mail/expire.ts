import { nextDelivery } from "../../domain/mail/delivery.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";
import { deliveryPolicyOf } from "./policy.ts";
import { wakeUp } from "./post.ts";
import { reportDead } from "./report-dead.ts";

/**
 * Takes mail back from a reader whose lease ran out. The attempt failed at the end of the lease, not when somebody
 * noticed, so the back-off counts from there. Mail that used up its attempts is given up and reported.
 */
export async function expireClaim(
  tx: Tx,
  context: Pick<Context, "ids" | "now" | "settings">,
  { message, delivery }: Mail,
): Promise<void> {
  const { ids, now, settings } = context;
  const failedAt = Math.min(delivery.claimExpires ?? now, now);
  const next = nextDelivery(delivery, { kind: "expire" }, failedAt, deliveryPolicyOf(settings));
  if (!next.ok) return;
  const expired = { ...next.value, updatedAt: now };
  await tx.deliveries.update(expired);
  if (expired.state === "dead") await reportDead(tx, context, { message, delivery: expired }, { readerEnds: false });
  else if (expired.wake) await wakeUp(tx, ids, expired.toAgent, expired.notBefore, now);
}
