import { hasEnded } from "../../domain/agent/agent.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import type { Delivery, Message } from "../../domain/mail/types.ts";
import { agentName } from "../../domain/name/name.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, text, whole } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import type { Stream } from "../operation.ts";
import type { UseCase } from "../usecase.ts";

export const inboxChannel = "inbox";

/** An inbox that the caller may read. */
export interface Inbox {
  readonly name: string;
  /**
   * The running turn of an agent that reads its own inbox: its end settles the mail it took. Null: a lease settles it.
   */
  readonly turnId: string | null;
}

/** The inbox that the caller names: its own, or for the operator that of any agent. */
export async function openInbox(tx: Tx, caller: Caller, named?: string): Promise<Result<Inbox, Refusal>> {
  if (caller.kind === "agent") {
    if (named !== undefined && named.trim().toLowerCase() !== caller.name) {
      const why = "an agent reads its own inbox";
      return no({ kind: "not-allowed", action: `read the inbox of ${named}`, caller: caller.name, why });
    }
    return ok({ name: caller.name, turnId: (await tx.turns.runningFor(caller.agentId))?.id ?? null });
  }
  if (named === undefined) return ok({ name: caller.name, turnId: null });
  const valid = agentName(named.trim().toLowerCase(), "agent");
  return valid.ok ? ok({ name: await ownerOf(tx, valid.value), turnId: null }) : valid;
}

/** It was handed to this reader before: coming back is the proof that it arrived. */
export const wasHandedOver = ({ turnId }: Inbox, delivery: Delivery): boolean =>
  delivery.state === "delivered" && delivery.channel === inboxChannel && delivery.turnId === turnId;

/** Its reader held it for longer than the lease, and did not come back. */
export const hasRunOut = (delivery: Delivery, now: number): boolean =>
  delivery.claimExpires !== null && delivery.claimExpires <= now;

/** Was mail handed out of this inbox less than so many milliseconds ago? A clock that was set back does not count. */
export async function isDebounced(tx: Tx, inbox: Inbox, now: number, windowMs: number | undefined): Promise<boolean> {
  if (windowMs === undefined || windowMs <= 0) return false;
  const last = await tx.inboxChecks.last(inbox.name);
  return last !== undefined && last <= now && now - last < windowMs;
}

/**
 * The owner of the inbox of this name. `orchestrator` is the operator while no agent of that name lives, so that a person's own
 * session gets the mail of those it started.
 */
export async function ownerOf(tx: Tx, name: string): Promise<string> {
  const typed = name.trim().toLowerCase();
  if (typed !== "orchestrator") return typed;
  const agent = await tx.agents.byName(typed);
  return agent === undefined || hasEnded(agent) ? "operator" : typed;
}

export interface PeekRequest {
  /** The owner of the inbox; the caller when absent. */
  readonly agent?: string | undefined;
  readonly debounceMs?: number | undefined;
}

export interface PeekReply {
  readonly inbox: string;
  /** True when an agent asks: the end of its turn settles the mail it takes. */
  readonly byAgent: boolean;
  /** `mail.check` would find or change something. */
  readonly waiting: boolean;
  readonly debounced: boolean;
  /** The number of messages that no reader has taken yet. */
  readonly unread: number;
}

/** Looks whether an inbox is worth opening. Most looks of a hook end here, without a writer's lock. */
export const peekMail: UseCase<PeekRequest, PeekReply> = {
  kind: "read",
  request: fields({}, { agent: text, debounceMs: whole }),
  run: async (tx, { caller, now }, { agent, debounceMs }) => {
    const opened = await openInbox(tx, caller, agent);
    if (!opened.ok) return opened;
    const inbox = opened.value;
    const about = { inbox: inbox.name, byAgent: caller.kind === "agent" };
    if (await isDebounced(tx, inbox, now, debounceMs)) {
      return ok({ ...about, waiting: false, debounced: true, unread: 0 });
    }
    // Messages are not read: hooks ask after every tool call, and mostly there is nothing.
    const due = await tx.deliveries.isDue(inbox.name, now);
    const open = due ? [] : await tx.deliveries.handedOut(inbox.name);
    const unsettled = open.some((delivery) => wasHandedOver(inbox, delivery) || hasRunOut(delivery, now));
    const unread = due ? await tx.deliveries.countQueued(inbox.name) : 0;
    return ok({ ...about, waiting: due || unsettled, debounced: false, unread });
  },
};

/** Waits until there is mail, the time is over, or the caller has left. Looking takes no lock. */
export const followMail: Stream<
  { readonly patienceMs: number },
  { readonly waiting: boolean },
  { readonly waiting: false }
> = {
  kind: "stream",
  request: fields({ patienceMs: whole }),
  place: "engine",
  run: async (world, { patienceMs }, { onItem, signal }) => {
    const deadline = performance.now() + patienceMs;
    return world.until(
      async () => {
        const peeked = await world.call("mail.peek", {});
        if (!peeked.ok) return peeked;
        const { waiting } = peeked.value;
        if (waiting || signal.aborted || performance.now() >= deadline) return ok({ waiting });
        onItem({ waiting: false });
        return undefined;
      },
      AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
    );
  },
};

/** Settles the delivery of a message to this reader, if there is an open one. */
export async function markRead(tx: Tx, now: number, { seq }: Pick<Message, "seq">, reader: string): Promise<void> {
  const delivery = await tx.deliveries.get(seq, reader);
  if (delivery === undefined) return;
  const acked = nextDelivery(delivery, { kind: "ack", by: delivery.claimedBy ?? reader }, now);
  if (acked.ok) await tx.deliveries.update(acked.value);
}
