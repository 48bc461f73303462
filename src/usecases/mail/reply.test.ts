import { expect, test } from "bun:test";
import { mailWorld, provenReport } from "../../../testkit/mail-world.ts";
import { mailStatus } from "./read-mail.ts";
import { replyToMail } from "./reply.ts";
import { sendMail } from "./send.ts";

test("a reply to worker_done is a status in the same thread and does not finish the one who answers", async () => {
  await using world = await mailWorld();
  const lead = await world.seat("lead-1", { capability: "lead" });
  const b1 = await world.seat("b1", { parentName: "lead-1", taskId: "T1" });
  await world.beginTurn("lead-1");
  const done = await world.must(provenReport, { to: "lead-1", subject: "done", body: "b" }, b1);
  const reply = await world.must(replyToMail, { id: done.id ?? "", body: "thanks", payload: '{"seen":true}' }, lead);
  const { message } = await world.must(mailStatus, { id: reply.id ?? "" });
  expect(message).toMatchObject({
    from: "lead-1",
    to: "b1",
    type: "status",
    subject: "Re: done",
    threadId: done.id,
    replyTo: done.id,
    payload: '{"seen":true}',
  });
  expect((await world.store.read((tx) => tx.messages.list({ type: "worker_done" }))).map(({ id }) => id)).toEqual([
    done.id ?? "",
  ]);
});

test("the answer to a question ends the wait of its author and wakes it, once", async () => {
  await using world = await mailWorld();
  const b1 = await world.seat("b1");
  const question = await world.must(sendMail, { to: "operator", subject: "q", body: "?", type: "question" }, b1);
  const own = await world.must(replyToMail, { id: question.id ?? "", body: "more detail" }, b1);
  expect(own.recipients).toEqual(["operator"]);
  expect(await world.store.read((tx) => tx.waits.of("b1"))).toHaveLength(1);
  const answer = await world.must(replyToMail, { id: question.id ?? "", body: "yes" });
  expect(answer).toMatchObject({ recipients: ["b1"], woken: ["b1"] });
  expect(await world.store.read((tx) => tx.waits.of("b1"))).toEqual([]);
  expect((await world.must(replyToMail, { id: own.id ?? "", body: "noted" })).woken).toEqual([]);
});

test("a reply keeps the priority of the original unless it says otherwise, and is checked like any message", async () => {
  await using world = await mailWorld();
  const b1 = await world.seat("b1");
  const sent = await world.must(sendMail, { to: "b1", subject: "s", body: "b", priority: "urgent" });
  const kept = await world.must(replyToMail, { id: sent.id ?? "", body: "1" }, b1);
  expect((await world.must(mailStatus, { id: kept.id ?? "" })).message.priority).toBe("urgent");
  const low = await world.must(replyToMail, { id: sent.id ?? "", body: "2", priority: "low" }, b1);
  expect((await world.must(mailStatus, { id: low.id ?? "" })).message.priority).toBe("low");
  const type = await world.call(replyToMail, { id: sent.id ?? "", body: "3", type: "dispatch" }, { caller: b1 });
  expect(type).toMatchObject({ ok: false, refusal: { kind: "type-not-yours" } });
  const payload = await world.call(replyToMail, { id: sent.id ?? "", body: "4", payload: "{" }, { caller: b1 });
  expect(payload).toMatchObject({ ok: false, refusal: { kind: "invalid", field: "payload" } });
});

test("an agent may answer a script that wrote under a name without a row", async () => {
  await using world = await mailWorld();
  const b1 = await world.seat("b1");
  const sent = await world.must(sendMail, { to: "b1", subject: "s", body: "b", from: "ci-bot" });
  const answer = await world.must(replyToMail, { id: sent.id ?? "", body: "ok" }, b1);
  expect(answer).toMatchObject({ recipients: ["ci-bot"], warnings: [] });
});

test("a message that does not exist cannot be answered, and a near id is suggested", async () => {
  await using world = await mailWorld();
  const { id } = await world.must(sendMail, { to: "operator", subject: "s", body: "b" });
  const near = `${id?.slice(0, -1)}_`;
  const refused = await world.call(replyToMail, { id: near, body: "b" });
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "not-found", noun: "message", nearest: id ?? "" } });
});

test("a message that the caller cannot see is answered like one that does not exist", async () => {
  await using world = await mailWorld();
  const b1 = await world.seat("b1");
  await world.seat("b2");
  const other = await world.seat("other");
  const asked = await world.must(sendMail, { to: "b2", subject: "q", body: "?", type: "question" }, b1);
  const id = asked.id ?? "";
  const refusal = { kind: "not-found", noun: "message", id } as const;
  expect(await world.call(replyToMail, { id, body: "yes" }, { caller: other })).toEqual({ ok: false, refusal });
  expect(await world.call(mailStatus, { id }, { caller: other })).toEqual({ ok: false, refusal });
  expect(await world.store.read((tx) => tx.waits.of("b1"))).toHaveLength(1);
});
