import type { Caller } from "../../domain/caller/caller.ts";
import type { Delivery } from "../../domain/mail/types.ts";
import { agentName } from "../../domain/name/name.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import { ownerOf } from "./owner.ts";

export const inboxChannel = "inbox";

/** An inbox that the caller may read. */
export interface Inbox {
  readonly name: string;
  /** The running turn of the agent that reads its own inbox: the turn's end decides about what it took. Null: a lease does. */
  readonly turnId: string | null;
}

/** The inbox the caller means: its own, or for the operator anybody's. */
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

/** Was mail handed out of this inbox less than so many milliseconds ago? A clock set back silences nobody. */
export async function isDebounced(tx: Tx, inbox: Inbox, now: number, windowMs: number | undefined): Promise<boolean> {
  if (windowMs === undefined || windowMs <= 0) return false;
  const last = await tx.inboxChecks.last(inbox.name);
  return last !== undefined && last <= now && now - last < windowMs;
}
