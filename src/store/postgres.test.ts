import { describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { testDatabase } from "../../testkit/contracts/store/database.ts";
import { anAgent, aRun, noon, seed } from "../../testkit/contracts/store/rows.ts";
import { rejection } from "../../testkit/contracts/store/transactions.ts";
import { storeContract } from "../../testkit/contracts/store.ts";
import { describePostgres } from "../../testkit/postgres.ts";
import { failureOf } from "../domain/failure.ts";
import type { Tx } from "../ports/store.ts";
import { schemaVersion } from "./migrations/migrations.ts";
import { openPostgres } from "./postgres.ts";

describePostgres("PostgreSQL", (server) => {
  const fresh = async (place?: string) => {
    const url = place ?? (await server().freshSchema());
    const database = await testDatabase(
      () => openPostgres({ url }),
      () => {},
    );
    return Object.assign(database, { url });
  };

  storeContract("PostgreSQL", () => fresh());

  describe("opening", () => {
    test("ten who open a new database at one moment all succeed and make one schema", async () => {
      const url = await server().freshSchema();
      const stores = await Promise.all(Array.from({ length: 10 }, () => openPostgres({ url })));
      await stores[0]?.transaction((tx) => tx.runs.insert(aRun("r1")));
      expect(await stores[9]?.read((tx) => tx.runs.list(9))).toHaveLength(1);
      for (const store of stores) await store.close();
      expect(await ask(url, "SELECT version FROM schema_version")).toEqual([{ version: schemaVersion }]);
    });

    test("a newer schema is refused and not touched", async () => {
      const { url } = await closed(await fresh());
      await ask(url, `UPDATE schema_version SET version = ${schemaVersion + 1}`);
      const data = failureOf(await rejection(openPostgres({ url })));
      expect(data).toMatchObject({ kind: "store-too-new", found: schemaVersion + 1, known: schemaVersion });
      expect(JSON.stringify(data)).not.toContain(new URL(url).password);
    });

    test("the address decides the database, not PGDATABASE", async () => {
      const url = await server().freshSchema();
      const before = process.env.PGDATABASE;
      process.env.PGDATABASE = "elsewhere";
      try {
        const store = await openPostgres({ url });
        await store.close();
      } finally {
        if (before === undefined) delete process.env.PGDATABASE;
        else process.env.PGDATABASE = before;
      }
      expect(await ask(url, "SELECT version FROM schema_version")).toHaveLength(1);
    });

    test("a server that is not there, or has no such database, is a failure that names the place only", async () => {
      const url = await server().freshSchema();
      const elsewhere = new URL(url);
      elsewhere.port = "1";
      const unknown = new URL(url);
      unknown.pathname = "/unknown";
      for (const address of [elsewhere, unknown]) {
        const failure = failureOf(await rejection(openPostgres({ url: address.href })));
        expect(JSON.stringify(failure)).toContain(`postgres://${address.host}${address.pathname} cannot be reached`);
        expect(JSON.stringify(failure)).not.toContain(address.password);
      }
    });
  });

  describe("conflicts", () => {
    test("work that met a conflict runs again, and both units take effect", async () => {
      await using database = await fresh();
      await seed(database.store, anAgent("b1"));
      const other = await database.another();
      const meeting = barrier(2);
      let runs = 0;
      const remind = async (tx: Tx): Promise<void> => {
        runs++;
        const agent = await tx.agents.get("b1-1");
        await meeting(tx);
        await tx.agents.setReminders("b1-1", (agent?.reminders ?? 0) + 1);
      };
      await Promise.all([database.store.transaction(remind), other.transaction(remind)]);
      expect(runs).toBeGreaterThan(2);
      expect(await database.store.read((tx) => tx.agents.get("b1-1"))).toMatchObject({ reminders: 2 });
    });

    test("a deadlock is broken and both units take effect", async () => {
      await using database = await fresh();
      await seed(database.store, anAgent("b1"), anAgent("b2"));
      const meeting = barrier(2);
      const stop = (first: string, second: string) =>
        database.store.transaction(async (tx) => {
          await tx.agents.requestStop(first, "operator");
          await meeting(tx);
          await tx.agents.setReminders(second, 7);
        });
      await Promise.all([stop("b1-1", "b2-1"), stop("b2-1", "b1-1")]);
      const agents = await database.store.read((tx) => tx.agents.list({}));
      expect(agents.map((agent) => [agent.stopRequestedBy, agent.reminders])).toEqual([
        ["operator", 7],
        ["operator", 7],
      ]);
    });

    test("two who looked before they reserved one name: one gets it, the other sees it taken", async () => {
      await using database = await fresh();
      await seed(database.store);
      const meeting = barrier(2);
      const reserve = (id: string) =>
        database.store.transaction(async (tx) => {
          if ((await tx.agents.byName("b1")) !== undefined) return "taken";
          await meeting(tx);
          await tx.agents.reserve(anAgent("b1", { id }));
          return "reserved";
        });
      expect((await Promise.all([reserve("x"), reserve("y")])).sort()).toEqual(["reserved", "taken"]);
    });

    test("a later writer of numbered rows waits for the earlier one to commit", async () => {
      await using database = await fresh();
      const other = await database.another();
      const order: string[] = [];
      const event = { source: "engine", type: "x", createdAt: noon } as const;
      const first = Promise.withResolvers<void>();
      const slow = database.store.transaction(async (tx) => {
        await tx.events.append([event]);
        first.resolve();
        while (order.length === 0) await tx.runs.get("nothing");
        for (let asked = 0; asked < 300; asked++) await tx.runs.get("nothing");
        order.push("the earlier is ready to commit");
      });
      const quick = first.promise.then(() =>
        other.transaction(async (tx) => {
          order.push("the later begins");
          await tx.events.append([event]);
          order.push("the later has its number");
        }),
      );
      await Promise.all([slow, quick]);
      expect(order).toEqual(["the later begins", "the earlier is ready to commit", "the later has its number"]);
    });
  });

  test("a unit whose connection is lost before its commit runs again on another one", async () => {
    await using database = await fresh();
    const begun = Promise.withResolvers<void>();
    let runs = 0;
    const work = database.store.transaction(async (tx) => {
      runs++;
      await tx.runs.insert(aRun("r1"));
      begun.resolve();
      while (runs === 1) await tx.runs.get("r1");
    });
    await begun.promise;
    await ask(
      database.url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'overstory' AND usename = current_user AND xact_start IS NOT NULL`,
    );
    await work;
    expect(runs).toBe(2);
    expect((await database.store.read((tx) => tx.runs.list(9))).map((run) => run.id)).toEqual(["r1"]);
  });

  test("names sort by their bytes whatever the language of the server", async () => {
    await using database = await fresh(
      await server().freshDatabase("TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'"),
    );
    const names = ["a-z", "B", "a", "ab", "Z", "b"];
    await seed(database.store, ...names.map((name) => anAgent(name)));
    const listed = await database.store.read((tx) => tx.agents.list({}));
    expect(listed.map((agent) => agent.name)).toEqual(names.toSorted());
  });

  test("the one character PostgreSQL cannot store is replaced, and the rest is kept", async () => {
    await using database = await fresh();
    await database.store.transaction((tx) => tx.runs.insert(aRun("r1", { objective: "a\0b" })));
    expect((await database.store.read((tx) => tx.runs.get("r1")))?.objective).toBe("a\uFFFDb");
  });
});

/** Lets units of work meet: each keeps asking the store until `count` of them have arrived once. */
function barrier(count: number): (tx: Tx) => Promise<void> {
  let arrived = 0;
  return async (tx) => {
    arrived++;
    while (arrived < count) await tx.runs.get("nothing");
  };
}

async function closed<T extends AsyncDisposable>(database: T): Promise<T> {
  await database[Symbol.asyncDispose]();
  return database;
}

async function ask(url: string, statement: string): Promise<unknown[]> {
  await using db = new SQL({ url, max: 1 });
  return [...(await db.unsafe<unknown[]>(statement))];
}
