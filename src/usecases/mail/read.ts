import { nextDelivery } from "../../domain/mail/delivery.ts";
import type { Message } from "../../domain/mail/types.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";
import { findMessage } from "./find-message.ts";
import { openInbox } from "./inbox.ts";
import { isRead, type MessageView, viewOf } from "./view.ts";

export interface ReadReply {
  readonly id: string;
  readonly alreadyRead: boolean;
  readonly message: MessageView;
}

/** Shows one message of the caller's own inbox, which counts as read from then on. */
export const readMail: UseCase<{ readonly id: string }, ReadReply> = {
  kind: "write",
  request: fields({ id: text }),
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
    const view = viewOf(message.value, [delivery], inbox.value.name);
    if (delivery.state === "acked") return ok({ id, alreadyRead: true, message: view });
    // Whoever holds the claim reads for the owner of the inbox, so the owner's word settles it.
    const acked = nextDelivery(delivery, { kind: "ack", by: delivery.claimedBy ?? inbox.value.name }, now);
    if (!acked.ok) {
      const wanted = "queued, claimed or delivered";
      return no({ kind: "delivery-state", id, state: delivery.state, wanted });
    }
    await tx.deliveries.update(acked.value);
    return ok({ id, alreadyRead: isRead(delivery.state), message: view });
  },
};

/** Settles the delivery of a message to this reader, where there is one that can still be settled. */
export async function markRead(tx: Tx, now: number, { seq }: Pick<Message, "seq">, reader: string): Promise<void> {
  const delivery = await tx.deliveries.get(seq, reader);
  if (delivery === undefined) return;
  const acked = nextDelivery(delivery, { kind: "ack", by: delivery.claimedBy ?? reader }, now);
  if (acked.ok) await tx.deliveries.update(acked.value);
}
