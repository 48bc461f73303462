import { expect } from "bun:test";
import type { Check } from "./database.ts";
import { anAgent, aProcess, noon, seed } from "./rows.ts";
import { rejection } from "./transactions.ts";

export function processPromises(check: Check): void {
  check("a process is found by its whole identity, and only while it has not ended", async ({ store }) => {
    const first = aProcess("p1", { startToken: "1" });
    const reused = aProcess("p2", { startToken: "2" });
    await store.transaction(async (tx) => {
      await tx.processes.insert(first);
      await tx.processes.insert(reused);
      expect(await tx.processes.get("p1")).toEqual(first);
      expect((await tx.processes.find(reused))?.id).toBe("p2");
      expect(await tx.processes.find({ ...first, bootId: "another boot" })).toBeUndefined();
      await tx.processes.end("p1", "exited", noon + 1);
      await tx.processes.end("p1", "again", noon + 2);
      expect(await tx.processes.find(first)).toBeUndefined();
      expect(await tx.processes.get("p1")).toMatchObject({ endReason: "exited", endedAt: noon + 1 });
    });
  });

  check("processes of a role are listed until they end, also those nobody owns", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.processes.insert(aProcess("g1", { role: "gate", agentId: null, turnId: null }));
      await tx.processes.insert(aProcess("g2", { role: "gate", agentId: null, turnId: null, startedAt: noon + 1 }));
      await tx.processes.insert(aProcess("p1", { role: "agent" }));
      const gates = async () => (await tx.processes.liveInRole("gate")).map((process) => process.id);
      expect(await gates()).toEqual(["g1", "g2"]);
      await tx.processes.end("g1", "ended", noon + 5);
      expect(await gates()).toEqual(["g2"]);
    });
  });

  check("live processes of a turn or an agent are listed newest first", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.processes.insert(aProcess("p1", { agentId: "b1-1", turnId: "t1" }));
      await tx.processes.insert(aProcess("p2", { agentId: "b1-1", turnId: "t1", startedAt: noon + 1 }));
      await tx.processes.insert(aProcess("p3", { agentId: "b1-1", turnId: "t2", startedAt: noon + 2 }));
      const forTurn = async () => (await tx.processes.liveForTurn("t1")).map((process) => process.id);
      const forAgent = async () => (await tx.processes.liveForAgent("b1-1")).map((process) => process.id);
      expect([await forTurn(), await forAgent()]).toEqual([
        ["p2", "p1"],
        ["p3", "p2", "p1"],
      ]);
      await tx.processes.endForTurn("t1", "turn over", noon + 5);
      expect([await forTurn(), await forAgent()]).toEqual([[], ["p3"]]);
    });
  });

  check("each taking of a lease has a higher fence, and only the latest fence beats", async ({ store }) => {
    await store.transaction(async (tx) => {
      expect(await tx.leases.get("engine")).toBeUndefined();
      expect(await tx.leases.take("engine", "p1")).toBe(1);
      expect(await tx.leases.beat("engine", 1)).toBe(true);
      expect(await tx.leases.beat("engine", 1)).toBe(true);
      expect(await tx.leases.get("engine")).toEqual({ name: "engine", fence: 1, beat: 2, processId: "p1" });
      expect(await tx.leases.take("engine", null)).toBe(2);
      expect(await tx.leases.get("engine")).toEqual({ name: "engine", fence: 2, beat: 0, processId: null });
      expect(await tx.leases.beat("engine", 1)).toBe(false);
      expect(await tx.leases.beat("engine", 2)).toBe(true);
      expect(await tx.leases.beat("unknown", 1)).toBe(false);
    });
  });

  check("a lease is dropped by its holder only, and never gets an old fence again", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.leases.take("engine", "p1");
      await tx.leases.take("engine", "p2");
      await tx.leases.drop("engine", 1);
      expect(await tx.leases.get("engine")).toMatchObject({ fence: 2 });
      await tx.leases.drop("engine", 2);
      expect(await tx.leases.get("engine")).toBeUndefined();
      expect(await tx.leases.beat("engine", 2)).toBe(false);
      expect(await tx.leases.take("engine", "p3")).toBe(3);
      expect(await tx.leases.beat("engine", 1)).toBe(false);
    });
  });

  check("a lease that is deleted by its holder leaves nothing behind", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.leases.hold("turn:t1", 3, "p1");
      await tx.leases.delete("turn:t1", 2);
      expect(await tx.leases.get("turn:t1")).toMatchObject({ fence: 3 });
      await tx.leases.delete("turn:t1", 3);
      expect(await tx.leases.get("turn:t1")).toBeUndefined();
      // Nothing remembers its fence: the row itself is gone, not only given up.
      expect(await tx.leases.take("turn:t1", "p2")).toBe(1);
    });
  });

  check("the leases that are held can be listed by the start of their names", async ({ store }) => {
    await store.transaction(async (tx) => {
      for (const name of ["attach:b1", "attach:b2", "attach_x", "engine"]) await tx.leases.take(name, "p1");
      await tx.leases.drop("attach:b2", 1);
      expect((await tx.leases.heldBelow("attach:")).map(({ name }) => name)).toEqual(["attach:b1"]);
    });
  });

  check("a lease can be held with a fence that was handed out elsewhere", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.leases.hold("turn:t1", 4, "p1");
      expect(await tx.leases.get("turn:t1")).toEqual({ name: "turn:t1", fence: 4, beat: 0, processId: "p1" });
      await tx.leases.beat("turn:t1", 4);
      await tx.leases.hold("turn:t1", 5, "p2");
      expect(await tx.leases.get("turn:t1")).toEqual({ name: "turn:t1", fence: 5, beat: 0, processId: "p2" });
    });
  });

  check("a token is known by its digest and revoked with its turn", async ({ store }) => {
    await seed(store, anAgent("b1"));
    const token = (digest: string, turnId: string | null) => ({
      digest,
      agentId: "b1-1",
      turnId,
      createdAt: noon,
      revokedAt: null,
    });
    await store.transaction(async (tx) => {
      for (const made of [token("d1", "t1"), token("d2", "t2"), token("d3", null)]) await tx.tokens.insert(made);
      await tx.tokens.revokeForTurn("t1", noon + 1);
      await tx.tokens.revokeForTurn("t1", noon + 2);
      expect(await tx.tokens.get("d1")).toEqual({ ...token("d1", "t1"), revokedAt: noon + 1 });
      expect(await tx.tokens.get("d2")).toEqual(token("d2", "t2"));
      expect(await tx.tokens.get("d3")).toEqual(token("d3", null));
      await tx.tokens.revokeWithoutTurn("b1-1", noon + 3);
      expect(await tx.tokens.get("d2")).toEqual(token("d2", "t2"));
      expect(await tx.tokens.get("d3")).toEqual({ ...token("d3", null), revokedAt: noon + 3 });
      expect(await tx.tokens.get("d4")).toBeUndefined();
    });
  });

  check("a request is answered once, and its answer is kept", async ({ store }) => {
    await store.transaction(async (tx) => {
      expect(await tx.requests.reply("q1")).toBeUndefined();
      await tx.requests.store("q1", "mail.send", '{"ok":true}', noon);
      expect(await tx.requests.reply("q1")).toBe('{"ok":true}');
    });
    const again = store.transaction((tx) => tx.requests.store("q1", "mail.send", "other", noon));
    expect(await rejection(again)).toBeInstanceOf(Error);
    expect(await store.read((tx) => tx.requests.reply("q1"))).toBe('{"ok":true}');
  });
}
