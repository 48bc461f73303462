import { expect } from "bun:test";
import {
  type Delivery,
  deliveryStates,
  type Message,
  type Priority,
  priorityRank,
} from "../../../src/domain/mail/types.ts";
import type { MessageFilter } from "../../../src/ports/store/mail.ts";
import type { Check } from "./database.ts";
import { aDelivery, aMessage, anAgent, aRun, noon, seed, send } from "./rows.ts";
import { rejection } from "./transactions.ts";

export function mailPromises(check: Check): void {
  check("files with long bodies are in use by their name, wherever they lie", async ({ store }) => {
    await store.transaction((tx) => tx.messages.insert({ ...aMessage("m-blob"), blobPath: "/elsewhere/abc.txt" }));
    const used = await store.read((tx) => tx.messages.blobsInUse(["abc.txt", "def.txt"]));
    expect([...used]).toEqual(["abc.txt"]);
    expect((await store.read((tx) => tx.messages.blobsInUse([]))).size).toBe(0);
  });

  check("a message comes back as it was sent, by number, id and dedupe key", async ({ store }) => {
    const sent = aMessage("m1", {
      fromAgentId: "lead-1",
      turnId: "t1",
      type: "worker_done",
      priority: "urgent",
      threadId: "m0",
      replyTo: "m0",
      hop: 3,
      payload: '{"taskId":"T1"}',
      dedupeKey: "once",
      expectsReply: true,
      verified: false,
      blobPath: "blobs/m1",
    });
    await store.transaction(async (tx) => {
      const seq = await tx.messages.insert(sent);
      expect(await tx.messages.get("m1")).toEqual({ seq, ...sent });
      expect(await tx.messages.bySeq(seq)).toEqual({ seq, ...sent });
      expect((await tx.messages.byDedupeKey("lead", "once"))?.id).toBe("m1");
      expect(await tx.messages.byDedupeKey("other", "once")).toBeUndefined();
      expect(await tx.messages.get("m2")).toBeUndefined();
      expect(await tx.messages.bySeq(seq + 1)).toBeUndefined();
    });
  });

  check("numbers grow, and a sender's dedupe key is used once", async ({ store }) => {
    const first = await store.transaction((tx) => tx.messages.insert(aMessage("m1", { dedupeKey: "k" })));
    const again = store.transaction((tx) => tx.messages.insert(aMessage("m2", { dedupeKey: "k" })));
    expect(await rejection(again)).toBeInstanceOf(Error);
    const other = await store.transaction((tx) =>
      tx.messages.insert(aMessage("m3", { dedupeKey: "k", fromAgent: "other" })),
    );
    expect(other).toBeGreaterThan(first);
  });

  check("messages are listed newest first, by every filter alone and together", async ({ store }) => {
    await send(store, aMessage("m1", { type: "question", threadId: "th" }), ["b1", "b2"]);
    await send(store, aMessage("m2", { fromAgent: "b1", threadId: "th", runId: null }), ["lead"]);
    await send(store, aMessage("m3", { type: "question" }), ["b2"]);
    const ids = (filter: MessageFilter) => store.read(async (tx) => idsOf(await tx.messages.list(filter)));
    expect(await ids({})).toEqual(["m3", "m2", "m1"]);
    expect(await ids({ limit: 2 })).toEqual(["m3", "m2"]);
    expect(await ids({ from: "lead" })).toEqual(["m3", "m1"]);
    expect(await ids({ to: "b2" })).toEqual(["m3", "m1"]);
    expect(await ids({ type: "question", to: "b1" })).toEqual(["m1"]);
    expect(await ids({ involving: ["b1"] })).toEqual(["m2", "m1"]);
    expect(await ids({ involving: ["b1", "b2"], limit: 2 })).toEqual(["m3", "m2"]);
    expect(await ids({ involving: [] })).toEqual([]);
    expect(await ids({ threadId: "th" })).toEqual(["m2", "m1"]);
    expect(await ids({ runId: "r1", threadId: "th" })).toEqual(["m1"]);
    await store.read(async (tx) => {
      expect(idsOf(await tx.messages.thread("th"))).toEqual(["m1", "m2"]);
      expect(await tx.messages.recentIds(2)).toEqual(["m3", "m2"]);
    });
  });

  check("a message is unread for a name until it was handed over to that name", async ({ store }) => {
    const seq = await send(store, aMessage("m1"), ["b1", "b2"]);
    const unread = (to?: string) =>
      store.read(async (tx) =>
        idsOf(await tx.messages.list(to === undefined ? { unread: true } : { unread: true, to })),
      );
    expect([await unread("b1"), await unread()]).toEqual([["m1"], ["m1"]]);
    await store.transaction((tx) => tx.deliveries.update(aDelivery(seq, "b1", { state: "delivered" })));
    expect([await unread("b1"), await unread("b2"), await unread()]).toEqual([[], ["m1"], ["m1"]]);
    await store.transaction((tx) => tx.deliveries.update(aDelivery(seq, "b2", { state: "acked" })));
    expect(await unread()).toEqual([]);
  });

  check("a sender's messages are counted since a moment, broadcasts apart", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.messages.insert(aMessage("m1", { createdAt: noon - 10 }));
      await tx.messages.insert(aMessage("m2", { createdAt: noon, address: "@all" }));
      await tx.messages.insert(aMessage("m3", { createdAt: noon + 1 }));
      await tx.messages.insert(aMessage("m4", { fromAgent: "b1" }));
      const count = (after: number, broadcast: boolean) => tx.messages.countFrom("lead", after, { broadcast });
      expect([await count(0, false), await count(noon - 10, false), await count(0, true)]).toEqual([3, 2, 1]);
    });
  });

  check("a repetition is recognised by sender, address, subject and body", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.messages.insert(aMessage("m1", { createdAt: noon - 50 }));
      await tx.messages.insert(aMessage("m2"));
      await tx.messages.insert(aMessage("m3", { body: "other" }));
      const probe = { fromAgent: "lead", address: "b1", subject: "subject", body: "body" };
      expect((await tx.messages.duplicate(probe, 0))?.id).toBe("m2");
      expect(await tx.messages.duplicate(probe, noon)).toBeUndefined();
      expect(await tx.messages.duplicate({ ...probe, subject: "new" }, 0)).toBeUndefined();
    });
  });

  check("messages of a turn are found by type, oldest first", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.messages.insert(aMessage("m1", { turnId: "t1", type: "worker_done" }));
      await tx.messages.insert(aMessage("m2", { turnId: "t1", type: "result" }));
      await tx.messages.insert(aMessage("m3", { turnId: "t2", type: "result" }));
      await tx.messages.insert(aMessage("m4", { turnId: "t1", type: "status" }));
      expect(idsOf(await tx.messages.ofTurn("t1", ["result", "worker_done"]))).toEqual(["m1", "m2"]);
      expect(await tx.messages.ofTurn("t1", [])).toEqual([]);
    });
  });

  check(
    "purging removes what was named together with its deliveries, and nothing when nothing was named",
    async ({ store }) => {
      const old = await send(store, aMessage("old", { createdAt: noon - 50 }), ["b1"]);
      await send(store, aMessage("to b2"), ["b2"]);
      await send(store, aMessage("from b2", { fromAgent: "b2" }), ["lead"]);
      await send(store, aMessage("rest"), ["b1"]);
      await store.transaction(async (tx) => {
        expect(await tx.messages.purge({})).toBe(0);
        expect(await tx.messages.purge({ before: noon, agent: "b2" })).toBe(0);
        expect(await tx.messages.purge({ before: noon })).toBe(1);
        expect(await tx.deliveries.ofMessage(old)).toEqual([]);
        expect(await tx.messages.purge({ agent: "b2" })).toBe(2);
        expect(idsOf(await tx.messages.list({}))).toEqual(["rest"]);
        expect(await tx.messages.purge({ all: true })).toBe(1);
        expect(await tx.deliveries.countQueued("b1")).toBe(0);
      });
    },
  );

  check(
    "mail that is read, dead or forwarded goes in time; not while its run goes on or somebody waits",
    async ({ store }) => {
      const sent = async (id: string, state: Delivery["state"], facts: Partial<Message> = {}): Promise<void> => {
        const seq = await send(store, aMessage(id, { createdAt: noon - 1, ...facts }), ["b1"]);
        await store.transaction((tx) => tx.deliveries.update(aDelivery(seq, "b1", { state })));
      };
      await store.transaction(async (tx) => {
        await tx.runs.insert(aRun("over", { status: "completed" }));
        await tx.runs.insert(aRun("on"));
        await tx.waits.add({ agentName: "lead", kind: "reply", ref: "asked", since: 1, deadline: null });
      });
      for (const state of deliveryStates) await sent(state, state, { runId: "over" });
      await sent("no run", "acked", { runId: null });
      await sent("young", "acked", { runId: "over", createdAt: noon });
      await sent("running", "acked", { runId: "on" });
      await sent("asked", "acked", { runId: "over" });
      const half = await send(store, aMessage("half", { runId: "over", createdAt: noon - 1 }), ["b1", "b2"]);
      await store.transaction(async (tx) => {
        await tx.deliveries.update(aDelivery(half, "b1", { state: "acked" }));
        const first = await tx.messages.purgeSettled(noon, { after: 0, most: 2 });
        const rest = await tx.messages.purgeSettled(noon, { after: first.last ?? 0, most: 100 });
        expect([first.purged + rest.purged, first.last === null, rest.last]).toEqual([4, false, null]);
        expect(idsOf(await tx.messages.list({})).toSorted()).toEqual([
          "asked",
          "claimed",
          "delivered",
          "half",
          "queued",
          "running",
          "young",
        ]);
      });
    },
  );

  check("a delivery comes back as it was stored, and each recipient has its own", async ({ store }) => {
    const seq = await send(store, aMessage("m1"), ["b2", "b1"]);
    const changed = aDelivery(seq, "b1", {
      state: "claimed",
      wake: true,
      attempts: 2,
      notBefore: noon,
      claimedBy: "reader",
      claimExpires: noon + 9,
      turnId: "t1",
      channel: "hook",
      redelivered: true,
      deliveredAt: noon + 1,
      ackedAt: noon + 2,
      lastError: "oops",
    });
    await store.transaction((tx) => tx.deliveries.update(changed));
    await store.read(async (tx) => {
      expect(await tx.deliveries.get(seq, "b1")).toEqual(changed);
      expect((await tx.deliveries.ofMessage(seq)).map((delivery) => delivery.toAgent)).toEqual(["b1", "b2"]);
      expect(await tx.deliveries.get(seq, "b2")).toEqual(aDelivery(seq, "b2"));
      expect(await tx.deliveries.get(seq, "b3")).toBeUndefined();
    });
    const twice = store.transaction((tx) => tx.deliveries.insert([aDelivery(seq, "b1")]));
    expect(await rejection(twice)).toBeInstanceOf(Error);
  });

  check("queued mail comes by priority, then number, and only when it is due", async ({ store }) => {
    await send(store, aMessage("low", { priority: "low" }), ["b1"]);
    await send(store, aMessage("normal 1"), ["b1"]);
    await send(store, aMessage("urgent", { priority: "urgent" }), ["b1"]);
    await send(store, aMessage("normal 2"), ["b1", "b2"]);
    const later = await send(store, aMessage("later", { priority: "urgent" }), ["b1"]);
    await store.transaction((tx) => tx.deliveries.update(aDelivery(later, "b1", { priorityRank: 0, notBefore: noon })));
    const queued = (now: number, limit = 10) =>
      store.read(async (tx) => (await tx.deliveries.queued("b1", now, limit)).map((mail) => mail.message.id));
    expect(await queued(noon - 1)).toEqual(["urgent", "normal 1", "normal 2", "low"]);
    expect(await queued(noon, 3)).toEqual(["urgent", "later", "normal 1"]);
    expect(await store.read((tx) => tx.deliveries.countQueued("b1"))).toBe(5);
  });

  check("the input of a turn begins with mail that wakes, each part by priority, then number", async ({ store }) => {
    await store.transaction(async (tx) => {
      const add = async (id: string, wake: boolean, priority: Priority = "normal", notBefore = 0): Promise<void> => {
        const seq = await tx.messages.insert(aMessage(id, { priority }));
        const row = { wake, priorityRank: priorityRank[priority], notBefore };
        await tx.deliveries.insert([aDelivery(seq, "b1", row)]);
      };
      await add("news", false, "urgent");
      await add("question 1", true);
      await add("question 2", true, "high");
      await add("more news", false);
      await add("later", true, "urgent", noon);
      expect([await tx.deliveries.isDue("b1", noon - 1), await tx.deliveries.isDue("b2", noon)]).toEqual([true, false]);
      const ids = async (limit: number) =>
        (await tx.deliveries.forTurn("b1", noon - 1, limit)).map(({ message }) => message.id);
      expect(await ids(10)).toEqual(["question 2", "question 1", "news", "more news"]);
      expect(await ids(1)).toEqual(["question 2"]);
      const later = await tx.messages.insert(aMessage("much later"));
      await tx.deliveries.insert([aDelivery(later, "b3", { notBefore: noon })]);
      expect([await tx.deliveries.isDue("b3", noon - 1), await tx.deliveries.isDue("b3", noon)]).toEqual([false, true]);
    });
  });

  check("mail that wakes is known from mail that waits", async ({ store }) => {
    await store.transaction(async (tx) => {
      const seq = await tx.messages.insert(aMessage("m1"));
      await tx.deliveries.insert([aDelivery(seq, "b1", { wake: true }), aDelivery(seq, "b2")]);
      expect([await tx.deliveries.hasWaking("b1"), await tx.deliveries.hasWaking("b2")]).toEqual([true, false]);
      expect(await tx.deliveries.nextWaking("b1")).toBeNumber();
      await tx.deliveries.update(aDelivery(seq, "b1", { wake: true, state: "claimed" }));
      expect(await tx.deliveries.hasWaking("b1")).toBe(false);
      expect(await tx.deliveries.nextWaking("b1")).toBeUndefined();
    });
  });

  check("deliveries are found by state, turn, expired lease and death, each with its message", async ({ store }) => {
    await store.transaction(async (tx) => {
      const add = async (id: string, change: Parameters<typeof aDelivery>[2]): Promise<number> => {
        const seq = await tx.messages.insert(aMessage(id));
        await tx.deliveries.insert([aDelivery(seq, "b1", change)]);
        return seq;
      };
      const leased = await add("leased", { state: "claimed", claimedBy: "r", claimExpires: noon });
      const ofTurn = await add("turn", { state: "claimed", claimedBy: "t1", turnId: "t1" });
      await add("queued", {});
      await add("dead 1", { state: "dead", lastError: "e" });
      await add("dead 2", { state: "dead", priorityRank: 3 });
      const ids = (mail: readonly { readonly message: Message }[]) => idsOf(mail.map(({ message }) => message));
      expect(ids(await tx.deliveries.inState("b1", ["claimed", "queued"]))).toEqual(["leased", "turn", "queued"]);
      expect(await tx.deliveries.inState("b1", [])).toEqual([]);
      expect((await tx.deliveries.handedOut("b1")).map(({ messageSeq }) => messageSeq)).toEqual([leased, ofTurn]);
      expect(ids(await tx.deliveries.ofTurn("t1"))).toEqual(["turn"]);
      expect(await tx.deliveries.expired(noon - 1, 9)).toEqual([]);
      expect((await tx.deliveries.expired(noon, 9)).map((delivery) => delivery.messageSeq)).toEqual([leased]);
      expect(ids(await tx.deliveries.dead(9))).toEqual(["dead 2", "dead 1"]);
      expect((await tx.deliveries.dead(1))[0]?.delivery).toMatchObject({ toAgent: "b1", state: "dead" });
    });
  });

  check("the last look into an inbox is remembered per name", async ({ store }) => {
    await store.transaction(async (tx) => {
      expect(await tx.inboxChecks.last("b1")).toBeUndefined();
      await tx.inboxChecks.record("b1", noon);
      await tx.inboxChecks.record("b2", noon + 5);
      await tx.inboxChecks.record("b1", noon + 1);
      expect([await tx.inboxChecks.last("b1"), await tx.inboxChecks.last("b2")]).toEqual([noon + 1, noon + 5]);
    });
  });

  check("ten thousand messages of one moment keep their order", async ({ store }) => {
    const count = 10_000;
    await store.transaction(async (tx) => {
      for (let first = 0; first < count; first += 500) {
        const batch = Array.from({ length: 500 }, (_, index) => first + index);
        const seqs = await Promise.all(batch.map((n) => tx.messages.insert(aMessage(`m${n}`, { body: String(n) }))));
        await Promise.all(
          seqs.map((seq, index) => tx.deliveries.insert([aDelivery(seq, "b1", { priorityRank: (first + index) % 4 })])),
        );
      }
    });
    const mail = await store.read((tx) => tx.deliveries.queued("b1", noon, count));
    const expected = [0, 1, 2, 3].flatMap((rank) => Array.from({ length: count / 4 }, (_, index) => index * 4 + rank));
    expect(mail.map(({ message }) => Number(message.body))).toEqual(expected);
  });

  check("the next expiry is the earliest of the claims that readers hold", async ({ store }) => {
    const [first, second] = [await send(store, aMessage("m1"), ["b1"]), await send(store, aMessage("m2"), ["b1"])];
    expect(await store.read((tx) => tx.deliveries.nextExpiry())).toBeUndefined();
    await store.transaction(async (tx) => {
      await tx.deliveries.update(aDelivery(first, "b1", { state: "delivered", claimExpires: noon + 1 }));
      await tx.deliveries.update(aDelivery(second, "b1", { state: "claimed", claimExpires: noon + 5 }));
    });
    expect(await store.read((tx) => tx.deliveries.nextExpiry())).toBe(noon + 5);
    // No agent of this name exists.
    expect(await store.read((tx) => tx.deliveries.nextReturn())).toBeUndefined();
    await seed(store, anAgent("b1"));
    expect(await store.read((tx) => tx.deliveries.nextReturn())).toBe(noon + 5);
    // Others that keep their lease after it was of use must not stand in the way of it.
    const found = await store.read((tx) => tx.deliveries.expired(noon + 9, 1));
    expect(found.map(({ messageSeq }) => messageSeq)).toEqual([second]);
  });
}

const idsOf = (messages: readonly Message[]): string[] => messages.map((message) => message.id);
