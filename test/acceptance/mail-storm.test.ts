import { expect, test } from "bun:test";
import { join } from "node:path";
import { clockAt } from "../../testkit/lifecycle.ts";
import { seedMail } from "../../testkit/mail-seed.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { documentsIn, drive, messagesIn, readUntilEmpty, stuckReader } from "./mail.world.ts";

const senders = 50;
const each = 10;

const sendLoop = `
i=0
while [ $i -lt ${each} ]; do
  "$OV" mail send --to operator --subject "From $1" --body "message $i of $1" --json || exit 1
  i=$((i + 1))
done`;

test("of 500 messages sent by 50 processes at once every one is stored, under a number of its own", async () => {
  // No database yet: creating it is part of the storm.
  await using project = await makeProject();
  const outs = await Promise.all(Array.from({ length: senders }, (_, n) => drive(project, sendLoop, `sender-${n}`)));
  const sent = outs.flatMap(documentsIn);
  expect(sent).toHaveLength(senders * each);
  expect(sent.every(({ success }) => success === true)).toBe(true);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(senders * each);
  const stored = await project.read((tx) => tx.messages.list({ to: "operator" }));
  expect(new Set(stored.map(({ body }) => body)).size).toBe(senders * each);
  expect(stored.map(({ seq }) => seq)).toEqual(Array.from({ length: senders * each }, (_, n) => senders * each - n));
}, 300_000);

/** Long enough that a look takes about twenty messages, so that two readers really compete. */
const longBody = (n: number): string => `${n} ${"x".repeat(3000)}`;
const manyMessages = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `msg-${n}`, body: longBody(n), createdAt: Date.now() }));
const idsOf = (mail: readonly { readonly id: string }[]): string[] => mail.map(({ id }) => id);

/** Takes some mail, waits until the other has some as well, and takes what is left. */
async function readBeside(project: TestProject, name: string, other: string): Promise<string> {
  const script = '"$OV" mail check --agent b1 --json; touch "$1"; until [ -e "$2" ]; do sleep 0.02; done';
  const taken = await drive(project, script, join(project.state, name), join(project.state, other));
  return taken + (await readUntilEmpty(project, "b1"));
}

test("two processes that empty one inbox of 1000 get each message exactly once between them", async () => {
  await using project = await makeProject();
  await seedMail(project.root, "b1", manyMessages(1000));
  const [one, two] = await Promise.all([readBeside(project, "one", "two"), readBeside(project, "two", "one")]);
  const [first, second] = [messagesIn(one), messagesIn(two)];
  expect(first.length).toBeGreaterThan(0);
  expect(second.length).toBeGreaterThan(0);
  expect(idsOf([...first, ...second]).sort()).toEqual(idsOf(manyMessages(1000)).sort());
  expect([...first, ...second].filter(({ redelivered }) => redelivered)).toEqual([]);
  const open = await project.read((tx) => tx.deliveries.inState("b1", ["queued", "claimed", "delivered", "dead"]));
  expect(open).toEqual([]);
}, 180_000);

test("mail whose reader was killed between claim and print comes again after the lease, marked redelivered", async () => {
  await using project = await makeProject({ config: "mail:\n  leaseMs: 600000\n" });
  await seedMail(project.root, "b1", manyMessages(100));
  const claimed = () => project.read((tx) => tx.deliveries.inState("b1", ["claimed"]));
  using victim = await stuckReader(project, "b1");
  await project.until("the reader held its mail", async () => (await claimed()).length > 0);
  const lost = idsOf((await claimed()).map(({ message }) => message));
  expect(await victim.kill()).toBe("SIGKILL");

  const others = messagesIn(await readUntilEmpty(project, "b1"));
  expect(idsOf(others)).toEqual(idsOf(manyMessages(100)).slice(lost.length));
  expect(others.some(({ redelivered }) => redelivered)).toBe(false);

  const readAt = async (offsetMs: number) => messagesIn(await readUntilEmpty(project, "b1", clockAt(offsetMs)));
  // Whoever looks when the lease has run out sets the time of the next try, a pause later.
  const again = [...(await readAt(601_000)), ...(await readAt(700_000))];
  expect(idsOf(again)).toEqual(lost);
  expect(again.every(({ redelivered }) => redelivered)).toBe(true);
  expect(await readAt(700_000)).toEqual([]);
}, 120_000);

// The first call of `mail check` only looks, so after-commit strikes there; before-commit strikes the claim itself.
for (const point of ["command.after-commit", "command.before-commit"]) {
  test(`a reader killed at ${point} has taken nothing: the next one gets all of it, as if for the first time`, async () => {
    await using project = await makeProject();
    await seedMail(project.root, "b1", manyMessages(10));
    const kill = { OVERSTORY_TEST_KILL_AT: point, OVERSTORY_TEST_KILL_ONCE: join(project.state, "killed") };
    const killed = await project.ovWith({ env: kill }, "mail", "check", "--agent", "b1", "--json");
    expect(killed).toMatchObject({ code: 137, out: "" });
    const next = messagesIn(await readUntilEmpty(project, "b1"));
    expect(idsOf(next)).toEqual(idsOf(manyMessages(10)));
    expect(next.some(({ redelivered }) => redelivered)).toBe(false);
  });
}
