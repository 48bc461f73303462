import { expect, test } from "bun:test";
import { aDelivery, aMessage } from "../../../testkit/contracts/store/rows.ts";
import { aSpending } from "../../../testkit/contracts/store/spending.ts";
import { desk } from "../../../testkit/merge-desk.ts";
import { type MergeWorld, mergeWorld } from "../../../testkit/merge-queue-world.ts";
import type { Agent } from "../../domain/agent/agent.ts";
import type { BudgetScope } from "../../domain/budget/budget.ts";
import { budgetsSoon } from "../budgets/soon.ts";
import { sendMail } from "../mail/send.ts";
import { addMerge } from "../merge/queue/add-entry.ts";
import { pauseQueue } from "../merge/queue/pause-queue.ts";
import { collisionsAhead } from "../merge/radar.ts";
import { attentionItems } from "./attention.ts";
import { operatorInbox, waitingForOperator } from "./inbox.ts";
import { attentionKinds, readAttention } from "./read-attention.ts";

const branchOf = (name: string): string => `overstory/${name}/t`;

/** Builders below the operator, with commits of their own. */
async function builders(world: MergeWorld, ...names: readonly string[]): Promise<void> {
  for (const name of names)
    await world.seat(name, {
      runId: "run-2",
      branch: branchOf(name),
      headCommit: `head-${name}`,
      ahead: 1,
      startedAt: 1,
    });
}

/** What the radar leaves when these two collide. */
async function collide(world: MergeWorld, one: string, other: string, files: readonly string[]): Promise<void> {
  const commits = [`head-${one}`, `head-${other}`].toSorted();
  const [aCommit = "", bCommit = ""] = commits;
  await world.asEngine(async (tx, { ids }) => {
    await tx.radar.put({ aCommit, bCommit, outcome: "conflict", files, createdAt: world.clock.now });
    for (const file of files) {
      for (const branch of [branchOf(one), branchOf(other)])
        await tx.radar.warnOnce(branch, branch, ids.digest(file), world.clock.now);
    }
  });
}

/** Gives the subject a limit of turns, and books some on it. */
const spend = (world: MergeWorld, scope: BudgetScope, subject: string, spent: number, limit: number): Promise<void> =>
  world.store.transaction(async (tx) => {
    const key = { scope, subject, unit: "turns" } as const;
    await tx.budgets.give(key, limit, world.clock.now);
    await tx.budgets.book([{ ...key, spent, reserved: 0 }], world.clock.now);
  });

const told = async (world: MergeWorld) => (await world.must(readAttention, {})).items;
const ofKind = async (world: MergeWorld, kind: string) => (await told(world)).filter((item) => item.kind === kind);

/** What the operator is notified of. */
const notified = (world: MergeWorld) =>
  world.store.read(async (tx) => attentionItems(await waitingForOperator(tx)).map(({ id }) => id));

test("a quiet fleet needs nobody", async () => {
  await using world = await mergeWorld();
  await world.store.transaction((tx) => tx.agents.release("agent-b1", world.clock.now));
  expect(await told(world)).toEqual([]);
  expect((await desk(world).run("inbox", "--peek")).out).toBe("Nothing waits for you.\n");
  await builders(world, "u1", "u2");
  await spend(world, "run", "run-2", 7, 10);
  await world.store.transaction(async (tx) => {
    const pair = { aCommit: "head-u1", bCommit: "head-u2", files: [], createdAt: 1 } as const;
    await tx.radar.put({ ...pair, outcome: "clean" });
  });
  expect(await told(world)).toEqual([]);
});

test("every kind is told from what is stored, most urgent first, each with a command", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { store, clock } = world;
  const seat = (name: string, facts: Partial<Agent>) => world.seat(name, { runId: "run-2", ...facts });
  // In another order than they are told.
  await seat("done-1", { branch: branchOf("done-1"), headCommit: "h", ahead: 1, state: "completed", outcome: "done" });
  await builders(world, "u1", "u2");
  await collide(world, "u1", "u2", ["src/a.ts"]);
  await spend(world, "agent", "u1", 8, 10);
  const caller = await seat("asker", {});
  await world.must(
    sendMail,
    { to: "operator", type: "question", subject: "Which clock?", body: "?", expectsReply: true },
    caller,
  );
  await store.transaction(async (tx) => {
    const seq = await tx.messages.insert(aMessage("lost", { runId: "run-2", fromAgent: "lead-1" }));
    await tx.deliveries.insert([aDelivery(seq, "u2", { state: "dead" })]);
  });
  await seat("silent", { stalledSince: clock.now - 1000 });
  await world.must(addMerge, { branch: "feature", headCommit: "f1" });
  const { entry } = await world.must(addMerge, { branch: "stuck", headCommit: "s1", approve: true });
  await store.transaction((tx) =>
    tx.merges.change(entry.id, ["pending"], { status: "blocked", cause: "hook_rejected" }),
  );
  await seat("dead-1", { state: "zombie", outcome: "crashed", endedAt: clock.now });
  await seat("poor", {});
  await store.transaction((tx) =>
    tx.waits.add({ agentName: "poor", kind: "budget", ref: "agent:poor:turns", since: 1, deadline: null }),
  );
  await world.must(pauseQueue, { reason: "release day" });
  const options = JSON.stringify({ options: ["yes", "no"] });
  await world.must(
    sendMail,
    { to: "operator", type: "decision_gate", subject: "Which store?", body: "?", payload: options },
    caller,
  );

  const items = await told(world);
  expect(items.map(({ kind }) => kind)).toEqual([...attentionKinds]);
  expect(items.map(({ sentence }) => sentence)).toEqual([
    "asker asks: Which store?",
    "The merge queue is paused: release day",
    "poor: a budget is used up",
    "dead-1: it ended by a failure",
    "stuck cannot land: a hook refused",
    "land feature?",
    "silent gives no sign of life",
    "mail of lead-1 never reached u2: subject",
    "asker asks: Which clock?",
    "u1 has used at least 80 % of 10 turns",
    "u1 and u2 change the same part of src/a.ts: whichever lands second will meet a merge conflict",
    "done-1 has finished overstory/done-1/t, and nothing takes it to the merge queue",
  ]);
  expect(items.map(({ rank }) => rank)).toEqual(items.map(({ rank }) => rank).toSorted((a, b) => a - b));
  expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
  // What keeps a merge back is told with what to do about it.
  expect(items.filter(({ command, details }) => command === null && details === null)).toEqual([]);
});

test("a budget of which most is used is told with those concerned, until it is reached or raised", async () => {
  await using world = await mergeWorld();
  await builders(world, "u1", "u2");
  await spend(world, "run", "run-2", 33, 40);
  const [item, ...more] = await ofKind(world, "budget_soon");
  expect(more).toEqual([]);
  expect(item).toMatchObject({
    id: "budget-run:run-2:turns",
    sentence: "run run-2 has used at least 80 % of 40 turns",
    details: "33 turns of 40 turns (82 %) spent. At 100 % no new turn starts; concerned: coordinator, lead-1, u1, u2.",
    subject: { type: "budget", id: "run:run-2:turns" },
    command: "ov budget raise run run-2 turns <amount>",
    since: world.clock.now,
    blocks: [],
  });
  const key = { scope: "run", subject: "run-2", unit: "turns" } as const;
  const raise = (amount: number) => world.store.transaction((tx) => tx.budgets.raise(key, amount, world.clock.now));
  await raise(60);
  expect(await ofKind(world, "budget_soon")).toEqual([]);
  await raise(-60);
  expect(await ofKind(world, "budget_soon")).toHaveLength(1);
  await world.store.transaction((tx) => tx.budgets.book([{ ...key, spent: 7, reserved: 0 }], world.clock.now));
  expect(await ofKind(world, "budget_soon")).toEqual([]);
});

test("a budget for which an agent waits, and one of an agent that has ended, are not told as nearly used up", async () => {
  await using world = await mergeWorld();
  await builders(world, "u1");
  await spend(world, "agent", "u1", 9, 10);
  await spend(world, "agent", "b1", 9, 10);
  expect((await ofKind(world, "budget_soon")).map(({ sentence }) => sentence)).toEqual([
    "u1 has used at least 90 % of 10 turns",
  ]);
  await world.store.transaction((tx) =>
    tx.waits.add({ agentName: "u1", kind: "budget", ref: "agent:u1:turns", since: 1, deadline: null }),
  );
  expect((await told(world)).map(({ kind }) => kind)).toEqual(["budget", "review"]);
});

test("a run that another hour like the last one would bring to its limit is told before most of it is spent", async () => {
  await using world = await mergeWorld();
  const { store, clock } = world;
  const key = { scope: "run", subject: "run-2", unit: "usd" } as const;
  const booked = async (id: string, usd: number) => {
    const costMicros = usd * 1_000_000;
    await store.transaction(async (tx) => {
      await tx.spending.book([aSpending(id, { runId: "run-2", agentName: "u1", costMicros, endedAt: clock.now })]);
      await tx.budgets.book([{ ...key, spent: costMicros, reserved: 0 }], clock.now);
    });
  };
  await builders(world, "u1");
  await store.transaction((tx) => tx.budgets.give(key, 10_000_000, clock.now));
  await booked("t1", 2);
  clock.now += 2 * 3_600_000;
  await booked("t2", 3);
  expect(await ofKind(world, "budget_soon")).toEqual([]);
  clock.now += 60_000;
  await booked("t3", 1);
  expect(await ofKind(world, "budget_soon")).toMatchObject([
    {
      sentence: "run run-2 will have used up $10.00 within the hour if it goes on as in the last one",
      details: expect.stringContaining("$6.00 of $10.00 (60 %) spent, $4.00 of it in the last hour."),
    },
  ]);
  clock.now += 3_600_001;
  expect(await ofKind(world, "budget_soon")).toEqual([]);
});

test("a collision that was told is there with both names until one lands, comes back or is given up", async () => {
  await using world = await mergeWorld();
  const { store, clock } = world;
  await builders(world, "u1", "u2", "u3");
  await collide(world, "u1", "u2", ["src/a.ts", "src/b.ts"]);
  // The third began on top of the first, so the radar told it nothing.
  await store.transaction((tx) =>
    tx.radar.put({ aCommit: "head-u2", bCommit: "head-u3", outcome: "conflict", files: ["src/a.ts"], createdAt: 1 }),
  );
  expect(await ofKind(world, "radar")).toMatchObject([
    {
      id: "radar-u1+u2",
      sentence:
        "u1 and u2 change the same part of src/a.ts, src/b.ts: whichever lands second will meet a merge conflict",
      subject: { type: "radar", id: "u1+u2" },
      since: clock.now,
      command: "ov merge radar",
    },
  ]);
  const { entry } = await world.must(addMerge, { branch: branchOf("u1"), headCommit: "head-u1", approve: true });
  expect(await ofKind(world, "radar")).toHaveLength(1);
  for (const status of ["merged", "conflict"] as const) {
    await store.transaction((tx) => tx.merges.change(entry.id, ["pending", "merged"], { status }));
    expect(await ofKind(world, "radar")).toEqual([]);
  }
  await store.transaction((tx) => tx.merges.change(entry.id, ["conflict"], { status: "cancelled" }));
  expect(await ofKind(world, "radar")).toHaveLength(1);
  await store.transaction((tx) => tx.agents.inspected("agent-u2", { headCommit: "later", ahead: 2, dirty: false }));
  expect(await ofKind(world, "radar")).toEqual([]);
});

test("what may come is in ov inbox with its command, and disturbs nobody", async () => {
  await using world = await mergeWorld();
  const before = await notified(world);
  await builders(world, "u1", "u2", "u3", "u4", "u5", "u6");
  for (const name of ["u2", "u3", "u4", "u5", "u6"]) await collide(world, "u1", name, ["src/a.ts"]);
  await collide(world, "u2", "u3", ["src/a.ts"]);
  await spend(world, "agent", "u1", 8, 10);
  const waiting = (await notified(world)).filter((id) => !before.includes(id));
  const { budgetsSoon, collisions } = await world.must(operatorInbox, {});
  expect([budgetsSoon.length, collisions.length]).toEqual([1, 6]);
  expect(waiting).toEqual([]);
  const ov = desk(world);
  const { out } = await ov.run("inbox", "--peek");
  expect(out).toContain("u1 has used at least 80 % of 10 turns");
  expect(out).toContain("ov budget raise agent u1 turns <amount>");
  expect(out).toContain("u1 and u2 change the same part of src/a.ts");
  expect(out).toContain("and 1 more: ov merge radar");
  expect((await ov.json("inbox", "--peek")).document).toMatchObject({
    budgetsSoon: [{ scope: "agent", subject: "u1", unit: "turns", limit: 10, spent: 8, percent: 80, agents: ["u1"] }],
    collisions: expect.arrayContaining([expect.objectContaining({ agents: ["u1", "u2"], files: ["src/a.ts"] })]),
  });
});

test("a large fleet takes as many statements as a small one", async () => {
  const asked = async (agents: number): Promise<number> => {
    await using world = await mergeWorld();
    const names = Array.from({ length: agents }, (_, at) => `u${at}`);
    await builders(world, ...names);
    for (const name of names) await spend(world, "agent", name, 8, 10);
    await collide(world, "u0", "u1", ["src/a.ts"]);
    return world.asEngine(async (tx, context) => {
      let count = 0;
      const counting = (value: object): object =>
        new Proxy(value, {
          get: (target, name) => {
            const found: unknown = Reflect.get(target, name);
            if (typeof found === "function") {
              return (...given: readonly unknown[]) => {
                count++;
                return Reflect.apply(found, target, given);
              };
            }
            return typeof found === "object" && found !== null ? counting(found) : found;
          },
        });
      const watched = counting(tx) as typeof tx;
      expect(await budgetsSoon(watched, context)).toHaveLength(agents);
      expect(await collisionsAhead(watched, context)).toHaveLength(1);
      return count;
    });
  };
  expect(await asked(60)).toBe(await asked(3));
});
