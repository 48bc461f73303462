import type { Delivery } from "../../domain/mail/types.ts";
import { ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";
import { messageInSight } from "./in-sight.ts";
import { type MessageView, viewOf } from "./view.ts";

export interface StatusReply {
  readonly message: MessageView;
  readonly deliveries: readonly Delivery[];
}

/** How far a message has come with each of its recipients. */
export const mailStatus: UseCase<{ readonly id: string }, StatusReply> = {
  kind: "read",
  request: fields({ id: text }),
  guarded: true,
  run: async (tx, { caller }, { id }) => {
    const message = await messageInSight(tx, caller, id);
    if (!message.ok) return message;
    const deliveries = await tx.deliveries.ofMessage(message.value.seq);
    return ok({ message: viewOf(message.value, deliveries), deliveries });
  },
};
