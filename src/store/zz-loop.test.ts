import { test } from "bun:test"; import { SQL } from "bun";
import { describePostgres } from "../../testkit/postgres.ts"; import { openPostgres } from "./postgres.ts"; import { aRun } from "../../testkit/contracts/store/rows.ts";
describePostgres("x", (server) => { test("loop", async () => {
  for (let i = 0; i < 200; i++) {
    const url = await server().freshSchema(); const store = await openPostgres({ url });
    const begun = Promise.withResolvers<void>(); let runs = 0;
      const work = store.transaction(async (tx) => { runs++; await tx.runs.insert(aRun("r1")); begun.resolve(); while (runs === 1) await tx.runs.get("r1"); });
      await begun.promise;
      { await using db = new SQL({ url, max: 1 }); await db.unsafe("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'overstory' AND usename = current_user AND xact_start IS NOT NULL"); }
      await work;
    if (runs !== 2) console.log(i, runs);
    if ((await store.read((tx) => tx.runs.list(9))).length !== 1) console.log("lost");
    await store.close();
  } }, 100000); });
