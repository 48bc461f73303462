import type { Delivery } from "../../domain/mail/types.ts";
import { ok } from "../../domain/result.ts";
import { fields, whole } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";
import { namesInSight } from "./in-sight.ts";
import { type MessageView, viewOf } from "./view.ts";

export interface DeadReply {
  readonly dead: readonly { readonly message: MessageView; readonly delivery: Delivery }[];
}

const defaultLimit = 1_000;

/** Mail that was given up, newest first; one entry per recipient. An agent learns of what is in its sight. */
export const deadMail: UseCase<{ readonly limit?: number | undefined }, DeadReply> = {
  kind: "read",
  request: fields({}, { limit: whole }),
  run: async (tx, { caller }, { limit }) => {
    const found = await tx.deliveries.dead(limit ?? defaultLimit);
    const inSight = await namesInSight(tx, caller);
    const shown = found.filter(
      ({ message, delivery }) =>
        inSight?.some((name) => name === message.fromAgent || name === delivery.toAgent) ?? true,
    );
    return ok({
      dead: shown.map(({ message, delivery }) => ({
        message: viewOf(message, [delivery], delivery.toAgent),
        delivery,
      })),
    });
  },
};
