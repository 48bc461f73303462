import { expect, test } from "bun:test";
import { type MailWorld, mailWorld } from "../../../testkit/mail-world.ts";
import { attachLease } from "../../domain/agent/wait.ts";
import { checkMail } from "./check.ts";
import { deadMail, retryMail } from "./dead-mail.ts";
import { purgeMail } from "./purge.ts";
import { listMail, mailStatus, readMail, whyMail } from "./read-mail.ts";
import { replyToMail } from "./reply.ts";
import { sendMail } from "./send.ts";

const letter = (to: string, body: string) => ({ to, subject: "news", body });

test("a list shows every filter's choice, newest first, and marks nothing read", async () => {
  await using world = await mailWorld();
  const b1 = await world.seat("b1");
  await world.seat("b2");
  const first = await world.must(sendMail, { ...letter("b1", "1"), type: "question" });
  const second = await world.must(replyToMail, { id: first.id ?? "", body: "2" }, b1);
  const third = await world.must(sendMail, letter("@all", "3"));
  const ids = async (request: Parameters<typeof listMail.run>[2]) =>
    (await world.must(listMail, request)).messages.map(({ id }) => id);
  const [one, two, three] = [first.id ?? "", second.id ?? "", third.id ?? ""];
  expect(await ids({})).toEqual([three, two, one]);
  expect(await ids({ limit: 1 })).toEqual([three]);
  expect(await ids({ from: "orchestrator" })).toEqual([three, one]);
  expect(await ids({ to: "orchestrator" })).toEqual([two]);
  expect(await ids({ type: "question" })).toEqual([one]);
  expect(await ids({ thread: two })).toEqual([two, one]);
  expect(await ids({ run: "run-1", to: "b2" })).toEqual([three]);
  expect(await ids({ to: "b1", unread: true })).toEqual([three, one]);
  await world.must(checkMail, {}, b1);
  await world.must(readMail, { id: three }, b1);
  expect(await ids({ to: "b1", unread: true })).toEqual([one]);
  const [seen] = (await world.must(listMail, { to: "b1", limit: 1 })).messages;
  expect(seen).toMatchObject({ id: three, to: "b1", read: true, state: "acked" });
  const [all] = (await world.must(listMail, { limit: 1 })).messages;
  expect(all).toMatchObject({ id: three, to: "@all", read: false, state: "queued" });
  for (const request of [{ run: "run-2" }, { thread: "msg-none" }, { type: "nope" }]) {
    expect((await world.call(listMail, request)).ok).toBe(false);
  }
});

test("marking a message read says whether it already was, and works only on one's own", async () => {
  await using world = await mailWorld();
  const b1 = await world.seat("b1");
  const { id } = await world.must(sendMail, letter("b1", "x"));
  expect(await world.call(readMail, { id: id ?? "" })).toMatchObject({ ok: false, refusal: { kind: "not-allowed" } });
  expect(await world.must(readMail, { id: id ?? "" }, b1)).toMatchObject({
    alreadyRead: false,
    message: { id: id ?? "" },
  });
  expect(await world.must(readMail, { id: id ?? "" }, b1)).toMatchObject({
    alreadyRead: true,
    message: { id: id ?? "" },
  });
  expect((await world.must(checkMail, {}, b1)).letters).toEqual([]);
  expect(await world.call(readMail, { id: "msg-none" })).toMatchObject({ ok: false, refusal: { kind: "not-found" } });
});

test("each recipient of a message has its own status and its own explanation", async () => {
  await using world = await mailWorld();
  const b1 = await world.seat("b1");
  await world.seat("b2");
  await world.seat("b3");
  await world.beginTurn("b3");
  const { id } = await world.must(sendMail, letter("@all", "x"));
  await world.must(readMail, { id: id ?? "" }, b1);
  const { deliveries } = await world.must(mailStatus, { id: id ?? "" });
  expect(deliveries.map(({ toAgent, state }) => [toAgent, state])).toEqual([
    ["b1", "acked"],
    ["b2", "queued"],
    ["b3", "queued"],
  ]);
  const codes = async (engineRunning?: boolean) =>
    (await world.must(whyMail, { id: id ?? "", engineRunning })).recipients.map(({ code }) => code);
  expect(await codes()).toEqual(["acked", "does-not-wake", "turn-running"]);
  expect(await codes(false)).toEqual(["acked", "engine-not-running", "engine-not-running"]);
});

test("mail to a name without turns waits for a reader, to an ended agent it was handed on, to a parked one it waits", async () => {
  await using world = await mailWorld();
  await world.seat("lead-1", { capability: "lead" });
  await world.seat("dead-1", { parentName: "lead-1", state: "zombie" });
  await world.seat("b1");
  const why = async (to: string) => {
    const { id } = await world.must(sendMail, { ...letter(to, "x"), type: "question" });
    return (await world.must(whyMail, { id: id ?? "" })).recipients;
  };
  expect(await why("operator")).toMatchObject([{ code: "waits-for-reader", next: "ov mail check" }]);
  expect(await why("dead-1")).toMatchObject([
    { to: "dead-1", code: "forwarded", sentence: "dead-1 had ended, so it went to lead-1." },
    { to: "lead-1", code: "due" },
  ]);
  const retry = {
    id: "t1",
    agentId: "agent-b1",
    agentName: "b1",
    runId: "run-1",
    trigger: "retry",
    reason: "it failed",
  } as const;
  await world.store.transaction((tx) =>
    tx.turns.queue({ ...retry, attempt: 2, notBefore: world.clock.now + 5_000, now: world.clock.now }),
  );
  const parked = async (next: string | null): Promise<void> => {
    expect(await why("b1")).toMatchObject([{ code: "parked", next }]);
  };
  // What is printed for each kind of wait is what ends it.
  await parked("ov nudge b1");
  const wait = { agentName: "b1", since: 0, deadline: null } as const;
  const add = (kind: "budget" | "operator", ref: string) =>
    world.store.transaction((tx) => tx.waits.add({ ...wait, kind, ref }));
  await add("budget", "agent:b1:usd");
  await parked("ov budget raise agent b1 usd <amount>");
  await add("operator", "operator");
  await parked("ov resume b1");
  await add("operator", attachLease("b1"));
  await parked(null);
});

test("dead mail is listed, and tried again for the operator or for the parent of its reader", async () => {
  await using world = await mailWorld({ maxAttempts: 1, leaseMs: 1_000 });
  const lead = await world.seat("lead-1", { capability: "lead" });
  const b1 = await world.seat("b1", { parentName: "lead-1" });
  const id = await bury(world, "b1");
  const { dead } = await world.must(deadMail, {});
  expect(dead.map(({ message, delivery }) => [message.id, delivery.toAgent, delivery.attempts])).toEqual([
    [id, "b1", 1],
  ]);
  const refused = await world.call(retryMail, { id }, { caller: b1 });
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "not-allowed", caller: "b1" } });
  await world.store.transaction((tx) => tx.turns.cancelQueued("agent-b1", 0));
  expect(await world.must(retryMail, { id }, lead)).toEqual({ id, requeued: ["b1"] });
  expect(await world.queuedTurns()).toEqual(["b1"]);
  expect((await world.deliveries(id))[0]).toMatchObject({ state: "queued", attempts: 0 });
  expect(await world.call(retryMail, { id })).toMatchObject({ ok: false, refusal: { kind: "delivery-state" } });
});

test("dead mail of a reader that has ended is not tried again", async () => {
  await using world = await mailWorld({ maxAttempts: 1, leaseMs: 1_000 });
  await world.seat("b1");
  const id = await bury(world, "b1");
  await world.store.transaction(async (tx) => {
    const agent = await tx.agents.byName("b1");
    if (agent === undefined) throw new Error("b1 is missing");
    const change = { state: "zombie", stateVersion: 1, outcome: "crashed", endedAt: 1 } as const;
    await tx.agents.move(agent, change, { to: "zombie", actor: "engine", reason: "test" }, 1);
  });
  expect(await world.call(retryMail, { id })).toMatchObject({ ok: false, refusal: { kind: "recipient-ended" } });
});

test("purging needs a choice, days and agent narrow each other, and the purge is recorded", async () => {
  await using world = await mailWorld();
  const b1 = await world.seat("b1");
  expect(purgeMail.operatorOnly).toBe(true);
  expect(await world.call(purgeMail, {})).toMatchObject({ ok: false, refusal: { kind: "invalid" } });
  expect(await world.call(purgeMail, { days: 0 })).toMatchObject({ ok: false, refusal: { field: "days" } });
  await world.must(sendMail, letter("b1", "old for b1"));
  await world.must(sendMail, letter("operator", "old for operator"));
  await world.must(sendMail, { ...letter("operator", "old question"), type: "question" }, b1);
  world.clock.now += 2 * 86_400_000;
  await world.must(sendMail, letter("b1", "new for b1"));
  expect(await world.must(purgeMail, { days: 1, agent: "b1" })).toEqual({ purged: 2 });
  expect(await world.store.read((tx) => tx.waits.of("b1"))).toEqual([]);
  expect((await world.must(listMail, {})).messages.map(({ body }) => body)).toEqual(["new for b1", "old for operator"]);
  expect(await world.must(purgeMail, { all: true, agent: "b1" })).toEqual({ purged: 2 });
  const [last] = await world.store.read((tx) => tx.audit.list(1));
  expect(last).toMatchObject({ caller: "operator", action: "mail.purge", refused: false });
  expect(JSON.parse(last?.detail ?? "")).toEqual({ all: true, purged: 2 });
});

/** A message to the agent that a reader took and lost more often than allowed. */
async function bury(world: MailWorld, to: string): Promise<string> {
  const { id } = await world.must(sendMail, { ...letter(to, "poison"), type: "question" });
  await world.must(checkMail, { agent: to });
  world.clock.now += 1_000;
  await world.must(checkMail, { agent: to });
  return id ?? "";
}
