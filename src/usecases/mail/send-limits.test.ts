import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { mailWorld } from "../../../testkit/mail-world.ts";
import { operator } from "../../domain/caller/caller.ts";
import { listMail } from "./read-mail.ts";
import { replyToMail } from "./reply.ts";
import { sendMail } from "./send.ts";

test("the same message within a minute is stored once and reported as a duplicate", async () => {
  await using world = await mailWorld();
  const request = { to: "operator", subject: "s", body: "b" };
  const first = await world.must(sendMail, request);
  world.clock.now += 59_000;
  expect(await world.must(sendMail, request)).toMatchObject({ id: first.id, duplicate: true });
  world.clock.now += 1_000;
  const later = await world.must(sendMail, request);
  expect([later.duplicate, later.id === first.id]).toEqual([false, false]);
});

test("equal words of another type or in another thread are no duplicate, and hide none", async () => {
  await using world = await mailWorld();
  const done = { to: "operator", subject: "done", body: "done" };
  const status = await world.must(sendMail, done);
  const result = await world.must(sendMail, { ...done, type: "result" });
  expect(result.duplicate).toBe(false);
  expect(await world.must(sendMail, done)).toMatchObject({ id: status.id, duplicate: true });
});

test("a key of the engine is refused: the report of an agent would count as sent under it", async () => {
  await using world = await mailWorld();
  const b1 = await world.seat("b1");
  const chat = { to: "operator", subject: "hi", body: "x", dedupeKey: "ov:done:agent-b1:abc" };
  for (const caller of [b1, operator]) {
    expect(await world.call(sendMail, chat, { caller })).toMatchObject({
      refusal: { kind: "invalid", field: "dedupe-key" },
    });
  }
  const { id } = await world.must(sendMail, { ...chat, dedupeKey: "mine" }, b1);
  expect(await world.call(replyToMail, { id: id ?? "", body: "y", dedupeKey: "ov:x" })).toMatchObject({ ok: false });
});

test("a subject that begins as those of the engine do is refused", async () => {
  await using world = await mailWorld();
  const b1 = await world.seat("b1");
  const asks = { to: "operator", subject: " [Engine] somebody moved main", body: "x" };
  expect(await world.call(sendMail, asks, { caller: b1 })).toMatchObject({ refusal: { field: "subject" } });
});

test("a dedupe key belongs to its sender and wins over every later obstacle", async () => {
  await using world = await mailWorld();
  await world.seat("b1", { parentName: "gone" });
  const b2 = await world.seat("b2");
  const keyed = { to: "b1", subject: "s", body: "b", dedupeKey: "turn-1/1" };
  const first = await world.must(sendMail, keyed, b2);
  await world.store.transaction(async (tx) => {
    const agent = await tx.agents.byName("b1");
    if (agent === undefined) throw new Error("b1 is missing");
    const change = { state: "zombie", stateVersion: 1, outcome: "crashed", endedAt: 1 } as const;
    await tx.agents.move(agent, change, { to: "zombie", actor: "engine", reason: "test" }, 1);
  });
  world.clock.now += 3_600_000;
  expect(await world.must(sendMail, { ...keyed, body: "other" }, b2)).toMatchObject({ id: first.id, duplicate: true });
  expect((await world.must(sendMail, { ...keyed, to: "operator" })).id).not.toBe(first.id);
});

test("a sender above its rate is refused with the time to wait, and groups have a rate of their own", async () => {
  await using world = await mailWorld({ rateLimits: { perMinute: 3, broadcastPerMinute: 1 } });
  const b1 = await world.seat("b1");
  await world.seat("b2");
  const send = (n: number, to = "b2") => world.call(sendMail, { to, subject: `s${n}`, body: "b" }, { caller: b1 });
  expect((await send(1, "@all")).ok).toBe(true);
  world.clock.now += 10_000;
  expect(await send(2, "@all")).toMatchObject({ refusal: { kind: "rate-limited", limit: 1, retryAfterMs: 50_000 } });
  expect((await send(3)).ok).toBe(true);
  expect((await send(4)).ok).toBe(true);
  expect(await send(5)).toMatchObject({ refusal: { kind: "rate-limited", limit: 3, retryAfterMs: 50_000 } });
  world.clock.now += 50_000;
  expect((await send(6)).ok).toBe(true);
});

test("a repeated message is recognised before it could be refused for its rate", async () => {
  await using world = await mailWorld({ rateLimits: { perMinute: 1, broadcastPerMinute: 1 } });
  const request = { to: "operator", subject: "s", body: "b" };
  const { id } = await world.must(sendMail, request);
  expect(await world.must(sendMail, request)).toMatchObject({ id, duplicate: true });
});

test("two agents that answer each other for ever are stopped by the hop limit", async () => {
  await using world = await mailWorld({ hopLimit: 3 });
  const a = await world.seat("a");
  const b = await world.seat("b");
  let { id } = await world.must(sendMail, { to: "b", subject: "hi", body: "0" }, a);
  for (const [n, caller] of [b, a, b].entries()) {
    ({ id } = await world.must(replyToMail, { id: id ?? "", body: `${n}` }, caller));
  }
  const refused = await world.call(replyToMail, { id: id ?? "", body: "more" }, { caller: a });
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "hop-limit", limit: 3 } });
});

test("a long body is kept whole in a file and delivered as its beginning, whatever path the caller names", async () => {
  await using world = await mailWorld({ maxBodyBytes: 256 });
  const body = "x".repeat(300);
  const { id } = await world.must(sendMail, { to: "operator", subject: "s", body, blobPath: "/etc/passwd" });
  const stored = await world.store.read((tx) => tx.messages.get(id ?? ""));
  expect(stored?.blobPath?.startsWith(world.dir)).toBe(true);
  expect(readFileSync(stored?.blobPath ?? "", "utf8")).toBe(body);
  expect(stored?.body).toContain(stored?.blobPath ?? "nowhere");
  const short = await world.must(sendMail, { to: "operator", subject: "s", body: "y", blobPath: "/etc/passwd" });
  expect((await world.store.read((tx) => tx.messages.get(short.id ?? "")))?.blobPath).toBeNull();
});

test("a subject, payload or body above its size is refused, and nothing is stored", async () => {
  await using world = await mailWorld();
  const mail = { to: "operator", subject: "s", body: "b" };
  for (const [field, request] of [
    ["subject", { ...mail, subject: "x".repeat(2_049) }],
    ["payload", { ...mail, payload: JSON.stringify({ text: "x".repeat(70_000) }) }],
    ["body", { ...mail, body: "x".repeat(16 * 1024 * 1024 + 1) }],
  ] as const) {
    expect(await world.call(sendMail, request)).toMatchObject({ ok: false, refusal: { kind: "invalid", field } });
  }
  expect(await world.store.read((tx) => tx.messages.list({}))).toEqual([]);
});

test("a list shows the requested number and says whether there is more", async () => {
  await using world = await mailWorld();
  for (const n of [1, 2, 3]) await world.must(sendMail, { to: "operator", subject: `s${n}`, body: "b" });
  const two = await world.must(listMail, { to: "operator", limit: 2 });
  expect([two.messages.map(({ subject }) => subject), two.more]).toEqual([["s3", "s2"], true]);
  expect((await world.must(listMail, { to: "operator", limit: 3 })).more).toBe(false);
});
