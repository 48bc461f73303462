import type { AgentRows, RecoveryRows, WaitRows } from "./store/agents.ts";
import type { ConsistencyRows } from "./store/consistency.ts";
import type { AuditRows, EventRows, NoticeRows } from "./store/events.ts";
import type { FleetRows } from "./store/fleet.ts";
import type { ImportRows } from "./store/imports.ts";
import type { DeliveryRows, InboxCheckRows, MessageRows } from "./store/mail.ts";
import type {
  CheckRows,
  GateRows,
  MergeAttemptRows,
  MergeOpRows,
  MergeRows,
  RadarRows,
  ReceiptRows,
  ResolutionRows,
} from "./store/merges.ts";
import type { NotificationRows } from "./store/notifications.ts";
import type { OldRows } from "./store/old-rows.ts";
import type { LeaseRows, ProcessRows, RequestRows, TokenRows } from "./store/processes.ts";
import type { CleaningRows, RemovalRows, SnapshotRows } from "./store/snapshots.ts";
import type { SpendingRows } from "./store/spending.ts";
import type { CriterionRows, GroupRows, RunRows, SpecRows, TaskRows } from "./store/tasks.ts";
import type { BudgetRows, TurnRows, UsageRows } from "./store/turns.ts";
import type { WebRows } from "./store/web.ts";

/** The tables, inside one transaction. */
export interface Tx {
  readonly runs: RunRows;
  readonly agents: AgentRows;
  readonly fleet: FleetRows;
  readonly turns: TurnRows;
  readonly processes: ProcessRows;
  readonly leases: LeaseRows;
  readonly messages: MessageRows;
  readonly deliveries: DeliveryRows;
  readonly inboxChecks: InboxCheckRows;
  readonly waits: WaitRows;
  readonly events: EventRows;
  readonly notices: NoticeRows;
  readonly notifications: NotificationRows;
  readonly audit: AuditRows;
  readonly tasks: TaskRows;
  readonly groups: GroupRows;
  readonly specs: SpecRows;
  readonly criteria: CriterionRows;
  readonly tokens: TokenRows;
  readonly requests: RequestRows;
  readonly budgets: BudgetRows;
  readonly usage: UsageRows;
  readonly spending: SpendingRows;
  readonly recovery: RecoveryRows;
  readonly snapshots: SnapshotRows;
  readonly removals: RemovalRows;
  readonly cleaning: CleaningRows;
  readonly merges: MergeRows;
  readonly mergeAttempts: MergeAttemptRows;
  readonly mergeOps: MergeOpRows;
  readonly gates: GateRows;
  readonly receipts: ReceiptRows;
  readonly checks: CheckRows;
  readonly resolutions: ResolutionRows;
  readonly radar: RadarRows;
  readonly oldRows: OldRows;
  readonly consistency: ConsistencyRows;
  readonly imports: ImportRows;
  readonly web: WebRows;
}

/** The one database. */
export interface Store {
  /**
   * Runs `work` as one atomic, isolated write. It commits when `work` resolves and leaves no trace when it rejects.
   * Only the transaction may be awaited inside: no effects, no timers (violations reject). `work` may run more than
   * once (a serialisation conflict repeats it), so it must be repeatable.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs `work` on one consistent view and writes nothing. */
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** A number that changes whenever another process commits; for noticing a lost wake cheaply. */
  changeCounter(): Promise<number>;
  close(): Promise<void>;
}

/** Rejects a transaction on purpose: everything is rolled back and `transaction` rejects with this. */
export class Rollback<T> extends Error {
  readonly value: T;
  constructor(value: T) {
    super("rolled back on purpose");
    this.value = value;
  }
}
