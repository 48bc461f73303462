import type { Delivery } from "../../../../domain/mail/types.ts";
import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler, Rows } from "../../command.ts";
import { moment } from "../../format.ts";
import { word } from "../../given.ts";
import { table } from "../../table.ts";
import { messageJson } from "./render.ts";

export const status: Handler = async ({ app, args, io }) => {
  const found = await app.call("mail.status", { id: word(args.id) });
  if (!found.ok) return found;
  const { message, deliveries } = found.value;
  const rows: Rows = {
    columns: ["TO", "STATE", "ATTEMPTS", "WAKES", "DELIVERED", "ACKED", "NOT BEFORE", "LAST ERROR"],
    cells: deliveries.map((delivery) => [
      delivery.toAgent,
      delivery.redelivered ? `${delivery.state} (redelivered)` : delivery.state,
      String(delivery.attempts),
      delivery.wake ? "yes" : "no",
      moment(delivery.deliveredAt),
      moment(delivery.ackedAt),
      moment(delivery.notBefore),
      delivery.lastError ?? "-",
    ]),
    objects: deliveries.map(deliveryJson),
  };
  const head = `${io.paint.accent(message.id)} ${visibleLine(`${message.from} → ${message.to}: ${message.subject}`)}`;
  return ok({
    json: { message: messageJson(message), deliveries: deliveries.map(deliveryJson) },
    text: `${head}\n${table(rows, io.paint)}`,
    rows,
  });
};

/** A delivery as scripts see it: names of the ledger, times as text. */
export function deliveryJson(delivery: Delivery) {
  const { toAgent, state, wake, attempts, redelivered, claimedBy, turnId, channel, lastError } = delivery;
  const iso = (at: number | null): string | null => (at === null || at === 0 ? null : new Date(at).toISOString());
  return {
    to: toAgent,
    state,
    wake,
    attempts,
    redelivered,
    claimedBy,
    claimExpires: iso(delivery.claimExpires),
    turnId,
    channel,
    notBefore: iso(delivery.notBefore),
    deliveredAt: iso(delivery.deliveredAt),
    ackedAt: iso(delivery.ackedAt),
    lastError,
  };
}
