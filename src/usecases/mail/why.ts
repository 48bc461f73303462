import { hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import type { Delivery, Message } from "../../domain/mail/types.ts";
import { type Explanation, explainDelivery, type WhyRecipient } from "../../domain/mail/why.ts";
import { ok } from "../../domain/result.ts";
import { fields, flag, text } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { parkedOf } from "../agents/parked.ts";
import type { Context, UseCase } from "../usecase.ts";
import { messageInSight } from "./in-sight.ts";

export interface WhyRequest {
  readonly id: string;
  /** Known to the surface that asks; taken as running when absent. */
  readonly engineRunning?: boolean | undefined;
}

export interface WhyReply {
  readonly id: string;
  readonly recipients: readonly ({ readonly to: string; readonly state: Delivery["state"] } & Explanation)[];
}

/** Why a message has or has not been seen, for each recipient, and what to type about it. */
export const whyMail: UseCase<WhyRequest, WhyReply> = {
  kind: "read",
  request: fields({ id: text }, { engineRunning: flag }),
  guarded: true,
  run: async (tx, context, { id, engineRunning = true }) => {
    const { caller, now } = context;
    const found = await messageInSight(tx, caller, id);
    if (!found.ok) return found;
    const deliveries = await tx.deliveries.ofMessage(found.value.seq);
    const recipients: WhyReply["recipients"][number][] = [];
    for (const delivery of deliveries) {
      const recipient = await recipientOf(tx, context, delivery.toAgent);
      const forwardedTo = heirOf(found.value, delivery, deliveries);
      const facts = { messageId: id, delivery, recipient, forwardedTo, engineRunning, now };
      recipients.push({ to: delivery.toAgent, state: delivery.state, ...explainDelivery(facts) });
    }
    return ok({ id, recipients });
  },
};

async function recipientOf(tx: Tx, context: Context, name: string): Promise<WhyRecipient | null> {
  const agent = await tx.agents.byName(name);
  if (agent === undefined) return null;
  if (hasEnded(agent)) {
    return { ended: isSubmitted(agent) ? "submitted" : agent.state, runningTurn: null, parked: null };
  }
  if (agent.topology !== "per_turn") return null;
  const running = await tx.turns.runningFor(agent.id);
  return { ended: null, runningTurn: running?.id ?? null, parked: await parkedOf(tx, context, agent) };
}

/** Who reads instead of an addressee that had ended. */
function heirOf(message: Message, delivery: Delivery, all: readonly Delivery[]): string | null {
  if (delivery.state !== "cancelled" || delivery.toAgent !== message.address) return null;
  return all.find(({ state }) => state !== "cancelled")?.toAgent ?? null;
}
