import { expect, test } from "bun:test";
import { type MailWorld, mailWorld } from "../../../testkit/mail-world.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import type { Missing } from "../../domain/completion/check.ts";
import { requestDone } from "../completions/checks.ts";
import { shownByRefusal, showUnread, unreadBeforeFinish } from "./before-finish.ts";
import { confirmDelivered } from "./check.ts";
import { whyMail } from "./read-mail.ts";
import { type SendRequest, sendMail } from "./send.ts";

const letter = { to: "b1", subject: "Dates", body: "Use UTC\nand say so" } as const;

/** A builder in its turn, its lead, and a stranger beside it. */
async function teamAtWork(): Promise<MailWorld & { readonly as: (name: string) => Caller }> {
  const world = await mailWorld();
  const callers = new Map<string, Caller>();
  callers.set("lead", await world.seat("lead", { capability: "lead" }));
  callers.set("b1", await world.seat("b1", { capability: "builder", parentName: "lead" }));
  callers.set("b2", await world.seat("b2", { capability: "builder", parentName: "lead" }));
  await world.beginTurn("b1");
  return Object.assign(world, { as: (name: string) => callers.get(name) as Caller });
}

const send = (world: MailWorld, request: Partial<SendRequest>, caller?: Caller) =>
  world.must(sendMail, { ...letter, ...request }, caller);

const inTx = <T>(
  world: MailWorld,
  work: typeof showUnread | typeof unreadBeforeFinish | typeof shownByRefusal,
  requestedBy = "b1",
): Promise<T> =>
  world.store.transaction(async (tx) => {
    const agent = await tx.agents.byName("b1");
    if (agent === undefined) throw new Error("b1 has no seat");
    return (await work(tx, agent, { requestedBy }, world.clock.now)) as T;
  });

const finish = (world: MailWorld): Promise<Missing | undefined> => inTx(world, showUnread);

test("L4: what counts before a finish is the word of operator, parent and any agent, and all that would have woken it", async () => {
  await using world = await teamAtWork();
  const counted = [
    await send(world, { type: "status", body: "from the operator" }),
    await send(world, { type: "status", body: "from the parent" }, world.as("lead")),
    await send(world, { type: "question", body: "from a sibling" }, world.as("b2")),
    await send(world, { type: "status", body: "a sibling's news" }, world.as("b2")),
    await send(world, { type: "result", body: "what a sibling found" }, world.as("b2")),
  ].map(({ id }) => id);
  await send(world, { to: "@builders", type: "status", body: "news for all" }, world.as("b2"));
  const unread = await inTx<readonly { message: { id: string } }[]>(world, unreadBeforeFinish);
  expect(unread.map(({ message }) => message.id).sort()).toEqual(counted.sort() as string[]);
  expect(await inTx<readonly unknown[]>(world, unreadBeforeFinish, "operator")).toEqual([]);
});

test("L4: a finish shows unread mail in full, once per message, and the next one goes through", async () => {
  await using world = await teamAtWork();
  const { id } = await send(world, {});
  expect((await world.must(whyMail, { id: id ?? "" })).recipients[0]?.sentence).toStartWith(
    "b1 is shown it before it can finish in turn",
  );
  const refused = await finish(world);
  expect(refused).toMatchObject({ kind: "unread-mail", names: [id ?? ""] });
  expect(refused?.mail?.text).toContain("| Use UTC\n| and say so");
  expect(await world.states(id ?? "")).toEqual(["claimed"]);
  const { by = "", messages = [] } = refused?.mail ?? {};
  await world.must(confirmDelivered, { by, messages }, world.as("b1"));
  expect(await world.states(id ?? "")).toEqual(["delivered"]);
  expect(await finish(world)).toBeUndefined();
  const later = await send(world, { body: "one more thing" });
  expect((await finish(world))?.names).toEqual([later.id ?? ""]);
});

test("L4: a finish shows several messages together, and of very long ones the rest with its next try", async () => {
  await using world = await teamAtWork();
  const ids: (string | null)[] = [];
  for (let n = 0; n < 10; n++) ids.push((await send(world, { body: `${n} ${"x".repeat(7_990)}` })).id ?? null);
  const shown: unknown[] = [];
  for (const count of [8, 2]) {
    const refused = await finish(world);
    expect(refused?.names).toHaveLength(count);
    shown.push(...(refused?.names ?? []));
    const { by = "", messages = [] } = refused?.mail ?? {};
    await world.must(confirmDelivered, { by, messages }, world.as("b1"));
  }
  expect(shown).toEqual(ids);
  expect(await finish(world)).toBeUndefined();
});

test("mail that only a refused finish has shown is named again, until a finish follows", async () => {
  await using world = await teamAtWork();
  const { id } = await send(world, {}, world.as("lead"));
  const named = () => inTx<Missing | undefined>(world, shownByRefusal);
  expect(await named()).toBeUndefined();
  const refused = await finish(world);
  const check = await world.must(requestDone, { summary: "did it" }, world.as("b1"));
  const settle = (status: "failed" | "done", problem: readonly Missing[]) =>
    world.store.transaction((tx) => tx.checks.change(check.id, ["queued", "failed"], { status, problem }));
  await settle("failed", refused === undefined ? [] : [refused]);
  expect(await named()).toMatchObject({
    message: expect.stringContaining(`${id} of lead, "Dates"`),
    fix: expect.stringContaining(`ov mail read ${id}`),
  });
  await settle("done", []);
  expect(await named()).toBeUndefined();
});

test("L4: mail whose showing was never confirmed is shown again", async () => {
  await using world = await teamAtWork();
  const { id } = await send(world, {});
  const first = await finish(world);
  expect(await finish(world)).toEqual(first as Missing);
  expect(await world.states(id ?? "")).toEqual(["claimed"]);
});

test("L4: mail without a type from the operator or the parent starts a turn; all other status mail says that it starts none", async () => {
  await using world = await teamAtWork();
  expect(await send(world, { body: "1" })).toMatchObject({ woken: ["b1"], startsNoTurn: [] });
  expect(await send(world, { body: "2" }, world.as("lead"))).toMatchObject({ woken: ["b1"], startsNoTurn: [] });
  const none = { woken: [], startsNoTurn: ["b1"] };
  expect(await send(world, { body: "3" }, world.as("b2"))).toMatchObject(none);
  expect(await send(world, { body: "4", type: "status" })).toMatchObject(none);
  expect(await send(world, { body: "5", wake: false })).toMatchObject(none);
  expect(await send(world, { body: "6", to: "@builders" })).toMatchObject({ woken: [], startsNoTurn: ["b1", "b2"] });
  const later = await send(world, { body: "8", to: "lead" }, world.as("b2"));
  expect(later).toMatchObject({ startsNoTurn: ["lead"], shownAtFinish: [] });
  expect(await send(world, { body: "9" }, world.as("b2"))).toMatchObject({ shownAtFinish: ["b1"] });
  expect(await send(world, { body: "7", to: "operator" }, world.as("b2"))).toMatchObject({ startsNoTurn: [] });
});
