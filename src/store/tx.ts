import type { Tx } from "../ports/store.ts";
import { agentRows } from "./agents.ts";
import { budgetRows } from "./budgets.ts";
import { checkRows } from "./checks.ts";
import { radarRows, resolutionRows } from "./conflicts.ts";
import { deliveryRows, inboxCheckRows } from "./deliveries.ts";
import { auditRows, eventRows, noticeRows } from "./events.ts";
import { gateRows, receiptRows } from "./gates.ts";
import { groupRows } from "./groups.ts";
import { leaseRows } from "./leases.ts";
import { mergeAttemptRows, mergeOpRows } from "./merge-history.ts";
import { mergeRows } from "./merges.ts";
import { messageRows } from "./messages.ts";
import { oldRowsIn } from "./old-rows.ts";
import { processRows } from "./processes.ts";
import { recoveryRows } from "./recovery.ts";
import { runRows } from "./runs.ts";
import { cleaningRows, removalRows, snapshotRows } from "./snapshots.ts";
import type { Sql } from "./sql.ts";
import { specRows, taskRows } from "./tasks.ts";
import { requestRows, tokenRows } from "./tokens.ts";
import { turnRows } from "./turns.ts";
import { usageRows } from "./usage.ts";
import { waitRows } from "./waits.ts";

const families: { readonly [Family in keyof Tx]: (sql: Sql) => Tx[Family] } = {
  runs: runRows,
  agents: agentRows,
  turns: turnRows,
  processes: processRows,
  leases: leaseRows,
  messages: messageRows,
  deliveries: deliveryRows,
  inboxChecks: inboxCheckRows,
  waits: waitRows,
  events: eventRows,
  notices: noticeRows,
  audit: auditRows,
  tasks: taskRows,
  groups: groupRows,
  specs: specRows,
  tokens: tokenRows,
  requests: requestRows,
  budgets: budgetRows,
  usage: usageRows,
  recovery: recoveryRows,
  snapshots: snapshotRows,
  removals: removalRows,
  cleaning: cleaningRows,
  merges: mergeRows,
  mergeAttempts: mergeAttemptRows,
  mergeOps: mergeOpRows,
  gates: gateRows,
  receipts: receiptRows,
  checks: checkRows,
  resolutions: resolutionRows,
  radar: radarRows,
  oldRows: oldRowsIn,
};

/** A family is made when it is asked for: a command that touches three tables must not pay for thirty. */
export function makeTx(sql: Sql): Tx {
  const made = new Map<PropertyKey, unknown>();
  const family = (_: typeof families, name: PropertyKey): unknown => {
    if (!isFamily(name)) return undefined;
    if (!made.has(name)) made.set(name, families[name](sql));
    return made.get(name);
  };
  // The same names as in the table, each with its family instead of the maker of it.
  return new Proxy(families, { get: family }) as unknown as Tx;
}

const isFamily = (name: PropertyKey): name is keyof Tx => Object.hasOwn(families, name);
