import { expect, test } from "bun:test";
import { type MailWorld, mailWorld } from "../../../testkit/mail-world.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import { decide } from "../operator/decide.ts";
import { markForOperator } from "../operator/read-attention.ts";
import { redirectMail } from "./dead-mail.ts";
import { listThreads, readConversation, readThread } from "./read-threads.ts";
import { replyToMail } from "./reply.ts";
import { sendMail } from "./send.ts";

async function world() {
  const made = await mailWorld();
  const lead = await made.seat("lead-1", { capability: "lead" });
  await made.seat("b1", { capability: "builder", parentName: "lead-1" });
  await made.seat("b2", { capability: "builder", parentName: "lead-1" });
  return { made, lead };
}

const idsIn = async (made: MailWorld, box: "reply" | "all" | "sent" | "dead", more = {}) =>
  (await made.must(listThreads, { box, ...more })).threads.map(({ id }) => id);

test("threads stand in their boxes, newest first, and looking at them changes no delivery", async () => {
  const { made, lead } = await world();
  await using _ = made;
  const asked = await made.must(
    sendMail,
    {
      to: "operator",
      subject: "Cookies?",
      body: "Keep them?",
      type: "decision_gate",
      payload: '{"options":["keep","drop"]}',
    },
    lead,
  );
  const told = await made.must(sendMail, { to: "b1", subject: "Go on", body: "with the tests" }, lead);
  const own = await made.must(sendMail, { to: "b1", subject: "Hello", body: "from me" });
  const before = [await made.deliveries(told.id ?? ""), await made.deliveries(asked.id ?? "")];
  expect(await idsIn(made, "all")).toEqual([own.id, told.id, asked.id] as string[]);
  expect(await idsIn(made, "reply")).toEqual([asked.id] as string[]);
  expect(await idsIn(made, "sent")).toEqual([own.id] as string[]);
  expect(await idsIn(made, "dead")).toEqual([]);
  expect(await idsIn(made, "all", { q: "TESTS" })).toEqual([told.id] as string[]);
  expect(await idsIn(made, "all", { type: "decision_gate" })).toEqual([asked.id] as string[]);
  const { threads } = await made.must(listThreads, { box: "reply" });
  expect(threads).toMatchObject([{ subject: "Cookies?", asks: "decision", seen: false, messages: 1 }]);
  const { letters } = await made.must(readThread, { thread: asked.id ?? "" });
  expect(letters).toMatchObject([{ asks: { kind: "decision", options: ["keep", "drop"] }, seen: false }]);
  await made.must(markForOperator, { id: asked.id ?? "", what: "mail", mark: "seen" });
  expect((await made.must(listThreads, { box: "reply" })).threads).toMatchObject([{ seen: true }]);
  expect([await made.deliveries(told.id ?? ""), await made.deliveries(asked.id ?? "")]).toEqual(before);
  await made.must(decide, { id: asked.id ?? "", option: "keep" });
  expect((await made.must(listThreads, { box: "reply" })).threads).toMatchObject([{ asks: null, messages: 2 }]);
});

test("a thread that was put away comes back with its next message, or by the operator's word", async () => {
  const { made, lead } = await world();
  await using _ = made;
  const { id } = await made.must(sendMail, { to: "operator", subject: "Report", body: "half done" }, lead);
  const mark = (word: "snooze" | "unsnooze") => made.must(markForOperator, { id: id ?? "", what: "mail", mark: word });
  await mark("snooze");
  expect(await idsIn(made, "reply")).toEqual([]);
  expect(await idsIn(made, "all")).toEqual([id] as string[]);
  await mark("unsnooze");
  expect(await idsIn(made, "reply")).toEqual([id] as string[]);
  await mark("snooze");
  await made.must(replyToMail, { id: id ?? "", body: "done now" }, lead);
  expect((await made.must(listThreads, { box: "reply" })).threads).toMatchObject([{ messages: 2, seen: false }]);
});

test("a conversation is what the operator and one agent wrote to each other", async () => {
  const { made, lead } = await world();
  await using _ = made;
  await made.must(sendMail, { to: "lead-1", subject: "Ask", body: "How far?", type: "question" });
  await made.must(sendMail, { to: "operator", subject: "Far", body: "Half" }, lead);
  await made.must(sendMail, { to: "b1", subject: "Work", body: "on" }, lead);
  const { letters } = await made.must(readConversation, { with: "lead-1", run: "run-1" });
  expect(letters.map(({ message }) => message.body)).toEqual(["How far?", "Half"]);
  expect(letters[0]?.deliveries).toMatchObject([{ toAgent: "lead-1", state: "queued" }]);
});

test("dead mail is given to another reader once, and wakes that reader; its first reader gets it no more", async () => {
  const { made, lead } = await world();
  await using _ = made;
  const { id } = await made.must(sendMail, { to: "b1", subject: "Task", body: "do it", type: "dispatch" }, lead);
  const give = (to: string) => made.call(redirectMail, { id: id ?? "", to });
  expect(await give("b2")).toMatchObject({ refusal: { kind: "delivery-state" } });
  const [delivery] = await made.deliveries(id ?? "");
  const dead = nextDelivery(delivery as never, { kind: "kill", error: "it crashed" }, made.clock.now);
  if (!dead.ok) throw new Error("the delivery could not die");
  await made.store.transaction((tx) => tx.deliveries.update(dead.value));
  expect((await made.must(listThreads, { box: "dead" })).threads).toMatchObject([
    { dead: [{ messageId: id, to: "b1", error: "it crashed" }] },
  ]);
  expect(await give("nobody")).toMatchObject({ refusal: { kind: "not-found" } });
  expect(await give("lead-1")).toMatchObject({ refusal: { kind: "invalid" } });
  expect(await give("b2")).toMatchObject({ ok: true, value: { to: "b2", instead: ["b1"] } });
  expect(await made.states(id ?? "")).toEqual(["cancelled"]);
  const [copy] = await made.store.read((tx) => tx.messages.list({ to: "b2" }));
  expect(copy).toMatchObject({ fromAgent: "lead-1", subject: "Task", replyTo: id });
  expect(await made.queuedTurns()).toContain("b2");
  expect(await idsIn(made, "dead")).toEqual([]);
});
