import { expect } from "bun:test";
import { Rollback, type Store, type Tx } from "../../../src/ports/store.ts";
import type { Check } from "./database.ts";
import { anAgent, aRun, seed } from "./rows.ts";

export function transactionPromises(check: Check): void {
  check("a transaction that resolves is there for everybody, with its value", async ({ store, another }) => {
    const value = await store.transaction(async (tx) => {
      await tx.runs.insert(aRun("r1"));
      return [1, "two"];
    });
    expect(value).toEqual([1, "two"]);
    const other = await another();
    expect(await other.read((tx) => tx.runs.get("r1"))).toEqual(aRun("r1"));
  });

  check("a transaction that throws leaves no trace and rejects with what was thrown", async ({ store }) => {
    const thrown = new Error("changed my mind");
    const work = store.transaction(async (tx) => {
      await tx.runs.insert(aRun("r1"));
      throw thrown;
    });
    expect(await rejection(work)).toBe(thrown);
    expect(await runIds(store)).toEqual([]);
  });

  check("a rollback on purpose carries its value out and leaves no trace", async ({ store }) => {
    const work = store.transaction(async (tx) => {
      await tx.runs.insert(aRun("r1"));
      throw new Rollback("not today");
    });
    const reason = await rejection(work);
    expect(reason).toBeInstanceOf(Rollback);
    expect(reason).toHaveProperty("value", "not today");
    expect(await runIds(store)).toEqual([]);
  });

  check("a transaction that awaits a timer rejects, rolls back, and holds nobody up", async ({ store }) => {
    const work = store.transaction(async (tx) => {
      await tx.runs.insert(aRun("r1"));
      await Bun.sleep(30);
    });
    expect(String(await rejection(work))).toContain("awaited something other than the store");
    await store.transaction((tx) => tx.runs.insert(aRun("r2")));
    expect(await runIds(store)).toEqual(["r2"]);
  });

  check("a transaction that awaits another one rejects instead of waiting for ever", async ({ store }) => {
    let inner: Promise<void> = Promise.resolve();
    const outer = store.transaction(async (tx) => {
      await tx.runs.insert(aRun("outer"));
      inner = store.transaction((other) => other.runs.insert(aRun("inner")));
      await inner;
    });
    expect(String(await rejection(outer))).toContain("awaited something other than the store");
    await inner;
    expect(await runIds(store)).toEqual(["inner"]);
  });

  check("work that strayed cannot write after its transaction is over", async ({ store }) => {
    let late: Promise<unknown> = Promise.resolve();
    const work = store.transaction(async (tx) => {
      await Bun.sleep(20);
      late = rejection(tx.runs.insert(aRun("late")));
      await late;
    });
    await rejection(work);
    await Bun.sleep(40);
    expect(String(await late)).toContain("after the end of its transaction");
    expect(await runIds(store)).toEqual([]);
  });

  check("a statement that fails dooms its transaction, even when the work catches it", async ({ store }) => {
    await seed(store);
    const work = store.transaction(async (tx) => {
      await tx.runs.insert(aRun("r2"));
      await tx.runs.insert(aRun("r1")).catch(() => {});
      return "fine";
    });
    expect(await rejection(work)).toBeInstanceOf(Error);
    expect(await runIds(store)).toEqual(["r1"]);
  });

  check("work may ask for several things at once", async ({ store }) => {
    await seed(store, anAgent("b1"));
    const [run, agent] = await store.transaction((tx) => Promise.all([tx.runs.get("r1"), tx.agents.get("b1-1")]));
    expect([run?.id, agent?.name]).toEqual(["r1", "b1"]);
  });

  check("reading refuses to write", async ({ store }) => {
    const failure = await rejection(store.read((tx) => tx.runs.insert(aRun("r1"))));
    expect(failure).toHaveProperty("data.kind", "store-read-only");
    await store.transaction((tx) => tx.runs.insert(aRun("r2")));
    expect(await runIds(store)).toEqual(["r2"]);
  });

  check("a reader sees one moment from its first look to its last", async ({ store, another }) => {
    const writer = await another();
    let writing: Promise<void> = Promise.resolve();
    const seen = await store.read(async (tx) => {
      const before = (await tx.runs.list(10)).length;
      writing = writer.transaction((other) => other.runs.insert(aRun("r1")));
      await linger(tx);
      return [before, (await tx.runs.list(10)).length];
    });
    await writing;
    expect(seen).toEqual([0, 0]);
    expect(await runIds(store)).toEqual(["r1"]);
  });

  check("no reader sees half of a transaction", async ({ store, another }) => {
    const reader = await another();
    let done = false;
    const writing = store
      .transaction(async (tx) => {
        await tx.runs.insert(aRun("r1"));
        await linger(tx);
        await tx.runs.insert(aRun("r2"));
      })
      .finally(() => {
        done = true;
      });
    const counts = new Set<number>();
    while (!done) {
      counts.add((await runIds(reader)).length);
      await aMoment();
    }
    await writing;
    counts.delete(0);
    counts.delete(2);
    expect([...counts]).toEqual([]);
    expect(await runIds(reader)).toHaveLength(2);
  });

  check("transactions started together each see all that committed before them", async ({ store }) => {
    await Promise.all(
      Array.from({ length: 20 }, () =>
        store.transaction(async (tx) => {
          const place = (await tx.runs.list(100)).length;
          await tx.runs.insert(aRun(`r${place}`));
        }),
      ),
    );
    expect(await runIds(store)).toHaveLength(20);
  });

  check("one failing transaction does not spoil its neighbours", async ({ store }) => {
    const results = await Promise.allSettled([
      store.transaction((tx) => tx.runs.insert(aRun("r1"))),
      store.transaction(async () => {
        throw new Error("no");
      }),
      store.transaction((tx) => tx.runs.insert(aRun("r2"))),
    ]);
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((await runIds(store)).sort()).toEqual(["r1", "r2"]);
  });

  check("the change counter moves when another commits and rests while nobody does", async ({ store, another }) => {
    const other = await another();
    const before = await store.changeCounter();
    await store.read((tx) => tx.runs.list(1));
    expect(await store.changeCounter()).toBe(before);
    await other.transaction((tx) => tx.runs.insert(aRun("r1")));
    expect(await store.changeCounter()).not.toBe(before);
  });

  check("closing waits for the transactions that run", async ({ another }) => {
    const closing = await another();
    const work = closing.transaction(async (tx) => {
      await linger(tx);
      await tx.runs.insert(aRun("r1"));
    });
    await closing.close();
    await work;
    const reader = await another();
    expect(await runIds(reader)).toEqual(["r1"]);
  });
}

/** Keeps a transaction open for a while in the only way that is allowed: by asking the store. */
export async function linger(tx: Tx, statements = 150): Promise<void> {
  for (let asked = 0; asked < statements; asked++) await tx.runs.get("nothing");
}

/** Lets the event loop turn between two looks; an embedded database answers without turning it. */
export const aMoment = (): Promise<void> => Bun.sleep(1);

/** What the promise rejects with; fails when it does not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const resolved = Symbol();
  const reason = await promise.then(
    () => resolved,
    (error: unknown) => error,
  );
  expect(reason).not.toBe(resolved);
  return reason;
}

const runIds = async (store: Store): Promise<string[]> =>
  (await store.read((tx) => tx.runs.list(100))).map((run) => run.id);
