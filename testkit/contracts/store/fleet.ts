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
      expect(await fleet.turnTallies()).toEqual([
        { agentId: b1.id, turns: 2, hasFailed: false, isRunning: true, queuedBy: aTurn("t2", b1).trigger },
      ]);
      const mail = (await fleet.queuedMail()).toSorted((a, b) => a.messages - b.messages);
      expect(mail.map(({ toAgent, messages }) => [toAgent, messages])).toEqual([
        ["b1", 1],
        ["b2", 2],
      ]);
      expect(await fleet.checkedAgents()).toEqual([]);
    });
  });
  check("questions that live agents wait on are found by the name that got them, or got a copy", async ({ store }) => {
    await seed(store, b1, b2, gone);
    const question = (id: string, fromAgent: string) => aMessage(id, { fromAgent, threadId: id, type: "question" });
    await send(store, question("q1", "b1"), ["operator"]);
    await send(store, question("q2", "b2"), ["gone"]);
    await send(store, aMessage("copy", { fromAgent: "b2", threadId: "q2", replyTo: "q2" }), ["operator"]);
    await send(store, question("q3", "b2"), ["b1"]);
    await send(store, aMessage("reply", { fromAgent: "b1", threadId: "q3", replyTo: "q3" }), ["operator"]);
    await send(store, question("q4", "gone"), ["operator"]);
    await send(store, question("q5", "b1"), ["operator"]);
    await store.transaction(async (tx) => {
      for (const [agentName, ref, since] of [
        ["b1", "q1", noon + 1],
        ["b2", "q2", noon],
        ["b2", "q3", noon],
        ["gone", "q4", noon],
      ] as const) {
        await tx.waits.add({ agentName, kind: "reply", ref, since, deadline: null });
      }
      expect((await tx.messages.questionsTo("operator")).map(({ id }) => id)).toEqual(["q2", "q1"]);
      expect((await tx.messages.questionsTo("b1")).map(({ id }) => id)).toEqual(["q3"]);
    });
  });
  check("the questions that agents wait on come with their threads and deliveries", async ({ store }) => {
    await seed(store, b1, b2, gone);
    await send(store, aMessage("question", { threadId: "question" }), ["b2"]);
    await send(store, aMessage("other", { threadId: "other" }), ["b2"]);
    await send(store, aMessage("copy", { threadId: "question", replyTo: "question" }), ["gone", "b1"]);
    await store.transaction(async (tx) => {
      await tx.waits.add({ agentName: "b1", kind: "reply", ref: "question", since: noon, deadline: null });
      await tx.waits.add({ agentName: "b1", kind: "child", ref: "other", since: noon, deadline: null });
    });
    await store.read(async (tx) => {
      const [messages, deliveries] = [await tx.fleet.openThreads(), await tx.fleet.deliveriesOfOpenThreads()];
      expect(messages).toEqual(await tx.messages.thread("question"));
      const each = await Promise.all(messages.map(({ seq }) => tx.deliveries.ofMessage(seq)));
      for (const [at, { seq }] of messages.entries()) {
        expect(deliveries.filter(({ messageSeq }) => messageSeq === seq)).toEqual(each[at] ?? []);
      }
      expect(deliveries).toHaveLength(3);
      expect(await tx.fleet.askedNames()).toEqual([{ asker: "b1", asked: "b2" }]);
    });
  });
}
