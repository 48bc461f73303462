import { expect, test } from "bun:test";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { aCheck } from "../../../testkit/contracts/store/checks.ts";
import { aReceipt, aResult } from "../../../testkit/contracts/store/gates.ts";
import { anEntry, anOp } from "../../../testkit/contracts/store/merges.ts";
import { aDelivery, aMessage, anAgent, aProcess, aTurn, noon } from "../../../testkit/contracts/store/rows.ts";
import { aSpending } from "../../../testkit/contracts/store/spending.ts";
import { retentionWorld, type RetentionWorld as World } from "../../../testkit/retention-world.ts";
import type { Tx } from "../../ports/store.ts";
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
  "merge.keepLogsDays": 5,
  "merge.keepReceiptsDays": 8,
  "merge.keepAttemptsDays": 6,
};
const daysOf = ({ days: given }: RetentionRow): number => (typeof given === "number" ? given : days[given]);

/**
 * Makes one thing of this row, dated `at`, and returns a check whether it still exists. With `needed` the thing must
 * stay.
 */
type Make = (world: World, id: string, at: number, needed: boolean) => Promise<() => boolean | Promise<boolean>>;

const counts =
  ({ db }: World, from: string) =>
  (): boolean =>
    (db.query<{ n: number }, []>(`SELECT COUNT(*) AS n FROM ${from}`).get()?.n ?? 0) > 0;

const stored =
  (from: (id: string) => string, put: (tx: Tx, id: string, at: number, needed: boolean) => Promise<unknown>): Make =>
  async (world, id, at, needed) => {
    await world.store.transaction((tx) => put(tx, id, at, needed));
    return counts(world, from(id));
  };

const file =
  (path: (id: string) => string, more: (tx: Tx, id: string) => Promise<unknown>): Make =>
  async (world, id, at, needed) => {
    const made = join(world.state, path(id));
    mkdirSync(dirname(made), { recursive: true });
    writeFileSync(made, "x");
    for (const aged of [made, dirname(made)]) utimesSync(aged, new Date(at), new Date(at));
    if (needed) await world.store.transaction((tx) => more(tx, id));
    return () => existsSync(made);
  };

const nameIf = (needed: boolean): string => (needed ? "live" : "ended");
const agentIf = (needed: boolean) => anAgent(nameIf(needed), needed ? {} : { generation: 2, runId: "over" });

/** Commits a file on a branch of its own. A landed one is merged into main too. */
function commitOf({ git }: World, id: string, landed: boolean): string {
  const commit = git.branch(`work-${id}`, () => git.write(git.root, `${id}.txt`, `${id}\n`));
  if (landed) git.git(git.root, "merge", "--quiet", "--no-ff", "-m", id, commit);
  git.git(git.root, "branch", "--quiet", "-D", `work-${id}`);
  return commit;
}

const makers: Readonly<Record<string, Make>> = {
  events: stored(
    (id) => `events WHERE type = '${id}'`,
    (tx, id, at, needed) => tx.events.append([{ source: "agent", type: id, agentName: nameIf(needed), createdAt: at }]),
  ),
  turns: stored(
    (id) => `turns WHERE id = '${id}'`,
    async (tx, id, at, needed) => {
      await tx.turns.queue(aTurn(id, agentIf(needed), { now: at }));
      await tx.turns.cancel(id, at);
    },
  ),
  "turn logs": file(
    (id) => `logs/ended/2026-01-01T00-00-00-turn-${id}/input.json`,
    (tx, id) => tx.turns.queue(aTurn(`turn-${id}`, agentIf(true))),
  ),
  costs: stored(
    (id) => `spending WHERE source = '${id}'`,
    (tx, id, at, needed) => tx.spending.book([aSpending(id, { agentName: nameIf(needed), endedAt: at })]),
  ),
  "sums of costs": async (world, id, at, needed) => {
    world.db.run(
      `INSERT INTO spending_sums VALUES ('task', '${id}', 1, 0, 0, 1, 1, 1, 1, 1, 1, ${at}, ${needed ? at + 1_000 * dayMs : at})`,
    );
    return counts(world, `spending_sums WHERE key = '${id}'`);
  },
  processes: stored(
    (id) => `processes WHERE id = '${id}'`,
    async (tx, id, at, needed) => {
      await tx.processes.insert(aProcess(id, { startedAt: at, endedAt: at }));
      if (needed) await tx.leases.take("engine", id);
    },
  ),
  transitions: stored(
    (id) => `transitions WHERE reason = '${id}'`,
    async (tx, id, at, needed) => {
      const agent = (await tx.agents.byName(nameIf(needed))) ?? agentIf(needed);
      const { state, outcome, endedAt } = agent;
      const change = { state, stateVersion: agent.stateVersion + 1, outcome, endedAt };
      expect(await tx.agents.move(agent, change, { to: state, actor: "engine", reason: id }, at)).toBe(true);
    },
  ),
  tokens: stored(
    (id) => `tokens WHERE digest = '${id}'`,
    (tx, id, at, needed) =>
      tx.tokens.insert({ digest: id, agentId: "live-1", turnId: null, createdAt: at, revokedAt: needed ? null : at }),
  ),
  usage: stored(
    (id) => `usage WHERE turn_id = '${id}'`,
    (tx, id, at, needed) =>
      tx.usage.record({
        turnId: id,
        messageId: "m",
        agentName: nameIf(needed),
        runId: "r1",
        taskId: null,
        model: null,
        input: 1,
        output: 1,
        cacheRead: 0,
        cacheWrite: 0,
        createdAt: at,
      }),
  ),
  handoffs: stored(
    (id) => `handoffs WHERE checkpoint = '${id}'`,
    (tx, id, at, needed) =>
      tx.recovery.addHandoff({
        agentName: nameIf(needed),
        fromGeneration: 1,
        toGeneration: 2,
        reason: "reopened",
        checkpoint: id,
        createdAt: at,
      }),
  ),
  audit: stored(
    (id) => `audit WHERE action = '${id}'`,
    (tx, id, at) => tx.audit.record({ caller: "operator", action: id, refused: false, detail: "", now: at }),
  ),
  "budgets of past days": stored(
    (id) => `budgets WHERE subject = '${id}'`,
    (tx, id, at, needed) =>
      tx.budgets.book([{ scope: needed ? "run" : "day", subject: id, unit: "turns", spent: 1, reserved: 0 }], at),
  ),
  snapshots: async (world, id, at, needed) => {
    const commit = commitOf(world, id, !needed);
    const ref = `refs/overstory/snap/${id}/1/1`;
    world.git.git(world.git.root, "update-ref", ref, commit);
    const baseCommit = world.git.tip("main~0");
    await world.store.transaction(async (tx) => {
      const ended = {
        state: "completed",
        endedAt: at,
        releasedAt: at,
        cleanedAt: at,
        runId: "over",
        baseCommit,
      } as const;
      await tx.agents.reserve(anAgent(id, ended));
      const about = { agentName: id, generation: 1, ref, commitId: commit, reason: "release", skipped: [] };
      await tx.snapshots.add({ ...about, createdAt: at });
    });
    return counts(world, `snapshots WHERE ref = '${ref}'`);
  },
  trash: async (world, id, at, needed) => {
    const headCommit = commitOf(world, id, !needed);
    await world.store.transaction((tx) =>
      tx.agents.reserve(
        anAgent(id, {
          ...{ state: "completed", endedAt: at, releasedAt: at, cleanedAt: at, runId: "over" },
          ...{ headCommit, ahead: 1, baseCommit: world.git.tip(`${headCommit}~1`) },
        }),
      ),
    );
    return file(
      () => `trash/${id}-2026-01-01T00-00-00-000Z/cache`,
      async () => {},
    )(world, id, at, false);
  },
  "spec texts": async (world, id, at, needed) => {
    const digest = new Bun.CryptoHasher("sha256").update(id).digest("hex");
    const keep = (tx: Tx) => tx.specs.put({ taskId: id, path: "spec.md", author: null, digest, updatedAt: at });
    return file(() => `specs/.content/${digest}.md`, keep)(world, id, at, needed);
  },
  mail: stored(
    (id) => `messages WHERE id = '${id}'`,
    async (tx, id, at, needed) => {
      const seq = await tx.messages.insert(aMessage(id, { runId: "over", createdAt: at }));
      await tx.deliveries.insert([aDelivery(seq, "ended", { state: needed ? "queued" : "acked" })]);
    },
  ),
  "merge refs": async (world, id, at, needed) => {
    const commit = commitOf(world, id, true);
    const status = needed ? "intended" : "done";
    await world.store.transaction((tx) => tx.mergeOps.insert(anOp(id, { status, createdAt: at, updatedAt: at })));
    const ref = `refs/overstory/backup/${id}`;
    world.git.git(world.git.root, "update-ref", ref, commit);
    return async () => (await world.git.merging.refsBelow("refs/overstory/backup/")).some((one) => one.ref === ref);
  },
  "gate logs": file(
    (id) => `logs/merge/${id}/1.log`,
    (tx, id) => tx.checks.insert(aCheck(id, { status: "running" })),
  ),
  "merge attempts": stored(
    (id) => `merge_attempts WHERE id = '${id}'`,
    async (tx, id, at, needed) => {
      const entry = await tx.merges.insert(anEntry(id, { status: needed ? "blocked" : "merged" }));
      const about = {
        trainId: id,
        queueIds: [entry],
        baseCommit: "b",
        candidateCommit: null,
        gateResults: [],
        members: [],
      };
      await tx.mergeAttempts.insert({ ...about, id, outcome: "landed", startedAt: at, finishedAt: at, logDir: null });
    },
  ),
  checks: stored(
    (id) => `checks WHERE id = '${id}'`,
    (tx, id, at, needed) => {
      const agentName = nameIf(needed);
      const agentId = needed ? "live-1" : "ended-2";
      return tx.checks.insert(aCheck(id, { agentName, agentId, status: "done", createdAt: at, updatedAt: at }));
    },
  ),
  receipts: stored(
    (id) => `receipts WHERE id = '${id}'`,
    (tx, id, at, needed) =>
      tx.receipts.add(aReceipt(id, { kind: needed ? "landing" : "check", tree: id, createdAt: at })),
  ),
  "gate results": stored(
    (id) => `gate_results WHERE id = '${id}'`,
    async (tx, id, at, needed) => {
      await tx.gates.add(aResult(id, { tree: id, createdAt: at }));
      if (needed) await tx.receipts.add(aReceipt(`of-${id}`, { tree: id, createdAt: at }));
    },
  ),
  "radar pairs": stored(
    (id) => `radar_pairs WHERE a_commit = '${id}'`,
    (tx, id, at) => tx.radar.put({ aCommit: id, bCommit: "b", outcome: "clean", files: [], createdAt: at }),
  ),
  "radar warnings": stored(
    (id) => `radar_warnings WHERE files_digest = '${id}'`,
    (tx, id, at, needed) => tx.radar.warnOnce("overstory/live/T", `overstory/${nameIf(needed)}/T`, id, at),
  ),
  replies: stored(
    (id) => `requests WHERE id = '${id}'`,
    (tx, id, at) => tx.requests.store(id, "status", "{}", at),
  ),
  "captured variables": async (world, id, at, needed) =>
    file(
      () => `run/env/${needed ? "kept" : id}`,
      async () => {},
    )(world, id, at, needed),
  "mail bodies": file(
    (id) => `mail-blobs/${id}`,
    (tx, id) => tx.messages.insert(aMessage(id, { blobPath: `/elsewhere/${id}` })),
  ),
};

/** The rows without exceptions: all old things of these go. */
const nothingStays = retentionTable.filter(({ stays }) => stays === "nothing").map(({ what }) => what);

test("every row of the table is tried here", () => {
  expect(Object.keys(makers).toSorted()).toEqual(retentionTable.map(({ what }) => what).toSorted());
});

for (const row of retentionTable) {
  test(`${row.what}: old ones go after their days, young ones and those that are needed stay`, async () => {
    await using world = await retentionWorld(days);
    const make = makers[row.what];
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
    const make = makers[what];
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

test("a table of the store that grows is in the retention table, or says why it stays", async () => {
  await using world = await retentionWorld(days);
  const tables = world.db
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map(({ name }) => name);
  const listed = [...retentionTable.flatMap((row) => row.tables), ...Object.keys(stayingTables)];
  expect(listed.toSorted()).toEqual(tables.toSorted());
});
