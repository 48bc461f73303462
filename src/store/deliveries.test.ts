import { Database, type SQLQueryBindings } from "bun:sqlite";
import { expect, test } from "bun:test";
import { deliveryRows } from "./deliveries.ts";
import { statementsFrom } from "./migrations/migrations.ts";
import type { Sql } from "./sql.ts";

test("looking into an inbox never walks over mail that was read long ago", async () => {
  const db = new Database(":memory:");
  for (const statement of statementsFrom(0, "sqlite")) db.run(statement);
  const plans: string[] = [];
  const sql: Sql = {
    dialect: "sqlite",
    all: async (text, ...values) => {
      const plan = db.query<{ detail: string }, SQLQueryBindings[]>(`EXPLAIN QUERY PLAN ${text}`).all(...values);
      plans.push(plan[0]?.detail ?? "");
      return [];
    },
    run: async () => 0,
    orderCommits: async () => {},
  };
  const rows = deliveryRows(sql);
  await rows.queued("operator", 0, 1);
  await rows.inState("operator", ["claimed", "delivered"]);
  await rows.countQueued("operator");
  await rows.dead(10);
  db.close();
  expect(plans).toEqual([
    "SEARCH d USING INDEX deliveries_queued (to_agent=?)",
    "SEARCH d USING INDEX deliveries_open (to_agent=? AND state=?)",
    "SEARCH deliveries USING COVERING INDEX deliveries_queued (to_agent=?)",
    "SCAN d USING INDEX deliveries_open",
  ]);
});
