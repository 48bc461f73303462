import { expect, test } from "bun:test";
import { mailWorld, provenReport } from "../../../testkit/mail-world.ts";
import { sendMail } from "./send.ts";

const words = { to: "lead-1", subject: "news", body: "it works" };

test("a question starts a turn, a status rides along with the next one, and the sender's word decides", async () => {
  await using world = await mailWorld();
  await world.seat("lead-1", { capability: "lead" });
  expect((await world.must(sendMail, { ...words, type: "status" })).woken).toEqual([]);
  expect((await world.must(sendMail, { ...words, type: "question", wake: false })).woken).toEqual([]);
  expect(await world.queuedTurns()).toEqual([]);
  expect((await world.must(sendMail, { ...words, body: "now", priority: "high" })).woken).toEqual(["lead-1"]);
  expect(await world.queuedTurns()).toEqual(["lead-1"]);
});

test("the project's own wake policy is laid over the default, the narrower key winning", async () => {
  await using world = await mailWorld({ wake: { "status@lead": true, status: false, question: false } });
  await world.seat("lead-1", { capability: "lead" });
  await world.seat("b1");
  const woken = async (to: string, type: string) => (await world.must(sendMail, { ...words, to, type })).woken;
  expect(await woken("lead-1", "status")).toEqual(["lead-1"]);
  expect(await woken("b1", "status")).toEqual([]);
  expect(await woken("b1", "question")).toEqual([]);
  expect(await woken("b1", "error")).toEqual(["b1"]);
});

test("a child's report waits a moment for its siblings only while others are still at work", async () => {
  await using world = await mailWorld({ coalesceMs: 500 });
  await world.seat("lead-1", { capability: "lead" });
  const b1 = await world.seat("b1", { parentName: "lead-1" });
  const b2 = await world.seat("b2", { parentName: "lead-1" });
  const wait = { agentName: "lead-1", kind: "child", since: 0, deadline: null } as const;
  await world.store.transaction(async (tx) => {
    await tx.waits.add({ ...wait, ref: "b1" });
    await tx.waits.add({ ...wait, ref: "b2" });
  });
  const queued = () => world.store.read((tx) => tx.turns.queuedFor("agent-lead-1"));
  await world.must(provenReport, words, b1);
  expect((await queued())?.notBefore).toBe(world.clock.now + 500);
  await world.store.transaction((tx) => tx.waits.remove("lead-1", "child", "b1"));
  world.clock.now += 100;
  await world.must(provenReport, words, b2);
  expect((await queued())?.notBefore).toBe(0);
});

test("a question makes its sender wait, with the deadline of a decision, and ends nobody else's wait", async () => {
  await using world = await mailWorld();
  await world.seat("lead-1", { capability: "lead" });
  const b1 = await world.seat("b1", { parentName: "lead-1" });
  const question = await world.must(sendMail, { ...words, type: "question" }, b1);
  const payload = JSON.stringify({ options: ["a", "b"], deadline: "2026-01-02T00:00:00.000Z" });
  const gate = await world.must(sendMail, { ...words, to: "operator", type: "decision_gate", payload }, b1);
  const asked = await world.must(sendMail, { ...words, expectsReply: true }, b1);
  await world.must(sendMail, { ...words, body: "fyi" }, b1);
  await world.must(sendMail, { ...words, type: "question" });
  const waits = await world.store.read((tx) => tx.waits.of("b1"));
  expect(waits.map(({ ref }) => ref).toSorted()).toEqual([question.id, gate.id, asked.id].map(String).toSorted());
  expect(waits.find(({ ref }) => ref === gate.id)?.deadline).toBe(Date.UTC(2026, 0, 2));
  expect(await world.store.read((tx) => tx.waits.of("operator"))).toEqual([]);

  const decision = JSON.stringify({ gateId: gate.id, option: "a" });
  await world.must(sendMail, { ...words, to: "b1", type: "decision", payload: decision });
  const left = await world.store.read((tx) => tx.waits.of("b1"));
  expect(left.map(({ ref }) => ref)).not.toContain(gate.id ?? "");
  expect(left).toHaveLength(2);
});
