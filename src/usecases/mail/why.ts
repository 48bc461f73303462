import { type Agent, hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import type { Delivery, Message } from "../../domain/mail/types.ts";
import { type Explanation, explainDelivery, type WhyRecipient } from "../../domain/mail/why.ts";
import { ok } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";
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
  access: "read",
  guarded: true,
  run: async (tx, { caller, now }, { id, engineRunning = true }) => {
    const found = await messageInSight(tx, caller, id);
    if (!found.ok) return found;
    const deliveries = await tx.deliveries.ofMessage(found.value.seq);
    const recipients: WhyReply["recipients"][number][] = [];
    for (const delivery of deliveries) {
      const recipient = await recipientOf(tx, delivery.toAgent, now);
      const forwardedTo = heirOf(found.value, delivery, deliveries);
      const facts = { messageId: id, delivery, recipient, forwardedTo, engineRunning, now };
      recipients.push({ to: delivery.toAgent, state: delivery.state, ...explainDelivery(facts) });
    }
    return ok({ id, recipients });
  },
};

async function recipientOf(tx: Tx, name: string, now: number): Promise<WhyRecipient | null> {
  const agent = await tx.agents.byName(name);
  if (agent === undefined) return null;
  if (hasEnded(agent)) {
    return { ended: isSubmitted(agent) ? "submitted" : agent.state, runningTurn: null, parked: null };
  }
  if (agent.topology !== "per_turn") return null;
  const running = await tx.turns.runningFor(agent.id);
  return { ended: null, runningTurn: running?.id ?? null, parked: await parkedOf(tx, agent, now) };
}

/** A retry keeps its time whatever mail comes in, so until then nothing starts the agent. */
async function parkedOf(tx: Tx, agent: Agent, now: number): Promise<WhyRecipient["parked"]> {
  if (agent.stopRequestedBy !== null) return { reason: "it is being stopped", until: null };
  const waits = await tx.waits.of(agent.name);
  if (waits.some(({ kind }) => kind === "operator")) return { reason: "it is paused", until: null };
  const budget = waits.find(({ kind }) => kind === "budget");
  if (budget !== undefined) return { reason: `its budget ${budget.ref} is used up`, until: budget.deadline };
  const queued = await tx.turns.queuedFor(agent.id);
  if (queued === undefined || queued.trigger !== "retry" || queued.notBefore <= now) return null;
  return { reason: "its last turn failed or met a rate limit", until: queued.notBefore };
}

/** Who reads instead of an addressee that had ended. */
function heirOf(message: Message, delivery: Delivery, all: readonly Delivery[]): string | null {
  if (delivery.state !== "cancelled" || delivery.toAgent !== message.address) return null;
  return all.find(({ state }) => state !== "cancelled")?.toAgent ?? null;
}
