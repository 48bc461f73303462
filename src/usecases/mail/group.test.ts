import { expect, test } from "bun:test";
import { mailWorld } from "../../../testkit/mail-world.ts";
import { storedAgent } from "../../../testkit/use-case.ts";
import type { Store } from "../../ports/store.ts";
import { sendMail } from "./send.ts";

const words = { subject: "news", body: "it works" };

const seatMany = (store: Store, count: number): Promise<void> =>
  store.transaction(async (tx) => {
    for (let n = 0; n < count; n++) await tx.agents.reserve(storedAgent(`b${n}`, { worktreePath: `/w/b${n}` }));
  });

test("a group send to 20 agents is one message, 20 deliveries and no turn", async () => {
  await using world = await mailWorld();
  await seatMany(world.store, 20);
  const sent = await world.must(sendMail, { ...words, to: "@builders", type: "question" });
  expect([sent.group, sent.recipients.length, sent.woken]).toEqual([true, 20, []]);
  expect(await world.store.read((tx) => tx.messages.list({}))).toHaveLength(1);
  expect(await world.deliveries(sent.id ?? "")).toHaveLength(20);
  expect(await world.queuedTurns()).toEqual([]);
});

test("mail to 500 agents is stored in one transaction and starts turns only when it should wake", async () => {
  await using world = await mailWorld();
  await seatMany(world.store, 500);
  const other = world.another();
  const before = await other.changeCounter();
  const quiet = await world.must(sendMail, { ...words, to: "@all" });
  expect((await other.changeCounter()) - before).toBe(1);
  expect(await world.deliveries(quiet.id ?? "")).toHaveLength(500);
  expect(await world.queuedTurns()).toEqual([]);
  const loud = await world.must(sendMail, { ...words, body: "now", to: "@all", wake: true });
  expect(loud.woken).toHaveLength(500);
  expect(await world.queuedTurns()).toHaveLength(500);
  expect(await world.store.read((tx) => tx.messages.list({}))).toHaveLength(2);
});

test("the sender, agents that have ended and other people's children are not in a group", async () => {
  await using world = await mailWorld();
  const lead = await world.seat("lead-1", { capability: "lead" });
  await world.seat("mine-1", { parentName: "lead-1" });
  await world.seat("mine-2", { parentName: "lead-1", state: "completed" });
  await world.seat("theirs", { parentName: "lead-2" });
  expect((await world.must(sendMail, { ...words, to: "@children" }, lead)).recipients).toEqual(["mine-1"]);
  expect((await world.must(sendMail, { ...words, to: "@ALL" }, lead)).recipients).toEqual(["mine-1", "theirs"]);
});

test("an empty group is refused unless it was allowed, and then nothing is stored", async () => {
  await using world = await mailWorld();
  const refused = await world.call(sendMail, { ...words, to: "@scouts" });
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "no-recipients", address: "@scouts" } });
  const allowed = await world.must(sendMail, { ...words, to: "@scouts", allowEmpty: true });
  expect(allowed).toMatchObject({ id: null, group: true, recipients: [] });
  expect(await world.store.read((tx) => tx.messages.list({}))).toEqual([]);
  const unknown = await world.call(sendMail, { ...words, to: "@scuots", allowEmpty: true });
  expect(unknown).toMatchObject({ ok: false, refusal: { kind: "invalid", nearest: "@scouts" } });
});
