import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { priorities, priorityRank } from "../../src/domain/mail/types.ts";
import { anAgent, aRun } from "../../testkit/contracts/store/rows.ts";
import { fillStore, seedMail } from "../../testkit/mail-seed.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { rawDatabase } from "../../testkit/raw-database.ts";
import { statePath } from "../../testkit/state.ts";
import { messagesIn, readUntilEmpty } from "./mail.world.ts";

test("10,000 messages of one millisecond are read in the order of sending, the more urgent classes first", async () => {
  await using project = await makeProject();
  const moment = Date.now();
  // Every class in every stretch, in an order that neither ids nor priorities follow.
  const mail = Array.from({ length: 10_000 }, (_, n) => ({
    id: `msg-${(n * 7919) % 10_000}`,
    body: `${n}`,
    createdAt: moment,
    priority: priorities[((n * n) % 7) % priorities.length] ?? "normal",
  }));
  await seedMail(project.root, "b1", mail);
  const read = messagesIn(await readUntilEmpty(project, "b1"));
  const rank = ({ priority }: (typeof mail)[number]): number => priorityRank[priority];
  const expected = mail.toSorted((a, b) => rank(a) - rank(b) || Number(a.body) - Number(b.body));
  expect(read.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
}, 180_000);

test("mail to a group of 500 is one message in one transaction, and starts nobody's turn", async () => {
  await using project = await makeProject();
  await seatAgents(project);
  const commits = await countCommits(project, async () => {
    const sent = await project.json("mail", "send", "--to", "@all", "--subject", "Freeze", "--body", "No merges today");
    expect(sent).toMatchObject({ success: true, woken: [] });
  });
  expect(commits).toBe(1);
  expect(await countRows(project)).toEqual({ messages: 1, deliveries: 500, turns: 0 });
});

test("mail to a group of 20 is one message with 20 deliveries, and starts nobody's turn", async () => {
  await using project = await makeProject();
  await seatAgents(project);
  const sent = await project.json(
    "mail",
    "send",
    "--to",
    "@builders",
    "--subject",
    "Hint",
    "--body",
    "Use the new API",
  );
  expect(sent.recipients).toHaveLength(20);
  expect(await countRows(project)).toEqual({ messages: 1, deliveries: 20, turns: 0 });
  expect(project.processes()).toEqual([]);
});

/** 500 live agents between turns, 20 of them builders. */
async function seatAgents(project: TestProject): Promise<void> {
  await fillStore(project.root, async (tx) => {
    await tx.runs.insert(aRun("r1"));
    for (let n = 0; n < 500; n++) {
      await tx.agents.reserve(anAgent(`agent-${n}`, { capability: n < 20 ? "builder" : "scout" }));
    }
  });
}

async function countRows(project: TestProject): Promise<Record<"messages" | "deliveries" | "turns", number>> {
  const db = rawDatabase(project, "read");
  const count = (table: string): number =>
    db.query<{ n: number }, []>(`SELECT COUNT(*) AS n FROM ${table}`).get()?.n ?? -1;
  const counts = { messages: count("messages"), deliveries: count("deliveries"), turns: count("turns") };
  db.close();
  return counts;
}

/**
 * How many transactions were committed meanwhile: each ends with a frame of the write-ahead log that says so. A reader
 * that stays where it is keeps the log from being shortened when the program ends.
 */
async function countCommits(project: TestProject, action: () => Promise<void>): Promise<number> {
  const db = rawDatabase(project, "write");
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.run("BEGIN");
  db.query("SELECT COUNT(*) FROM messages").get();
  await action();
  const commits = commitFrames(`${databaseOf(project)}-wal`);
  db.run("COMMIT");
  db.close();
  return commits;
}

function commitFrames(wal: string): number {
  const bytes = readFileSync(wal);
  const [header, frameHeader] = [32, 24];
  const pageSize = bytes.readUInt32BE(8);
  let commits = 0;
  for (let at = header; at + frameHeader <= bytes.length; at += frameHeader + pageSize) {
    const sameLog = bytes.subarray(at + 8, at + 16).equals(bytes.subarray(16, 24));
    if (sameLog && bytes.readUInt32BE(at + 4) > 0) commits++;
  }
  return commits;
}

const databaseOf = ({ root }: TestProject): string => statePath(root, "overstory.db");
