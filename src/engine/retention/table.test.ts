import { expect, test } from "bun:test";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { anAgent, aTurn, noon } from "../../../testkit/contracts/store/rows.ts";
import { retentionMakers } from "../../../testkit/retention-makers.ts";
import { retentionWorld } from "../../../testkit/retention-world.ts";
import { Retention, type RetentionRow, retentionTable, stayingTables } from "./table.ts";

const dayMs = 24 * 60 * 60_000;

/** The days differ for each key, so that a row with the wrong key fails the test. */
const days = {
  "history.retentionDays": 30,
  "snapshot.retentionDays": 14,
  "mail.retentionDays": 60,
  "merge.keepRefsDays": 7,
  "events.retentionDays": 21,
  "logs.retentionDays": 10,
  "costs.retentionDays": 90,
  "history.landedDays": 100,
  "merge.keepLogsDays": 5,
  "merge.keepReceiptsDays": 8,
  "merge.keepAttemptsDays": 6,
};
const daysOf = ({ days: given }: RetentionRow): number => (typeof given === "number" ? given : days[given]);

/** The rows without exceptions: all old things of these go. */
const nothingStays = retentionTable.filter(({ stays }) => stays === "nothing").map(({ what }) => what);

test("every row of the table is tried here", () => {
  expect(Object.keys(retentionMakers).toSorted()).toEqual(retentionTable.map(({ what }) => what).toSorted());
});

for (const row of retentionTable) {
  test(`${row.what}: old ones go after their days, young ones and those that are needed stay`, async () => {
    await using world = await retentionWorld(days);
    const make = retentionMakers[row.what];
    if (make === undefined) throw new Error(`nobody makes ${row.what}`);
    const end = noon + daysOf(row) * dayMs;
    const old = await make(world, "old", noon, false);
    const young = await make(world, "young", noon + dayMs / 2, false);
    const needed = nothingStays.includes(row.what) ? () => true : await make(world, "needed", noon, true);
    const there = async () => [await old(), await young(), await needed()];
    const pruneAt = (now: number) => {
      world.clock.wall = now;
      return row.prune(world.ports, { before: now - daysOf(row) * dayMs, hour: 0 });
    };
    expect(await pruneAt(end - 1)).toEqual({ removed: 0, more: false });
    expect(await there()).toEqual([true, true, true]);
    expect(await pruneAt(end + 1)).toEqual({ removed: 1, more: false });
    expect(await there()).toEqual([false, true, true]);
    expect(await pruneAt(end + dayMs)).toMatchObject({ removed: 1 });
    expect(await there()).toEqual([false, false, true]);
  });
}

test("a whole pass takes each row's days from its key, and 0 days are for ever", async () => {
  await using world = await retentionWorld(days);
  const there = new Map<string, () => boolean | Promise<boolean>>();
  const at = noon;
  for (const { what } of retentionTable) {
    const make = retentionMakers[what];
    if (make !== undefined) there.set(what, await make(world, what.replaceAll(" ", "-"), at, false));
  }
  const left = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const [what, isThere] of there) if (await isThere()) found.push(what);
    return found;
  };
  const pass = async (now: number, retention: typeof days): Promise<void> => {
    world.clock.wall = now;
    await new Retention().prune({ ...world.ports, settings: { ...world.ports.settings, retention } }, never);
  };
  const forEver = Object.fromEntries(Object.keys(days).map((key) => [key, 0])) as typeof days;
  await pass(noon + 1_000 * dayMs, forEver);
  const fixed = retentionTable.filter(({ days: given }) => typeof given === "number").map(({ what }) => what);
  expect((await left()).toSorted()).toEqual([...there.keys()].filter((what) => !fixed.includes(what)).toSorted());
  for (const key of Object.keys(days) as (keyof typeof days)[]) {
    await pass(noon + days[key] * dayMs + dayMs, { ...forEver, [key]: days[key] });
    // A merge ref or a snapshot may be held by a row with another key, so only the rows of this key are compared.
    const mine = retentionTable.filter((row) => row.days === key).map(({ what }) => what);
    expect((await left()).filter((what) => mine.includes(what))).toEqual([]);
  }
});

const never = new AbortController().signal;

test("much is let go of a part at a time: a pass is bounded, the next one comes soon and goes on, also in another engine", async () => {
  await using world = await retentionWorld(days);
  const { db, clock, ports } = world;
  db.run("BEGIN");
  const add = db.query(
    "INSERT INTO events (agent_name, source, level, type, created_at) VALUES (?, 'agent', 'info', 'x', ?)",
  );
  // The events of a living agent stay, and come before all the others.
  for (let n = 0; n < 25_000; n++) add.run(n < 12_000 ? "live" : "ended", noon + n);
  db.run("COMMIT");
  const count = (): number =>
    db.query<{ n: number }, []>("SELECT COUNT(*) AS n FROM events WHERE type = 'x'").get()?.n ?? 0;
  clock.wall = noon + 31 * dayMs;
  const retention = new Retention();
  await retention.prune(ports, never);
  expect(count()).toBe(25_000);
  await retention.prune(ports, never);
  expect(count()).toBe(25_000);
  clock.awake = 60_000;
  await retention.prune(ports, never);
  expect(count()).toBe(17_000);
  await new Retention().prune(ports, never);
  expect(count()).toBe(12_000);
  // The pass has looked at everything, so the next one comes after an hour.
  expect(await world.store.read((tx) => tx.oldRows.place("events"))).toBeNull();
});

test("the output of a turn that ended is compressed when its supervisor could not; that of a running turn is not", async () => {
  await using world = await retentionWorld(days);
  const running = anAgent("live");
  await world.store.transaction(async (tx) => {
    await tx.turns.queue(aTurn("turn-running", running));
    await tx.turns.start("turn-running", { fence: 1, logDir: "x", resumeRequested: null, now: noon });
  });
  const output = (turn: string): string =>
    join(world.state, "logs", "live", `2026-01-01T00-00-00-${turn}`, "stdout.ndjson");
  for (const turn of ["turn-running", "turn-gone"]) {
    mkdirSync(dirname(output(turn)), { recursive: true });
    writeFileSync(output(turn), "{}\n");
    utimesSync(dirname(output(turn)), new Date(noon), new Date(noon));
  }
  world.clock.wall = noon + dayMs;
  await new Retention().prune(world.ports, never);
  expect([existsSync(output("turn-running")), existsSync(output("turn-gone"))]).toEqual([true, false]);
  expect(existsSync(`${output("turn-gone")}.zst`)).toBe(true);
});

test("one output that cannot be compressed does not keep the others from it", async () => {
  await using world = await retentionWorld(days);
  const outputs = ["turn-a", "turn-b", "turn-c"].map((turn) =>
    join(world.state, "logs", "live", `2026-01-01T00-00-00-${turn}`, "stdout.ndjson"),
  );
  for (const [at, path] of outputs.entries()) {
    mkdirSync(at === 0 ? path : dirname(path), { recursive: true });
    if (at > 0) writeFileSync(path, "{}\n");
    utimesSync(dirname(path), new Date(noon), new Date(noon));
  }
  world.clock.wall = noon + dayMs;
  const told: unknown[] = [];
  await new Retention().prune({ ...world.ports, report: (error) => told.push(error) }, never);
  expect(told).toMatchObject([{ data: { kind: "unusable-file" } }]);
  expect(outputs.map((path) => existsSync(`${path}.zst`))).toEqual([false, true, true]);
});

test("events.maxRows lets the oldest events go before their days are over, and 0 sets no limit", async () => {
  await using world = await retentionWorld(days);
  const { ports, store, clock } = world;
  const names = ["ended", "live", "ended", "ended", "ended"];
  await store.transaction((tx) =>
    tx.events.append(names.map((agentName, n) => ({ source: "agent", type: `e${n}`, agentName, createdAt: noon + n }))),
  );
  const left = async (): Promise<string[]> =>
    (await store.read((tx) => tx.events.after(0, 10))).map(({ type }) => type);
  const prune = async (mostEvents: number): Promise<void> => {
    clock.wall = noon + dayMs;
    const row = retentionTable.find(({ what }) => what === "events");
    const settings = { ...ports.settings, mostEvents };
    await row?.prune({ ...ports, settings }, { before: noon - dayMs, hour: 0 });
  };
  await prune(0);
  await prune(5);
  expect(await left()).toEqual(["e0", "e1", "e2", "e3", "e4"]);
  await prune(2);
  expect(await left()).toEqual(["e1", "e3", "e4"]);
});

test("events.maxRows counts where events.retentionDays is 0 and keeps events of any age", async () => {
  await using world = await retentionWorld({ ...days, "events.retentionDays": 0 });
  const { ports, store, clock } = world;
  const types = ["e0", "e1", "e2", "e3"];
  await store.transaction((tx) =>
    tx.events.append(types.map((type, n) => ({ source: "agent", type, agentName: "ended", createdAt: noon + n }))),
  );
  const leftAfter = async (mostEvents: number): Promise<string[]> => {
    await new Retention().prune(
      { ...ports, settings: { ...ports.settings, mostEvents } },
      new AbortController().signal,
    );
    const events = await store.read((tx) => tx.events.after(0, 10));
    return events.map(({ type }) => type).filter((type) => types.includes(type));
  };
  clock.wall = noon + 1000 * dayMs;
  expect(await leftAfter(0)).toEqual(types);
  expect(await leftAfter(2)).toEqual(["e2", "e3"]);
});

test("a table of the store that grows is in the retention table, or says why it stays", async () => {
  await using world = await retentionWorld(days);
  const tables = world.db
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map(({ name }) => name);
  const listed = [...retentionTable.flatMap((row) => row.tables), ...Object.keys(stayingTables)];
  expect(listed.toSorted()).toEqual(tables.toSorted());
});

test("a pass gives the space of deleted rows back to the disk, if there is much of it", async () => {
  await using world = await retentionWorld(days);
  const { ports, store, db, clock } = world;
  const pages = (): number => Number(db.query("PRAGMA page_count").values()[0]?.[0]);
  await new Retention().prune(ports, new AbortController().signal);
  const before = pages();
  const data = "x".repeat(1_000);
  await store.transaction((tx) =>
    tx.events.append(Array.from({ length: 3_000 }, () => ({ source: "engine", type: "x", data, createdAt: noon }))),
  );
  expect(pages()).toBeGreaterThan(before + 700);
  clock.wall = noon + 100 * dayMs;
  await new Retention().prune(ports, new AbortController().signal);
  expect(pages()).toBeLessThan(before * 1.1);
});
