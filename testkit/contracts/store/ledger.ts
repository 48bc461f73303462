import { expect } from "bun:test";
import fc from "fast-check";
import { type DeliveryEvent, type DeliveryPolicy, nextDelivery } from "../../../src/domain/mail/delivery.ts";
import { type Delivery, priorities, priorityRank } from "../../../src/domain/mail/types.ts";
import type { Store, Tx } from "../../../src/ports/store.ts";
import type { Check } from "./database.ts";
import { aDelivery, aMessage, noon } from "./rows.ts";

const policy: DeliveryPolicy = { leaseMs: 100, maxAttempts: 3, backOffMs: 20, maxBackOffMs: 50 };

/** Readers 0 and 1 hold a lease that runs out; readers 2 and 3 are turns, whose claims end only with the turn. */
const reader = fc.nat(3);
const inbox = fc.nat(1);
const step = fc.oneof(
  fc.record({ do: fc.constant("send"), priority: fc.constantFrom(...priorities), inbox }),
  fc.record({ do: fc.constant("claim"), reader, inbox, limit: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant("ack"), reader }),
  fc.record({ do: fc.constant("crash"), reader }),
  fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(5, 30, 120) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

export function ledgerPromises(check: Check): void {
  check(
    "no history of sending, claiming, acknowledging, expiring and crashing loses or doubles a delivery",
    async ({ store, another }) => {
      const stores = [store, await another()];
      let histories = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
          const world = makeWorld(stores, `h${++histories}`);
          for (const each of steps) await world.perform(each);
          await world.drain();
        }),
        { numRuns: 30 },
      );
    },
    60_000,
  );
}

/** One history: what the store was asked to do, and what a reader at the table would remember of it. */
function makeWorld(stores: readonly Store[], history: string) {
  const sent = new Set<string>();
  const acked = new Set<string>();
  const holders = new Map<string, string>();
  const memory = new Map<string, Delivery[]>();
  let now = noon;
  let turns = 0;
  let used = 0;

  const store = (): Store => stores[used++ % stores.length] as Store;
  const keyOf = (delivery: Delivery): string => `${delivery.messageSeq}`;
  const nameOf = (index: number): string => `${history}-inbox-${index}`;
  const readerOf = (index: number): string => `${history}-reader-${index}`;

  const send = async (to: string, priority: (typeof priorities)[number]): Promise<void> => {
    const seq = await store().transaction(async (tx) => {
      const made = await tx.messages.insert(aMessage(`${history}-m${sent.size}`, { priority, address: to }));
      await tx.deliveries.insert([aDelivery(made, to, { priorityRank: priorityRank[priority], notBefore: now })]);
      return made;
    });
    sent.add(`${seq}`);
  };

  const claim = async (by: string, isTurn: boolean, from: string, limit: number): Promise<void> => {
    const turnId = isTurn ? `${by}-turn-${++turns}` : null;
    const claimed = await store().transaction(async (tx) => {
      const due = (await tx.deliveries.queued(from, now, 1000)).map((mail) => mail.delivery);
      expect(due).toEqual(due.toSorted((a, b) => a.priorityRank - b.priorityRank || a.messageSeq - b.messageSeq));
      const taken = await tx.deliveries.queued(from, now, limit);
      expect(taken.map((mail) => mail.delivery)).toEqual(due.slice(0, limit));
      const made: Delivery[] = [];
      for (const { delivery } of taken) {
        made.push(await move(tx, delivery, { kind: "claim", by, channel: "inbox", turnId }));
      }
      return made;
    });
    for (const delivery of claimed) {
      expect(holders.get(keyOf(delivery))).toBeUndefined();
      expect(acked.has(keyOf(delivery))).toBe(false);
      holders.set(keyOf(delivery), by);
    }
    memory.set(by, [...(memory.get(by) ?? []), ...claimed]);
  };

  /** Acknowledges everything the reader believes it holds; a claim it has lost meanwhile may be refused. */
  const ack = async (by: string): Promise<void> => {
    for (const { messageSeq, toAgent } of memory.get(by) ?? []) {
      const done = await store().transaction(async (tx) => {
        const current = await tx.deliveries.get(messageSeq, toAgent);
        if (current === undefined) throw new Error("a delivery is lost");
        const next = nextDelivery(current, { kind: "ack", by }, now, policy);
        if (next.ok) await tx.deliveries.update(next.value);
        return next.ok;
      });
      if (!done) continue;
      expect(acked.has(`${messageSeq}`)).toBe(false);
      acked.add(`${messageSeq}`);
      holders.delete(`${messageSeq}`);
    }
    memory.delete(by);
  };

  /** The reader forgets; of a lost turn the claims are given back, a lease runs out by itself. */
  const crash = async (by: string): Promise<void> => {
    const turnIds = new Set((memory.get(by) ?? []).map((delivery) => delivery.turnId));
    memory.delete(by);
    for (const turnId of turnIds) {
      if (turnId === null) continue;
      await store().transaction(async (tx) => {
        for (const { delivery } of await tx.deliveries.ofTurn(turnId)) {
          if (delivery.state !== "claimed") continue;
          await move(tx, delivery, { kind: "fail", by, error: "the turn was lost" });
          holders.delete(keyOf(delivery));
        }
      });
    }
  };

  const wait = async (ms: number): Promise<void> => {
    now += ms;
    await store().transaction(async (tx) => {
      for (const delivery of await tx.deliveries.expired(now, 1000)) {
        if (!delivery.toAgent.startsWith(`${history}-`)) continue;
        await move(tx, delivery, { kind: "expire" });
        holders.delete(keyOf(delivery));
      }
    });
  };

  const move = async (tx: Tx, delivery: Delivery, event: DeliveryEvent): Promise<Delivery> => {
    const next = nextDelivery(delivery, event, now, policy);
    if (!next.ok) throw new Error(`${event.kind} was refused: ${JSON.stringify(next.refusal)}`);
    await tx.deliveries.update(next.value);
    return next.value;
  };

  const perform = async (each: Step): Promise<void> => {
    if ("priority" in each) return send(nameOf(each.inbox), each.priority);
    if ("limit" in each) return claim(readerOf(each.reader), each.reader >= 2, nameOf(each.inbox), each.limit);
    if ("ms" in each) return wait(each.ms);
    return each.do === "ack" ? ack(readerOf(each.reader)) : crash(readerOf(each.reader));
  };

  /** All readers crash, time passes, and one last reader takes the rest: each delivery is then acked once, or dead. */
  const drain = async (): Promise<void> => {
    for (let index = 0; index < 4; index++) await crash(readerOf(index));
    await wait(policy.leaseMs);
    await wait(policy.maxBackOffMs);
    for (const index of [0, 1]) await claim(`${history}-last`, false, nameOf(index), 1000);
    await ack(`${history}-last`);
    const ended = new Map<string, number>();
    await store().read(async (tx) => {
      for (const index of [0, 1]) {
        for (const state of ["queued", "claimed", "delivered", "acked", "dead", "cancelled"] as const) {
          for (const { delivery } of await tx.deliveries.inState(nameOf(index), [state])) {
            ended.set(keyOf(delivery), (ended.get(keyOf(delivery)) ?? 0) + 1);
            if (state === "acked") expect(acked.has(keyOf(delivery))).toBe(true);
            else expect(delivery).toMatchObject({ state: "dead", attempts: policy.maxAttempts });
          }
        }
      }
    });
    expect([...ended.keys()].toSorted()).toEqual([...sent].toSorted());
    expect([...ended.values()].every((count) => count === 1)).toBe(true);
  };

  return { perform, drain };
}
