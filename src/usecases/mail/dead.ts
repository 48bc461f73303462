import type { Delivery } from "../../domain/mail/types.ts";
import { ok } from "../../domain/result.ts";
import type { UseCase } from "../usecase.ts";
import { type MessageView, viewOf } from "./view.ts";

export interface DeadReply {
  readonly dead: readonly { readonly message: MessageView; readonly delivery: Delivery }[];
}

const defaultLimit = 1_000;

/** Mail that was given up, newest first; one entry per recipient. */
export const deadMail: UseCase<{ readonly limit?: number | undefined }, DeadReply> = {
  access: "read",
  run: async (tx, _context, { limit }) => {
    const found = await tx.deliveries.dead(limit ?? defaultLimit);
    return ok({
      dead: found.map(({ message, delivery }) => ({
        message: viewOf(message, [delivery], delivery.toAgent),
        delivery,
      })),
    });
  },
};
