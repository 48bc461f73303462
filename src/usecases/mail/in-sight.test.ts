import { expect, test } from "bun:test";
import { mailWorld } from "../../../testkit/mail-world.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { findAnswer } from "../coordinators/answer.ts";
import { findAnything } from "../search/find.ts";
import { listMail, mailStatus, whyMail } from "./read-mail.ts";
import { sendMail } from "./send.ts";

/** A lead with a builder, a stranger beside them, the monitor, and mail between each two of them. */
async function team() {
  const world = await mailWorld();
  const lead = await world.seat("lead", { capability: "lead" });
  const b1 = await world.seat("b1", { parentName: "lead" });
  const other = await world.seat("other");
  const monitor = await world.seat("monitor", { capability: "monitor" });
  const say = (from: Caller | undefined, to: string, subject: string) =>
    world.must(sendMail, { to, subject, body: "b" }, from);
  await say(undefined, "lead", "operator to lead");
  await say(lead, "b1", "lead to b1");
  await say(other, "b1", "other to b1");
  await say(undefined, "other", "operator to other");
  const list = async (caller: Caller, request: Parameters<typeof listMail.run>[2] = {}) => {
    const found = await world.call(listMail, request, { caller });
    if (!found.ok) return found.refusal.kind;
    return found.value.messages.map(({ subject }) => subject).toReversed();
  };
  const idOf = async (subject: string) =>
    (await world.must(listMail, {})).messages.find((message) => message.subject === subject)?.id ?? "";
  const look = async (caller: Caller, subject: string): Promise<string[]> => {
    const id = await idOf(subject);
    const answers = [
      await world.call(mailStatus, { id }, { caller }),
      await world.call(whyMail, { id }, { caller }),
      await world.call(findAnswer, { sentId: id }, { caller }),
    ];
    return answers.map((answer) => (answer.ok ? "shown" : answer.refusal.kind));
  };
  const refusal = async (caller: Caller, thread: string) => {
    const found = await world.call(listMail, { thread }, { caller });
    return found.ok ? undefined : found.refusal;
  };
  return {
    lead,
    b1,
    other,
    monitor,
    list,
    look,
    idOf,
    refusal,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

test("an agent sees its own mail, and its lead that of everybody below", async () => {
  await using world = await team();
  expect(await world.list(world.b1)).toEqual(["lead to b1", "other to b1"]);
  expect(await world.list(world.other)).toEqual(["other to b1", "operator to other"]);
  expect(await world.list(world.lead)).toEqual(["operator to lead", "lead to b1", "other to b1"]);
  expect(await world.list(world.lead, { to: "b1" })).toEqual(["lead to b1", "other to b1"]);
  expect(await world.list(world.monitor)).toHaveLength(4);
});

test("mail between others is refused, not shown; mail that others sent to the agent is its own", async () => {
  await using world = await team();
  for (const request of [{ to: "other" }, { from: "operator" }, { from: "operator", to: "lead" }, { to: "lead" }]) {
    expect(await world.list(world.b1, request)).toBe("not-allowed");
  }
  expect(await world.list(world.b1, { from: "lead", to: "b1" })).toEqual(["lead to b1"]);
  expect(await world.list(world.other, { from: "other", to: "b1" })).toEqual(["other to b1"]);
  expect(await world.list(world.other, { to: "b1" })).toBe("not-allowed");
  expect(await world.list(world.lead, { to: "other" })).toBe("not-allowed");
});

test("a thread out of sight is answered like an unknown one, and no id of others is suggested", async () => {
  await using world = await team();
  const id = await world.idOf("operator to other");
  for (const thread of [id, `${id}x`]) {
    expect(await world.refusal(world.b1, thread)).toEqual({ kind: "not-found", noun: "message", id: thread });
  }
  expect(await world.list(world.other, { thread: id })).toEqual(["operator to other"]);
  const own = await world.idOf("lead to b1");
  expect(await world.refusal(world.b1, `${own}x`)).toMatchObject({ kind: "not-found", nearest: own });
});

test("how far a message came is told to those who may see it, and to nobody else", async () => {
  await using world = await team();
  const [shown, hidden] = [
    ["shown", "shown", "shown"],
    ["not-found", "not-found", "not-found"],
  ];
  expect(await world.look(world.b1, "lead to b1")).toEqual(shown);
  expect(await world.look(world.lead, "other to b1")).toEqual(shown);
  expect(await world.look(world.other, "other to b1")).toEqual(shown);
  expect(await world.look(world.monitor, "operator to other")).toEqual(shown);
  expect(await world.look(world.other, "lead to b1")).toEqual(hidden);
  expect(await world.look(world.lead, "operator to other")).toEqual(hidden);
});

test("no agent searches the mail of everybody", () => {
  expect(findAnything.operatorOnly).toBe(true);
});
