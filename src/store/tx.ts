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
import { processRows } from "./processes.ts";
import { recoveryRows } from "./recovery.ts";
import { runRows } from "./runs.ts";
import { cleaningRows, snapshotRows } from "./snapshots.ts";
import type { Sql } from "./sql.ts";
import { specRows, taskRows } from "./tasks.ts";
import { requestRows, tokenRows } from "./tokens.ts";
import { turnRows } from "./turns.ts";
import { usageRows } from "./usage.ts";
import { waitRows } from "./waits.ts";

export function makeTx(sql: Sql): Tx {
  return {
    runs: runRows(sql),
    agents: agentRows(sql),
    turns: turnRows(sql),
    processes: processRows(sql),
    leases: leaseRows(sql),
    messages: messageRows(sql),
    deliveries: deliveryRows(sql),
    inboxChecks: inboxCheckRows(sql),
    waits: waitRows(sql),
    events: eventRows(sql),
    notices: noticeRows(sql),
    audit: auditRows(sql),
    tasks: taskRows(sql),
    groups: groupRows(sql),
    specs: specRows(sql),
    tokens: tokenRows(sql),
    requests: requestRows(sql),
    budgets: budgetRows(sql),
    usage: usageRows(sql),
    recovery: recoveryRows(sql),
    snapshots: snapshotRows(sql),
    cleaning: cleaningRows(sql),
    merges: mergeRows(sql),
    mergeAttempts: mergeAttemptRows(sql),
    mergeOps: mergeOpRows(sql),
    gates: gateRows(sql),
    receipts: receiptRows(sql),
    checks: checkRows(sql),
    resolutions: resolutionRows(sql),
    radar: radarRows(sql),
  };
}
