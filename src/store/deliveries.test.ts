import { Database, type SQLQueryBindings } from "bun:sqlite";
import { expect, test } from "bun:test";
import { agentRows } from "./agents.ts";
import { waitRows } from "./budgets.ts";
import { deliveryRows } from "./deliveries.ts";
import { eventRows } from "./events.ts";
import { fleetRows } from "./fleet.ts";
import { mergeOpRows } from "./merge-history.ts";
import { mergeRows } from "./merges.ts";
import { messageRows } from "./messages.ts";
import { statementsFrom } from "./migrations/migrations.ts";
import type { Sql } from "./sql.ts";
import { taskRows } from "./tasks.ts";

/** How SQLite finds the rows of these statements, the first step of each. */
async function plansOf(work: (sql: Sql) => Promise<void>): Promise<readonly string[]> {
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
  await work(sql);
  db.close();
  return plans;
}

test("looking into an inbox never walks over mail that was read long ago", async () => {
  const plans = await plansOf(async (sql) => {
    const rows = deliveryRows(sql);
    await rows.queued("operator", 0, 1);
    await rows.inState("operator", ["claimed", "delivered"]);
    await rows.isDue("operator", 0);
    await rows.handedOut("operator");
    await rows.countQueued("operator");
    await rows.dead(10);
  });
  expect(plans).toEqual([
    "SEARCH d USING INDEX deliveries_queued (to_agent=?)",
    "SEARCH d USING INDEX deliveries_open (to_agent=? AND state=?)",
    "SEARCH d USING INDEX deliveries_queued (to_agent=?)",
    "SEARCH d USING INDEX deliveries_open (to_agent=? AND state=?)",
    "SEARCH deliveries USING COVERING INDEX deliveries_queued (to_agent=?)",
    "SCAN d USING INDEX deliveries_open",
  ]);
});

test("what every end of a turn asks about its run never walks over other runs", async () => {
  const plans = await plansOf(async (sql) => {
    await messageRows(sql).list({ from: "system", type: "status", runId: "run-1", limit: 50 });
    await messageRows(sql).list({ to: "chief", from: "system", type: "status", runId: "run-1", limit: 50 });
    await agentRows(sql).list({ runId: "run-1" });
    await mergeRows(sql).list({ runId: "run-1", statuses: ["pending"], limit: 1 });
    await waitRows(sql).ofKind("reply");
  });
  expect(plans).toEqual([
    "SEARCH messages USING INDEX messages_run (run_id=? AND from_agent=?)",
    "SEARCH messages USING INDEX messages_run (run_id=? AND from_agent=?)",
    "SEARCH agents USING INDEX agents_run (run_id=?)",
    "SEARCH merge_queue USING INDEX merge_queue_unmerged (status=?)",
    "SEARCH waits USING INDEX waits_object (kind=?)",
  ]);
});

test("lists never walk over all that has come to its end", async () => {
  const plans = await plansOf(async (sql) => {
    await messageRows(sql).list({ to: "operator", limit: 20 });
    await messageRows(sql).list({ unread: true, limit: 20 });
    await mergeRows(sql).list({ statuses: ["failed", "conflict"] });
    await mergeRows(sql).list({ branch: "b", statuses: ["merged"] });
    await mergeOpRows(sql).list({ kind: "promote", status: "done", limit: 50 });
    await taskRows(sql).list({ unclosed: true });
  });
  expect(plans).toEqual([
    "SEARCH messages USING INTEGER PRIMARY KEY (rowid=?)",
    "SEARCH messages USING INTEGER PRIMARY KEY (rowid=?)",
    "SEARCH merge_queue USING INDEX merge_queue_unmerged (status=?)",
    "SEARCH merge_queue USING INDEX merge_queue_branch (branch=?)",
    "SEARCH merge_ops USING INDEX merge_ops_kind (kind=? AND status=?)",
    "SEARCH tasks USING INDEX tasks_status (status=?)",
  ]);
});

test("the events of a turn, the facts of a run and the open checks are found without walking over any others", async () => {
  const plans = await plansOf(async (sql) => {
    const events = eventRows(sql);
    await events.first({ turnId: "t1", types: ["tool_start", "tool_end"] }, 10);
    await events.newest({ turnId: "t1", before: 9 }, 10);
    await events.newest({ runId: null, factsOnly: true, types: ["task_created", "task_closed"] }, 10);
    await fleetRows(sql).checkedAgents();
  });
  expect(plans).toEqual([
    "SEARCH events USING INDEX events_turn (turn_id=?)",
    "SEARCH events USING INDEX events_turn (turn_id=? AND seq<?)",
    "SEARCH events USING INDEX events_run_facts (run_id=? AND type=?)",
    "SEARCH events USING INDEX events_run_facts (run_id=? AND type=?)",
    "SCAN checks USING INDEX checks_open",
  ]);
});
