import { expect } from "bun:test";
import type { Check } from "./database.ts";
import { aMessage, anAgent, aTask, aTurn, noon, seed, send } from "./rows.ts";

const [b1, b2] = [anAgent("b1"), anAgent("b2", { state: "completed", outcome: "done" })];

export function consistencyPromises(check: Check): void {
  check("what the rules of consistency look at is read whole, and repairs change what they name", async ({ store }) => {
    await seed(store, b1, b2);
    await send(store, aMessage("m1"), ["b1"]);
    await store.transaction(async (tx) => {
      await tx.turns.queue(aTurn("t1", b1));
      await tx.tasks.insert(aTask("T1"));
      const token = { agentId: b1.id, agentName: "b1", turnId: "t1", createdAt: noon, revokedAt: null };
      await tx.tokens.insert({ ...token, digest: "d1" });
      await tx.waits.add({ agentName: "b1", kind: "reply", ref: "m1", since: noon, deadline: null });
    });
    const read = await store.read((tx) => tx.consistency.read());
    expect(read.agents.map(({ name }) => name)).toEqual(["b1", "b2"]);
    expect(read.turns.map(({ id }) => id)).toEqual(["t1"]);
    expect(read.tokens).toMatchObject([{ digest: "d1", agentId: b1.id, turnStatus: "queued" }]);
    expect(read.waits).toEqual([{ agentName: "b1", kind: "reply", ref: "m1", hasMessage: true }]);
    expect(read.tasks.map(({ id }) => id)).toEqual(["T1"]);
    expect(read.dangling).toEqual([]);
    await store.transaction(async ({ consistency }) => {
      await consistency.setAgent(b2.id, { releasedAt: noon + 1 });
      await consistency.revokeToken("d1", noon + 2);
      // Both ends of this link are there, so it stays.
      await consistency.deleteLink({ table: "tokens", one: b1.id, other: "d1" });
      await consistency.deleteRemoval("nobody");
    });
    await store.read(async (tx) => {
      expect((await tx.agents.get(b2.id))?.releasedAt).toBe(noon + 1);
      expect((await tx.tokens.get("d1"))?.revokedAt).toBe(noon + 2);
      expect((await tx.consistency.read()).tokens).toEqual([]);
    });
  });
}
