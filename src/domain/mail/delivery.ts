import type { Refusal } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import type { Delivery, DeliveryState } from "./types.ts";

export interface DeliveryPolicy {
  /** How long an inbox, hook or MCP reader may hold mail before it counts as lost. */
  readonly leaseMs: number;
  readonly maxAttempts: number;
  readonly backOffMs: number;
  readonly maxBackOffMs: number;
}

export const defaultDeliveryPolicy: DeliveryPolicy = {
  leaseMs: 300_000,
  maxAttempts: 5,
  backOffMs: 2_000,
  maxBackOffMs: 300_000,
};

/**
 * `by` is the reader or turn that holds or takes the claim; a holder that has lost it cannot move the delivery any
 * more.
 */
export type DeliveryEvent =
  | { readonly kind: "claim"; readonly by: string; readonly channel: string; readonly turnId: string | null }
  | { readonly kind: "deliver"; readonly by: string }
  | { readonly kind: "ack"; readonly by: string }
  | { readonly kind: "release"; readonly by: string; readonly notBefore?: number }
  | { readonly kind: "expire" }
  | { readonly kind: "fail"; readonly by: string; readonly error: string }
  | { readonly kind: "kill"; readonly error: string }
  | { readonly kind: "cancel"; readonly reason: string }
  | { readonly kind: "retry" };

/**
 * The state machine of a delivery.
 *
 *   claim    queued                      -> claimed    a turn (no lease) or a reader (with a lease) takes it, once due
 *   deliver  claimed                     -> delivered  the text was handed over: written to stdin, printed, returned
 *   ack      queued, claimed, delivered  -> acked      the model ran with it; from queued: marked read by other means
 *   release  claimed, delivered          -> queued     the holder gives it back; no attempt is counted
 *   expire   claimed, delivered          -> queued     the reader's lease ran out; counts as a failed attempt
 *   fail     claimed, delivered          -> queued     with back-off; or dead when the attempts are used up
 *   kill     queued, claimed, delivered  -> dead       no reader is left
 *   cancel   queued, claimed, delivered  -> cancelled  withdrawn, or handed on to another recipient
 *   retry    dead                        -> queued     a person asked; attempts start again
 *
 * `acked` and `cancelled` are final. `expire`, too, ends in dead when the attempts are used up, so that mail that kills
 * its reader stops doing so.
 */
export const deliveryMoves = {
  claim: { from: ["queued"], to: "claimed" },
  deliver: { from: ["claimed"], to: "delivered" },
  ack: { from: ["queued", "claimed", "delivered"], to: "acked" },
  release: { from: ["claimed", "delivered"], to: "queued" },
  expire: { from: ["claimed", "delivered"], to: "queued" },
  fail: { from: ["claimed", "delivered"], to: "queued" },
  kill: { from: ["queued", "claimed", "delivered"], to: "dead" },
  cancel: { from: ["queued", "claimed", "delivered"], to: "cancelled" },
  retry: { from: ["dead"], to: "queued" },
} as const satisfies Record<
  DeliveryEvent["kind"],
  { readonly from: readonly DeliveryState[]; readonly to: DeliveryState }
>;

/** The delivery after an event, or why the event cannot happen to it. The only rule that changes a delivery. */
export function nextDelivery(
  delivery: Delivery,
  event: DeliveryEvent,
  now: number,
  policy: DeliveryPolicy = defaultDeliveryPolicy,
): Result<Delivery, Refusal> {
  const move: { readonly from: readonly DeliveryState[]; readonly to: DeliveryState } = deliveryMoves[event.kind];
  if (!move.from.includes(delivery.state)) return refuse(delivery, move.from.join(" or "));
  const obstacle = obstacleTo(delivery, event, now);
  if (obstacle !== undefined) return refuse(delivery, obstacle);
  return ok({ ...delivery, state: move.to, updatedAt: now, ...changeBy(delivery, event, now, policy) });
}

function refuse(delivery: Delivery, wanted: string): Result<Delivery, Refusal> {
  const id = `${delivery.messageSeq}/${delivery.toAgent}`;
  return no({ kind: "delivery-state", id, state: delivery.state, wanted });
}

function obstacleTo(delivery: Delivery, event: DeliveryEvent, now: number): string | undefined {
  if (event.kind === "claim") return delivery.notBefore > now ? "due" : undefined;
  if (event.kind === "expire") {
    const over = delivery.claimExpires !== null && delivery.claimExpires <= now;
    return over ? undefined : "a lease that has run out";
  }
  const held = "by" in event && delivery.claimedBy !== null && delivery.claimedBy !== event.by;
  return held ? `held by ${delivery.claimedBy}` : undefined;
}

/** Of mail that was written into the input of a running turn. Until that is confirmed, its model may have seen it. */
export const steerChannel = "steer";

const unclaimed = { claimedBy: null, claimExpires: null } as const;
const requeued = { ...unclaimed, turnId: null, channel: null } as const;

function changeBy(delivery: Delivery, event: DeliveryEvent, now: number, policy: DeliveryPolicy): Partial<Delivery> {
  const lease = now + policy.leaseMs;
  switch (event.kind) {
    case "claim": {
      const { by: claimedBy, channel, turnId } = event;
      return { claimedBy, channel, turnId, claimExpires: turnId === null ? lease : null };
    }
    case "deliver":
      return { deliveredAt: now, claimExpires: delivery.claimExpires === null ? null : lease };
    case "ack":
      return { ...unclaimed, ackedAt: now, deliveredAt: delivery.deliveredAt ?? now };
    case "release": {
      const seen = delivery.redelivered || delivery.state === "delivered" || delivery.channel === steerChannel;
      return { ...requeued, redelivered: seen, notBefore: event.notBefore ?? delivery.notBefore };
    }
    case "expire":
      return failed(delivery, `${delivery.claimedBy} never confirmed it`, now, policy);
    case "fail":
      return failed(delivery, event.error, now, policy);
    case "kill":
      return { ...unclaimed, lastError: event.error };
    case "cancel":
      return { ...unclaimed, lastError: event.reason };
    case "retry":
      return { ...requeued, attempts: 0, notBefore: now };
  }
}

/** The text may have reached the model before the failure, so a later delivery says so. */
function failed(delivery: Delivery, error: string, now: number, policy: DeliveryPolicy): Partial<Delivery> {
  const attempts = delivery.attempts + 1;
  const base = { attempts, lastError: error, redelivered: true };
  if (attempts >= policy.maxAttempts) return { ...base, ...unclaimed, state: "dead" };
  return { ...base, ...requeued, notBefore: now + backOff(delivery.attempts, policy) };
}

/** 2 s, 4 s, 8 s ... capped. */
export function backOff(failuresBefore: number, policy: DeliveryPolicy = defaultDeliveryPolicy): number {
  return Math.min(policy.backOffMs * 2 ** failuresBefore, policy.maxBackOffMs);
}

/** The first state of every delivery, whichever recipient it is for. */
export const freshDelivery = {
  state: "queued",
  wakeReason: null,
  attempts: 0,
  notBefore: 0,
  claimedBy: null,
  claimExpires: null,
  turnId: null,
  channel: null,
  redelivered: false,
  deliveredAt: null,
  ackedAt: null,
  lastError: null,
} as const;
