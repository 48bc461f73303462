import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { agents } from "./agents.ts";
import { budgetReservations, budgets, usage, waits } from "./budgets.ts";
import { checks, gateResults, receipts } from "./checks.ts";
import { deliveries } from "./deliveries.ts";
import { events } from "./events.ts";
import { imports } from "./imports.ts";
import { mergeAttempts, mergeOps, radarPairs, radarWarnings, rememberedResolutions } from "./merge-history.ts";
import { mergePauses, mergeQueue } from "./merges.ts";
import { messages } from "./messages.ts";
import { statementsFrom } from "./migrations/migrations.ts";
import { leases, processes, tokens } from "./processes.ts";
import { checkpoints, handoffs, identities, removals, snapshots } from "./snapshots.ts";
import { spending, spendingSums } from "./spending.ts";
import { type Column, columnName, type Table } from "./table.ts";
import { criteria, groups, runChanges, runs, specs, taskCriteria, taskDeps, tasks } from "./tasks.ts";
import { turns } from "./turns.ts";
import { operatorMarks, webKeys, webListeners } from "./web.ts";

const described = [
  columnsOf(runs),
  columnsOf(agents),
  columnsOf(turns),
  columnsOf(processes),
  columnsOf(leases),
  columnsOf(messages),
  columnsOf(deliveries),
  columnsOf(waits),
  columnsOf(events),
  columnsOf(tasks),
  columnsOf(taskDeps),
  columnsOf(specs),
  columnsOf(criteria),
  columnsOf(runChanges),
  columnsOf(taskCriteria),
  columnsOf(groups),
  columnsOf(tokens),
  columnsOf(budgets),
  columnsOf(budgetReservations),
  columnsOf(usage),
  columnsOf(spending),
  columnsOf(spendingSums),
  columnsOf(checkpoints),
  columnsOf(handoffs),
  columnsOf(identities),
  columnsOf(snapshots),
  columnsOf(removals),
  columnsOf(mergeQueue),
  columnsOf(mergePauses),
  columnsOf(mergeAttempts),
  columnsOf(mergeOps),
  columnsOf(gateResults),
  columnsOf(receipts),
  columnsOf(checks),
  columnsOf(rememberedResolutions),
  columnsOf(radarPairs),
  columnsOf(radarWarnings),
  columnsOf(imports),
  columnsOf(webListeners),
  columnsOf(webKeys),
  columnsOf(operatorMarks),
];
/** Written and read by a statement or two of their own, without a row type. */
const undescribed = [
  "audit",
  "group_members",
  "inbox_checks",
  "notices",
  "notifications",
  "project",
  "run_left_open",
  "requests",
  "retention_places",
  "transitions",
];

describe("row types cannot drift from the schema", () => {
  const db = new Database(":memory:");
  for (const statement of statementsFrom(0, "sqlite")) db.run(statement);

  for (const { name, columns } of described) {
    test(`the columns of ${name} are the fields of its rows`, () => {
      expect(realColumns(db, name)).toEqual([...columns]);
    });
  }

  test("every table is either described here or known to need no description", () => {
    const real = db.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const ours = real.map((row) => row.name).filter((name) => !name.startsWith("sqlite_"));
    expect(ours.toSorted()).toEqual([...described.map((table) => table.name), ...undescribed].toSorted());
  });
});

interface ColumnShape {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
}

function columnsOf<Row>(table: Table<Row>): { readonly name: string; readonly columns: readonly ColumnShape[] } {
  const fields: Readonly<Record<string, Pick<Column<unknown>, "type" | "nullable">>> = { ...table.columns };
  const columns = Object.entries(fields).map(([field, { type, nullable }]) => ({
    name: columnName(field),
    type,
    nullable,
  }));
  return { name: table.name, columns: columns.toSorted(byName) };
}

function realColumns(db: Database, table: string): ColumnShape[] {
  const rows = db
    .query<{ name: string; type: string; notnull: number; pk: number }, []>(`PRAGMA table_info(${table})`)
    .all();
  return rows
    .map(({ name, type, notnull, pk }) => ({ name, type, nullable: notnull === 0 && pk === 0 }))
    .toSorted(byName);
}

function byName(a: ColumnShape, b: ColumnShape): number {
  return a.name < b.name ? -1 : 1;
}
