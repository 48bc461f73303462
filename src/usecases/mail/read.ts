import { nextDelivery } from "../../domain/mail/delivery.ts";
import { no, ok } from "../../domain/result.ts";
import type { UseCase } from "../usecase.ts";
import { findMessage } from "./find-message.ts";
import { openInbox } from "./inbox.ts";
import { isRead } from "./view.ts";

export interface ReadReply {
  readonly id: string;
  readonly alreadyRead: boolean;
}

/** Marks one message of the caller's own inbox as read. */
export const readMail: UseCase<{ readonly id: string }, ReadReply> = {
  access: "write",
  run: async (tx, { caller, now }, { id }) => {
    const message = await findMessage(tx, id);
    if (!message.ok) return message;
    const inbox = await openInbox(tx, caller);
    if (!inbox.ok) return inbox;
    const delivery = await tx.deliveries.get(message.value.seq, inbox.value.name);
    if (delivery === undefined) {
      const why = "it is not in your inbox";
      return no({ kind: "not-allowed", action: `mark ${id} as read`, caller: caller.name, why });
    }
    if (delivery.state === "acked") return ok({ id, alreadyRead: true });
    // Whoever holds the claim reads for the owner of the inbox, so the owner's word settles it.
    const acked = nextDelivery(delivery, { kind: "ack", by: delivery.claimedBy ?? inbox.value.name }, now);
    if (!acked.ok) {
      const wanted = "queued, claimed or delivered";
      return no({ kind: "delivery-state", id, state: delivery.state, wanted });
    }
    await tx.deliveries.update(acked.value);
    return ok({ id, alreadyRead: isRead(delivery.state) });
  },
};
