import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  backOff,
  type DeliveryEvent,
  defaultDeliveryPolicy,
  deliveryMoves,
  freshDelivery,
  nextDelivery,
  steerChannel,
} from "./delivery.ts";
import { type Delivery, type DeliveryState, deliveryStates } from "./types.ts";

const now = 1_000_000;
const fresh: Delivery = { ...freshDelivery, messageSeq: 7, toAgent: "b1", priorityRank: 2, wake: true, updatedAt: 0 };
const byTurn: DeliveryEvent = { kind: "claim", by: "turn-1", channel: "turn", turnId: "turn-1" };
const byReader: DeliveryEvent = { kind: "claim", by: "mcp-1", channel: "mcp", turnId: null };

function after(start: Delivery, ...events: readonly DeliveryEvent[]): Delivery {
  return events.reduce((delivery, event) => {
    const next = nextDelivery(delivery, event, now);
    if (!next.ok) throw new Error(`${event.kind} was refused in state ${delivery.state}`);
    return next.value;
  }, start);
}

describe("the state machine of a delivery", () => {
  const events: Record<DeliveryEvent["kind"], DeliveryEvent> = {
    claim: byTurn,
    deliver: { kind: "deliver", by: "r" },
    ack: { kind: "ack", by: "r" },
    release: { kind: "release", by: "r" },
    expire: { kind: "expire" },
    fail: { kind: "fail", by: "r", error: "no" },
    kill: { kind: "kill", error: "crashed" },
    cancel: { kind: "cancel", reason: "spawn undone" },
    retry: { kind: "retry" },
  };
  const grid = deliveryStates.flatMap((state) => Object.values(events).map((event) => [state, event] as const));
  test.each(grid)("from %s an event moves only as the table says: %j", (state, event) => {
    const held = state === "claimed" || state === "delivered";
    const delivery: Delivery = { ...fresh, state, claimedBy: held ? "r" : null, claimExpires: held ? now : null };
    const allowed: readonly DeliveryState[] = deliveryMoves[event.kind].from;
    const next = nextDelivery(delivery, event, now);
    if (allowed.includes(state)) {
      expect(next).toMatchObject({ ok: true, value: { state: deliveryMoves[event.kind].to, updatedAt: now } });
      return;
    }
    expect(next).toEqual({
      ok: false,
      refusal: { kind: "delivery-state", id: "7/b1", state, wanted: allowed.join(" or ") },
    });
  });

  test("a turn's claim has no lease, so it never expires", () => {
    const claimed = after(fresh, byTurn, { kind: "deliver", by: "turn-1" });
    expect(claimed).toMatchObject({ state: "delivered", claimExpires: null, turnId: "turn-1", deliveredAt: now });
    expect(nextDelivery(claimed, { kind: "expire" }, now + 10 ** 9)).toMatchObject({
      refusal: { wanted: "a lease that has run out" },
    });
  });

  test("a reader's claim expires with its lease, which starts again when the text is handed over", () => {
    const { leaseMs } = defaultDeliveryPolicy;
    const claimed = after(fresh, byReader);
    expect(claimed.claimExpires).toBe(now + leaseMs);
    const delivered = nextDelivery(claimed, { kind: "deliver", by: "mcp-1" }, now + 100);
    expect(delivered).toMatchObject({ value: { claimExpires: now + 100 + leaseMs } });
    expect(nextDelivery(claimed, { kind: "expire" }, now + leaseMs - 1).ok).toBe(false);
    expect(nextDelivery(claimed, { kind: "expire" }, now + leaseMs)).toMatchObject({
      value: { state: "queued", claimedBy: null, claimExpires: null, redelivered: true, attempts: 1 },
    });
  });

  test("mail that is not due cannot be claimed", () => {
    expect(nextDelivery({ ...fresh, notBefore: now + 1 }, byTurn, now)).toMatchObject({ refusal: { wanted: "due" } });
    expect(nextDelivery({ ...fresh, notBefore: now }, byTurn, now).ok).toBe(true);
  });

  test("a reader that lost the claim can neither acknowledge nor release nor fail it", () => {
    const claimed = after(fresh, byTurn);
    const late: readonly DeliveryEvent[] = [
      { kind: "deliver", by: "turn-0" },
      { kind: "ack", by: "turn-0" },
      { kind: "release", by: "turn-0" },
      { kind: "fail", by: "turn-0", error: "x" },
    ];
    for (const event of late) {
      expect(nextDelivery(claimed, event, now)).toMatchObject({ refusal: { wanted: "held by turn-1" } });
    }
  });

  test("released before it was handed over it is new mail; afterwards it is redelivered; neither is an attempt", () => {
    const release: DeliveryEvent = { kind: "release", by: "turn-1", notBefore: now + 5_000 };
    expect(after(fresh, byTurn, release)).toMatchObject({ redelivered: false, attempts: 0, notBefore: now + 5_000 });
    const seen = after(fresh, byTurn, { kind: "deliver", by: "turn-1" }, release);
    expect(seen).toMatchObject({ state: "queued", redelivered: true, attempts: 0, turnId: null, channel: null });
  });

  test("an acknowledgement without a recorded hand-over counts as both", () => {
    const acked = after(fresh, byTurn, { kind: "ack", by: "turn-1" });
    expect(acked).toMatchObject({ state: "acked", deliveredAt: now, ackedAt: now, claimedBy: null, turnId: "turn-1" });
  });

  test("five failures make it dead, and a retry starts again from nothing", () => {
    let delivery = fresh;
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 5; attempt++) {
      delivery = after({ ...delivery, notBefore: 0 }, byReader, { kind: "fail", by: "mcp-1", error: `e${attempt}` });
      waits.push(delivery.notBefore - now);
    }
    expect(waits.slice(0, 4)).toEqual([2_000, 4_000, 8_000, 16_000]);
    expect(delivery).toMatchObject({ state: "dead", attempts: 5, lastError: "e5", claimedBy: null });
    expect(after(delivery, { kind: "retry" })).toMatchObject({ state: "queued", attempts: 0, notBefore: now });
  });

  test("the back-off doubles up to five minutes", () => {
    expect([0, 1, 2, 7, 8, 50].map((n) => backOff(n))).toEqual([2_000, 4_000, 8_000, 256_000, 300_000, 300_000]);
  });

  test("no sequence of events acknowledges twice, leaves a claim on settled mail, or outlives its attempts", () => {
    const holders = fc.constantFrom("turn-1", "mcp-1");
    const anyEvent: fc.Arbitrary<DeliveryEvent> = fc.oneof(
      fc.constantFrom(byTurn, byReader),
      holders.map((by) => ({ kind: "deliver", by }) as const),
      holders.map((by) => ({ kind: "ack", by }) as const),
      holders.map((by) => ({ kind: "release", by }) as const),
      fc.constant({ kind: "expire" } as const),
      holders.map((by) => ({ kind: "fail", by, error: "e" }) as const),
      fc.constant({ kind: "retry" } as const),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(anyEvent, fc.nat(400_000)), { maxLength: 40 }), (steps) => {
        let delivery = fresh;
        let time = now;
        let acks = 0;
        for (const [event, wait] of steps) {
          time += wait;
          const next = nextDelivery(delivery, event, time);
          if (!next.ok) continue;
          if (next.value.state === "acked") acks++;
          delivery = next.value;
          const held = delivery.state === "claimed" || delivery.state === "delivered";
          expect(delivery.claimedBy !== null).toBe(held);
          expect(delivery.claimExpires !== null).toBe(held && delivery.turnId === null);
          expect(delivery.attempts < 5 || delivery.state === "dead").toBe(true);
        }
        expect(acks).toBeLessThanOrEqual(1);
      }),
    );
  });
});

test("mail that was written into a running turn comes back marked, for its model may have seen it", () => {
  const steered = after(fresh, { kind: "claim", by: "turn-1", channel: steerChannel, turnId: "turn-1" });
  expect(after(steered, { kind: "release", by: "turn-1" })).toMatchObject({ state: "queued", redelivered: true });
  expect(after(after(fresh, byTurn), { kind: "release", by: "turn-1" })).toMatchObject({ redelivered: false });
});
