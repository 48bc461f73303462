import { nextDelivery } from "../../domain/mail/delivery.ts";
import { ok } from "../../domain/result.ts";
import { fields, list, text, whole } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";
import { openInbox } from "./inbox.ts";
import { deliveryPolicyOf } from "./policy.ts";

export interface DeliveredRequest {
  readonly agent?: string | undefined;
  /** The holder that `mail.check` named. */
  readonly by: string;
  /** Numbers of the messages that were shown. */
  readonly messages: readonly number[];
}

export interface DeliveredReply {
  /** How many were still held by this reader. */
  readonly delivered: number;
}

/** Confirms that mail was really shown. What the reader lost meanwhile is left to whoever has it now. */
export const confirmDelivered: UseCase<DeliveredRequest, DeliveredReply> = {
  kind: "write",
  request: fields({ by: text, messages: list(whole) }, { agent: text }),
  run: async (tx, { caller, now, settings }, { agent, by, messages }) => {
    const inbox = await openInbox(tx, caller, agent);
    if (!inbox.ok) return inbox;
    let delivered = 0;
    for (const seq of messages) {
      const delivery = await tx.deliveries.get(seq, inbox.value.name);
      if (delivery === undefined) continue;
      const next = nextDelivery(delivery, { kind: "deliver", by }, now, deliveryPolicyOf(settings));
      if (!next.ok) continue;
      await tx.deliveries.update(next.value);
      delivered++;
    }
    return ok({ delivered });
  },
};
