import { expect, test } from "bun:test";
import { aCheck } from "../../../testkit/contracts/store/checks.ts";
import { aReceipt, aResult } from "../../../testkit/contracts/store/gates.ts";
import { anEntry, anOp } from "../../../testkit/contracts/store/merges.ts";
import { anAgent, aRun, noon } from "../../../testkit/contracts/store/rows.ts";
import { landingWorld } from "../../../testkit/landing-world.ts";
import type { StoredCheck } from "../../domain/completion/check.ts";
import type { GateResult } from "../../domain/gate/gate.ts";
import type { Store, Tx } from "../../ports/store.ts";
import { pruneChecks, pruneGateResults, pruneReceipts } from "./evidence.ts";

const dayMs = 24 * 60 * 60_000;

interface Kept {
  readonly checks: readonly string[];
  readonly receipts: readonly string[];
  readonly results: readonly string[];
}

interface World extends AsyncDisposable {
  readonly store: Store;
  /** Variables that were deleted. */
  readonly forgotten: string[];
  /** Lets go of what is older than a fortnight, so many days after noon. */
  prune(days: number): Promise<{ readonly removed: readonly number[]; readonly more: boolean }>;
  /** Which of these are left. */
  left(ids: Kept): Promise<Kept>;
}

async function worldOf(fill: (tx: Tx) => Promise<void>): Promise<World> {
  const place = await landingWorld();
  const { store } = place;
  const forgotten: string[] = [];
  await store.transaction(async (tx) => {
    await tx.runs.insert(aRun("r1"));
    await fill(tx);
  });
  return {
    store,
    forgotten,
    prune: async (days) => {
      const ports = { store, forgetEnvironment: (path: string) => void forgotten.push(path) };
      const when = { before: noon + (days - 14) * dayMs, hour: 0 };
      const done = [
        await pruneChecks(ports, when),
        await pruneReceipts(ports, when),
        await pruneGateResults(ports, when),
      ];
      return { removed: done.map(({ removed }) => removed), more: done.some(({ more }) => more) };
    },
    left: (ids) =>
      store.read(async (tx) => {
        const there = async (all: readonly string[], get: (id: string) => Promise<unknown>): Promise<string[]> => {
          const found: string[] = [];
          for (const id of all) if ((await get(id)) !== undefined) found.push(id);
          return found;
        };
        return {
          checks: await there(ids.checks, (id) => tx.checks.get(id)),
          receipts: await there(ids.receipts, (id) => tx.receipts.get(id)),
          results: await there(ids.results, (id) => tx.gates.get(id)),
        };
      }),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

const byPerson = (id: string, change: Partial<StoredCheck> = {}) =>
  aCheck(id, {
    kind: "check",
    agentId: null,
    agentName: null,
    request: { kind: "check", envFile: `/env/${id}` },
    status: "done",
    ...change,
  });

const onTree = (id: string, tree: string, change: Partial<GateResult> = {}): GateResult =>
  aResult(id, { tree, ...change });

test("what a landing rests on stays for ever; what only a check rested on goes with its days", async () => {
  await using world = await worldOf(async (tx) => {
    await tx.checks.insert(byPerson("check"));
    await tx.receipts.add(aReceipt("of-landing", { kind: "landing", tree: "landed", results: ["landed"] }));
    await tx.receipts.add(
      aReceipt("of-check", { kind: "check", subject: "main", tree: "checked", results: ["checked"] }),
    );
    await tx.gates.add(onTree("landed", "landed"));
    await tx.gates.add(onTree("checked", "checked"));
    await tx.gates.add(onTree("loose", "loose"));
  });
  const all = {
    checks: ["check"],
    receipts: ["of-landing", "of-check"],
    results: ["landed", "checked", "loose"],
  };
  await world.prune(14);
  expect(await world.left(all)).toEqual(all);
  expect(await world.prune(15)).toEqual({ removed: [1, 1, 2], more: false });
  expect(await world.left(all)).toEqual({ checks: [], receipts: ["of-landing"], results: ["landed"] });
  expect(world.forgotten).toEqual(["/env/check"]);
  await world.prune(10_000);
  expect(await world.left(all)).toMatchObject({ receipts: ["of-landing"], results: ["landed"] });
});

test("a completion stays while its agent could ask again, is not released, or waits for its branch to land", async () => {
  const ended = { state: "completed", outcome: "done", endedAt: noon } as const;
  const names = ["working", "submitted", "queued", "reopened", "released", "unknown"];
  await using world = await worldOf(async (tx) => {
    await tx.agents.reserve(anAgent("working"));
    await tx.agents.reserve(anAgent("submitted", ended));
    await tx.agents.reserve(anAgent("queued", { ...ended, releasedAt: noon, branch: "overstory/queued/T" }));
    await tx.merges.insert(anEntry("overstory/queued/T", { status: "blocked" }));
    await tx.agents.reserve(anAgent("reopened", ended));
    await tx.agents.reserve(anAgent("reopened", { generation: 2 }));
    await tx.agents.reserve(anAgent("released", { ...ended, releasedAt: noon, branch: "overstory/released/T" }));
    await tx.merges.insert(anEntry("overstory/released/T", { status: "failed" }));
    for (const name of names) {
      const about = { agentName: name, agentId: `${name}-1`, status: "done", receiptId: `of-${name}` } as const;
      await tx.checks.insert(aCheck(name, about));
      await tx.receipts.add(aReceipt(`of-${name}`, { kind: "completion", subject: `${name}#1`, tree: name }));
      await tx.gates.add(onTree(`on-${name}`, name));
    }
  });
  const all = {
    checks: names,
    receipts: names.map((name) => `of-${name}`),
    results: names.map((name) => `on-${name}`),
  };
  await world.prune(1_000);
  const left = await world.left(all);
  expect(left.checks).toEqual(["working", "submitted", "queued"]);
  // A receipt speaks for the name: what was reopened goes on with what was there.
  expect(left.receipts).toEqual(["working", "submitted", "queued", "reopened"].map((name) => `of-${name}`));
  expect(left.results).toEqual(["working", "submitted", "queued", "reopened"].map((name) => `on-${name}`));
});

test("days that are raised between two passes keep the younger rows", async () => {
  await using world = await worldOf(async (tx) => {
    await tx.oldRows.setPlace("gate results", { at: noon + 5 * dayMs, id: "" });
    await tx.gates.add(onTree("young", "loose", { createdAt: noon + 3 * dayMs }));
    await tx.gates.add(onTree("old", "loose", { createdAt: noon }));
  });
  const all = { checks: [], receipts: [], results: ["young", "old"] };
  await world.prune(15);
  expect((await world.left(all)).results).toEqual(["young"]);
});

test("a check that waits or runs stays, and while one does nothing that it may rest on goes", async () => {
  await using world = await worldOf(async (tx) => {
    await tx.checks.insert(byPerson("open", { status: "queued" }));
    await tx.checks.insert(byPerson("answered"));
    await tx.receipts.add(aReceipt("receipt", { kind: "check", tree: "other" }));
    await tx.gates.add(onTree("result", "loose"));
  });
  const all = { checks: ["open", "answered"], receipts: ["receipt"], results: ["result"] };
  for (const status of ["queued", "running"] as const) {
    await world.store.transaction((tx) => tx.checks.change("open", ["queued"], { status }));
    await world.prune(1_000);
    expect(await world.left(all)).toEqual({ ...all, checks: ["open"] });
  }
  await world.store.transaction((tx) => tx.checks.change("open", ["running"], { status: "done" }));
  await world.prune(1_000);
  expect(await world.left(all)).toEqual({ checks: [], receipts: [], results: [] });
});

test("no result goes while a train is on its way or an operation is intended", async () => {
  const attempt = {
    trainId: "t",
    queueIds: [1],
    baseCommit: "b",
    candidateCommit: null,
    gateResults: [],
    members: [],
    logDir: null,
  };
  await using world = await worldOf(async (tx) => {
    await tx.gates.add(onTree("result", "loose"));
    await tx.mergeAttempts.insert({ ...attempt, id: "t", outcome: null, startedAt: noon, finishedAt: null });
  });
  const all = { checks: [], receipts: [], results: ["result"] };
  await world.prune(1_000);
  expect(await world.left(all)).toEqual(all);
  await world.store.transaction(async (tx) => {
    await tx.mergeAttempts.change("t", { outcome: "landed", finishedAt: noon });
    await tx.mergeOps.insert(anOp("op-1"));
  });
  await world.prune(1_000);
  expect(await world.left(all)).toEqual(all);
  await world.store.transaction((tx) => tx.mergeOps.settle("op-1", { status: "done" }));
  await world.prune(1_000);
  expect((await world.left(all)).results).toEqual([]);
});

test("much is looked at a part at a time, and the next look goes on where the last one ended", async () => {
  await using world = await worldOf(async (tx) => {
    for (let n = 0; n < 2_500; n++) await tx.gates.add(onTree(`g${n}`, "loose", { createdAt: noon + n }));
  });
  const count = async (): Promise<number> => (await world.store.read((tx) => tx.gates.recent(5_000))).length;
  expect((await world.prune(1_000)).more).toBe(true);
  const place = await world.store.read((tx) => tx.oldRows.place("gate results"));
  expect([await count(), place?.id]).toEqual([500, "g500"]);
  expect((await world.prune(1_000)).more).toBe(false);
  expect(await count()).toBe(0);
});
