import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";
import { findMessage } from "./find-message.ts";
import { wakeUp } from "./post.ts";
import { viewOf } from "./view.ts";

export interface RetryReply {
  readonly id: string;
  readonly requeued: readonly string[];
}

/** Gives dead mail another round of attempts: for the operator, or for the parent of the one who should read it. */
export const retryMail: UseCase<{ readonly id: string }, RetryReply> = {
  kind: "write",
  request: fields({ id: text }),
  run: async (tx, { caller, now, ids }, { id }) => {
    const message = await findMessage(tx, id);
    if (!message.ok) return message;
    const deliveries = await tx.deliveries.ofMessage(message.value.seq);
    const requeued: string[] = [];
    let refused: Refusal | undefined;
    for (const delivery of deliveries.filter(({ state }) => state === "dead")) {
      const reader = await tx.agents.byName(delivery.toAgent);
      const obstacle = obstacleTo(caller, delivery.toAgent, reader);
      refused ??= obstacle;
      const next = nextDelivery(delivery, { kind: "retry" }, now);
      if (obstacle !== undefined || !next.ok) continue;
      await tx.deliveries.update(next.value);
      if (next.value.wake) await wakeUp(tx, ids, delivery.toAgent, 0, now);
      requeued.push(delivery.toAgent);
    }
    if (requeued.length > 0) return ok({ id, requeued });
    const { state } = viewOf(message.value, deliveries);
    return no(refused ?? { kind: "delivery-state", id, state, wanted: "dead" });
  },
};

function obstacleTo(caller: Caller, name: string, reader: Agent | undefined): Refusal | undefined {
  if (caller.kind === "agent" && reader?.parentName !== caller.name) {
    const why = `only the operator and the parent of ${name} may`;
    return { kind: "not-allowed", action: `retry mail to ${name}`, caller: caller.name, why };
  }
  if (reader === undefined || !hasEnded(reader)) return undefined;
  return { kind: "recipient-ended", name, state: reader.state, reopening: [] };
}
