import { expect } from "bun:test";
import { nextDelivery } from "../../../src/domain/mail/delivery.ts";
import type { Store } from "../../../src/ports/store.ts";
import type { Check } from "./database.ts";
import { aMessage, anAgent, noon, seed, send } from "./rows.ts";
import { aMoment, linger } from "./transactions.ts";

export function concurrencyPromises(check: Check): void {
  check("of fifty who ask for five seats at once exactly five get one", async ({ store, another }) => {
    await seed(store);
    const stores = [store, await another(), await another()];
    const admit = (target: Store, name: string): Promise<boolean> =>
      target.transaction(async (tx) => {
        const live = await tx.agents.list({ runId: "r1", live: true });
        if (live.length >= 5) return false;
        await tx.agents.reserve(anAgent(name));
        await tx.events.append([{ source: "engine", type: "seat", createdAt: noon, agentName: name }]);
        return true;
      });
    const asked = Array.from({ length: 50 }, (_, index) => admit(stores[index % stores.length] ?? store, `b${index}`));
    const admitted = (await Promise.all(asked)).filter(Boolean);
    expect(admitted).toHaveLength(5);
    await store.read(async (tx) => {
      expect(await tx.agents.list({ live: true })).toHaveLength(5);
      expect(await tx.events.after(0, 100)).toHaveLength(5);
    });
  });

  check("two readers of one inbox never get the same message", async ({ store, another }) => {
    for (let n = 0; n < 30; n++) await send(store, aMessage(`m${n}`), ["b1"]);
    const claim = (target: Store, by: string): Promise<string[]> =>
      target.transaction(async (tx) => {
        const taken: string[] = [];
        for (const { message, delivery } of await tx.deliveries.queued("b1", noon, 4)) {
          const claimed = nextDelivery(delivery, { kind: "claim", by, channel: "inbox", turnId: null }, noon);
          if (!claimed.ok) throw new Error("queued mail could not be claimed");
          await tx.deliveries.update(claimed.value);
          taken.push(message.id);
        }
        return taken;
      });
    const drain = async (target: Store, by: string): Promise<string[]> => {
      const all: string[] = [];
      for (let batch = await claim(target, by); batch.length > 0; batch = await claim(target, by)) all.push(...batch);
      return all;
    };
    const other = await another();
    const [one, two, three] = await Promise.all([drain(store, "one"), drain(other, "two"), drain(other, "three")]);
    const all = [...one, ...two, ...three];
    expect(all.sort()).toEqual(Array.from({ length: 30 }, (_, n) => `m${n}`).sort());
  });

  check("a cursor reader misses nothing, also of a writer whose commit is late", async ({ store, another }) => {
    const [slow, quick] = [await another(), await another()];
    const append = (type: string) => ({ source: "engine", type, createdAt: noon }) as const;
    const started = Promise.withResolvers<void>();
    let writing = true;
    const writers = Promise.all([
      slow.transaction(async (tx) => {
        await tx.events.append([append("slow 1")]);
        started.resolve();
        await linger(tx, 400);
        await tx.events.append([append("slow 2")]);
      }),
      started.promise.then(async () => {
        for (let n = 0; n < 5; n++) await quick.transaction((tx) => tx.events.append([append(`quick ${n}`)]));
      }),
    ]).finally(() => {
      writing = false;
    });

    const seen: string[] = [];
    let cursor = 0;
    const look = async (): Promise<void> => {
      for (const event of await store.read((tx) => tx.events.after(cursor, 100))) {
        seen.push(event.type);
        cursor = event.seq;
      }
    };
    while (writing) {
      await look();
      await aMoment();
    }
    await writers;
    await look();
    expect(seen.toSorted()).toEqual(["quick 0", "quick 1", "quick 2", "quick 3", "quick 4", "slow 1", "slow 2"]);
    expect(seen.filter((type) => type.startsWith("quick"))).toEqual(Array.from({ length: 5 }, (_, n) => `quick ${n}`));
  });

  check("messages stored by many at once are numbered in the order they become visible", async ({ store, another }) => {
    const stores = [await another(), await another()];
    let writing = true;
    const writers = Promise.all(
      Array.from({ length: 24 }, (_, n) =>
        (stores[n % 2] ?? store).transaction(async (tx) => {
          await tx.messages.insert(aMessage(`m${n}`));
          await linger(tx, n % 7);
        }),
      ),
    ).finally(() => {
      writing = false;
    });
    const known = new Set<string>();
    const late: number[] = [];
    let highest = 0;
    const look = async (): Promise<void> => {
      const fresh = (await store.read((tx) => tx.messages.list({}))).filter((message) => !known.has(message.id));
      for (const { id, seq } of fresh) {
        known.add(id);
        if (seq < highest) late.push(seq);
      }
      highest = Math.max(highest, ...fresh.map((message) => message.seq));
    };
    while (writing) {
      await look();
      await aMoment();
    }
    await writers;
    await look();
    expect(late).toEqual([]);
    expect(known.size).toBe(24);
  });
}
