import { expect } from "bun:test";
import type { Check } from "./database.ts";
import { aMessage, anAgent, aTurn, noon, seed, send } from "./rows.ts";

const [b1, b2, gone] = [anAgent("b1"), anAgent("b2"), anAgent("gone", { releasedAt: noon, state: "completed" })];

export function fleetPromises(check: Check): void {
  check("the fleet is told in one answer each: waits, open turns, tallies, mail and checks", async ({ store }) => {
    await seed(store, b1, b2, gone);
    await store.transaction(async (tx) => {
      await tx.turns.queue(aTurn("t1", b1));
      await tx.turns.start("t1", { fence: 1, logDir: "/log", resumeRequested: null, now: noon });
      await tx.turns.queue(aTurn("t2", b1));
      await tx.turns.queue(aTurn("t3", gone));
      await tx.turns.cancel("t3", noon);
      for (const [name, since] of [
        ["b2", noon + 1],
        ["b1", noon],
      ] as const) {
        await tx.waits.add({ agentName: name, kind: "child", ref: "x", since, deadline: null });
      }
    });
    await send(store, aMessage("m1"), ["b2"]);
    await send(store, aMessage("m2"), ["b2", "b1"]);
    await store.read(async ({ fleet }) => {
      expect((await fleet.waits()).map(({ agentName }) => agentName)).toEqual(["b1", "b2"]);
      expect((await fleet.openTurns()).map(({ id, status }) => [id, status])).toEqual([
        ["t1", "running"],
        ["t2", "queued"],
      ]);
      expect(await fleet.turnTallies()).toEqual([{ agentId: b1.id, turns: 2, hasFailed: false }]);
      const mail = (await fleet.queuedMail()).toSorted((a, b) => a.messages - b.messages);
      expect(mail.map(({ toAgent, messages }) => [toAgent, messages])).toEqual([
        ["b1", 1],
        ["b2", 2],
      ]);
      expect(await fleet.checkedAgents()).toEqual([]);
    });
  });
}
