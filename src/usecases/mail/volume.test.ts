import { expect, test } from "bun:test";
import { type MailWorld, mailWorld } from "../../../testkit/mail-world.ts";
import { type Priority, priorities } from "../../domain/mail/types.ts";
import type { Store } from "../../ports/store.ts";
import { checkMail, confirmDelivered } from "./check.ts";
import { post } from "./post.ts";

test("10,000 messages of one millisecond come back in the order of sending within their priority", async () => {
  await using world = await mailWorld();
  const sent = await fill(world, 10_000);
  const seen: { n: number; priority: Priority }[] = [];
  for (;;) {
    const { letters, by } = await world.must(checkMail, {});
    if (letters.length === 0) break;
    await world.must(confirmDelivered, { by, messages: letters.map(({ message }) => message.seq) });
    for (const { message } of letters) seen.push({ n: Number(message.body), priority: message.priority });
  }
  const inOrder = (["urgent", "high", "normal", "low"] as const).flatMap((priority) =>
    sent.filter((each) => each.priority === priority),
  );
  expect(seen).toEqual(inOrder);
}, 60_000);

test("two readers of one inbox get each of 1,000 messages exactly once", async () => {
  await using world = await mailWorld();
  await fill(world, 1_000);
  const drain = async (store: Store): Promise<number[]> => {
    const taken: number[] = [];
    for (;;) {
      const checked = await world.call(checkMail, { limit: 7 }, { store });
      if (!checked.ok) throw new Error("a look was refused");
      const { letters, by } = checked.value;
      if (letters.length === 0) return taken;
      // Everything so far ran without a pause; a real reader would leave room for the other.
      await Bun.sleep(1);
      taken.push(...letters.map(({ message }) => Number(message.body)));
      await world.call(confirmDelivered, { by, messages: letters.map(({ message }) => message.seq) }, { store });
    }
  };
  const [one, two] = await Promise.all([drain(world.another()), drain(world.another())]);
  expect([...one, ...two].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
  expect(Math.min(one.length, two.length)).toBeGreaterThan(0);
}, 60_000);

/** Stores numbered messages of mixed priority for the operator, all with the same time. */
async function fill(world: MailWorld, count: number): Promise<readonly { n: number; priority: Priority }[]> {
  const sent = Array.from({ length: count }, (_, n) => ({ n, priority: priorities[(n * 7) % 4] ?? "normal" }));
  let made = 0;
  const ids = { next: (prefix: string) => `${prefix}-${made++}`, secret: () => "", digest: () => "" };
  await world.store.transaction(async (tx) => {
    for (const { n, priority } of sent) {
      await post(
        tx,
        { ids, now: world.clock.now },
        {
          from: "lead-1",
          fromAgentId: null,
          runId: "run-1",
          verified: true,
          address: "operator",
          recipients: [{ name: "operator", wake: false }],
          subject: "s",
          body: `${n}`,
          type: "status",
          priority,
        },
      );
    }
  });
  return sent;
}
