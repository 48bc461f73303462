import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, flag, text, whole } from "../../domain/schema/schema.ts";
import { record } from "../events/record.ts";
import { keepGoing } from "../runs/keep-going.ts";
import type { UseCase } from "../usecase.ts";
import { ownerOf } from "./inbox.ts";

export interface PurgeRequest {
  /** Everything; the other two are then ignored. */
  readonly all?: boolean | undefined;
  /** Only messages older than so many days. */
  readonly days?: number | undefined;
  /** Only messages of before this moment. */
  readonly before?: number | undefined;
  /** Only messages that this name sent or received. */
  readonly agent?: string | undefined;
}

export interface PurgeReply {
  readonly purged: number;
}

const dayMs = 86_400_000;

/** Deletes messages with all their deliveries, and records how many. */
export const purgeMail: UseCase<PurgeRequest, PurgeReply> = {
  kind: "write",
  request: fields({}, { all: flag, days: whole, before: whole, agent: text }),
  operatorOnly: true,
  run: async (tx, context, { all, days, before, agent }) => {
    const { caller, now } = context;
    if (all !== true && days === undefined && before === undefined && agent === undefined) {
      return no(invalid("purge", "needs --all, --days or --agent"));
    }
    if (days !== undefined && !(Number.isInteger(days) && days > 0)) {
      return no(invalid("days", "must be a whole number above 0", { value: String(days) }));
    }
    const chosen = {
      ...(before === undefined ? {} : { before }),
      ...(days === undefined ? {} : { before: now - days * dayMs }),
      ...(agent === undefined ? {} : { agent: await ownerOf(tx, agent) }),
    };
    const purged = await tx.messages.purge(all === true ? { all } : chosen);
    // A question that no longer exists can never be answered.
    await keepGoing(tx, context, null);
    const detail = { ...(all === true ? { all } : { days, before, agent }), purged };
    await record(tx, now, { source: "operator", type: "mail_purged", data: detail });
    await tx.audit.record({
      caller: caller.name,
      action: "mail.purge",
      refused: false,
      detail: JSON.stringify(detail),
      now,
    });
    return ok({ purged });
  },
};
