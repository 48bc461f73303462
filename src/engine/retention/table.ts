import type { OldRowKind } from "../../ports/store/old-rows.ts";
import { record } from "../../usecases/events/record.ts";
import type { EnginePorts } from "../ports.ts";
import { pruneChecks, pruneGateResults, pruneReceipts } from "./evidence.ts";
import { pruneLandedAgents, pruneLandingBranches } from "./landed-agents.ts";
import {
  type Prune,
  type Pruned,
  pruneBlobs,
  pruneEnvironments,
  pruneEvents,
  pruneMail,
  pruneMergeLogs,
  pruneMergeRefs,
  pruneNotifications,
  pruneRows,
  pruneSnapshots,
  pruneSpecs,
  pruneTrash,
  pruneTurnLogs,
  type SnapshotPorts,
} from "./prune.ts";

/** The configuration keys that set how many days things are kept. */
export type RetentionKey =
  | "history.retentionDays"
  | "costs.retentionDays"
  | "history.landedDays"
  | "snapshot.retentionDays"
  | "mail.retentionDays"
  | "merge.keepRefsDays"
  | "events.retentionDays"
  | "logs.retentionDays"
  | "merge.keepLogsDays"
  | "merge.keepReceiptsDays"
  | "merge.keepAttemptsDays";

export type RetentionPorts = SnapshotPorts &
  Pick<EnginePorts, "merging" | "oldFiles" | "forgetEnvironment" | "shrinkDatabase"> & {
    readonly settings: Pick<EnginePorts["settings"], "retention" | "mostEvents">;
  };

export interface RetentionRow {
  readonly what: string;
  /** Tables of the store that the row deletes from. */
  readonly tables: readonly string[];
  /** The configuration key with the days; a number if users need no choice. */
  readonly days: RetentionKey | number;
  /** The things that stay however old they are, in words. */
  readonly stays: string;
  /** Whether something else than age lets them go, so that the row counts with 0 days too. */
  readonly bound?: (settings: RetentionPorts["settings"]) => boolean;
  readonly prune: Prune<RetentionPorts>;
}

const rows =
  (kind: OldRowKind): Prune<RetentionPorts> =>
  (ports, when) =>
    pruneRows(ports, kind, when);

const history = "history.retentionDays";
const costs = "costs.retentionDays";
const snapshots = "snapshot.retentionDays";
const merges = "merge.keepRefsDays";
const receipts = "merge.keepReceiptsDays";

const ofUnreleased = "those of an agent that is not released";

/**
 * Everything that is deleted with age. A new table of the store belongs here or into `stayingTables`; a test checks
 * that.
 */
export const retentionTable: readonly RetentionRow[] = [
  {
    what: "events",
    tables: ["events"],
    days: "events.retentionDays",
    stays: `${ofUnreleased}, and those of an open run itself`,
    bound: ({ mostEvents }) => mostEvents > 0,
    prune: pruneEvents,
  },
  {
    what: "turns",
    tables: ["turns"],
    days: history,
    stays: `${ofUnreleased}, and turns that have not ended`,
    prune: rows("turns"),
  },
  { what: "turn logs", tables: [], days: "logs.retentionDays", stays: ofUnreleased, prune: pruneTurnLogs },
  {
    what: "processes",
    tables: ["processes"],
    days: history,
    stays: "those that have not ended, or that a lease names",
    prune: rows("processes"),
  },
  { what: "transitions", tables: ["transitions"], days: history, stays: ofUnreleased, prune: rows("transitions") },
  { what: "tokens", tables: ["tokens"], days: history, stays: "those that were not revoked", prune: rows("tokens") },
  { what: "usage", tables: ["usage"], days: history, stays: ofUnreleased, prune: rows("usage") },
  { what: "costs", tables: ["spending"], days: costs, stays: ofUnreleased, prune: rows("spending") },
  {
    what: "sums of costs",
    tables: ["spending_sums"],
    days: costs,
    stays: "sums to which something was added since",
    prune: rows("spending-sums"),
  },
  { what: "handoffs", tables: ["handoffs"], days: history, stays: ofUnreleased, prune: rows("handoffs") },
  { what: "audit", tables: ["audit"], days: history, stays: "nothing", prune: rows("audit") },
  {
    what: "budgets of past days",
    tables: ["budgets"],
    days: history,
    stays: "budgets of agents, tasks, runs and the project, and days with a reservation",
    prune: rows("day-budgets"),
  },
  {
    what: "snapshots",
    tables: ["snapshots"],
    days: snapshots,
    stays: "those of a worktree that is there, and work that landed nowhere",
    prune: pruneSnapshots,
  },
  {
    what: "trash",
    tables: [],
    days: snapshots,
    stays: "files of work that landed nowhere, and files that no snapshot could hold",
    prune: pruneTrash,
  },
  { what: "spec texts", tables: [], days: snapshots, stays: "those that a task names", prune: pruneSpecs },
  {
    what: "mail",
    tables: ["messages", "deliveries"],
    days: "mail.retentionDays",
    stays: "mail of an open run, mail that was not read, mail that somebody waits for a reply to",
    prune: pruneMail,
  },
  {
    what: "merge refs",
    tables: [],
    days: merges,
    stays:
      "those of open entries and intended operations, heads that no other ref holds, and landing branches not promoted",
    prune: pruneMergeRefs,
  },
  {
    what: "gate logs",
    tables: [],
    days: "merge.keepLogsDays",
    stays: "those of a train or check under way",
    prune: pruneMergeLogs,
  },
  {
    what: "merge attempts",
    tables: ["merge_attempts"],
    days: "merge.keepAttemptsDays",
    stays: "those of open entries, and those under way",
    prune: rows("merge-attempts"),
  },
  {
    what: "checks",
    tables: ["checks"],
    days: receipts,
    stays: "open ones, and those of an agent that is not released or whose branch is in the queue",
    prune: pruneChecks,
  },
  {
    what: "receipts",
    tables: ["receipts"],
    days: receipts,
    stays: "those of landings, and those of an agent that is not released or whose branch is in the queue",
    prune: pruneReceipts,
  },
  {
    what: "gate results",
    tables: ["gate_results"],
    days: receipts,
    stays: "those a receipt rests on, and all of them while gates are asked",
    prune: pruneGateResults,
  },
  { what: "radar pairs", tables: ["radar_pairs"], days: merges, stays: "nothing", prune: rows("radar-pairs") },
  {
    what: "radar warnings",
    tables: ["radar_warnings"],
    days: merges,
    stays: "those about two branches of agents that are not released",
    prune: rows("radar-warnings"),
  },
  {
    what: "notifications",
    tables: ["notifications"],
    days: history,
    stays: "those of things that still wait for the operator",
    prune: pruneNotifications,
  },
  {
    what: "landed agents",
    tables: ["agents", "identities", "checkpoints", "inbox_checks", "notices", "merge_queue"],
    days: "history.landedDays",
    stays:
      "agents that are not released, with a branch that is not in its target, or with turns, unread mail, snapshots or merges that stay",
    prune: pruneLandedAgents,
  },
  {
    what: "landing branches",
    tables: [],
    days: "history.landedDays",
    stays: "those of open runs, and those that their target does not have whole",
    prune: pruneLandingBranches,
  },
  // A caller repeats a remote call for half a minute at most.
  { what: "replies", tables: ["requests"], days: 1, stays: "nothing", prune: rows("requests") },
  {
    what: "captured variables",
    tables: [],
    days: 1,
    stays: "those that an agent with a worktree, or an open check, uses",
    prune: pruneEnvironments,
  },
  { what: "mail bodies", tables: [], days: 1, stays: "those that a message names", prune: pruneBlobs },
];

/** Tables of the store whose rows are never deleted, each with the reason. */
export const stayingTables: Readonly<Record<string, string>> = {
  runs: "one row for each objective; work and mail belong to it",
  removals: "one row for each name, while its worktree is being removed",
  waits: "each goes with what it waits for",
  leases: "those of turns go with their turn; the others are one for each name",
  tasks: "the plan is a person's",
  task_deps: "goes with its task",
  groups: "a person's, as tasks are",
  group_members: "goes with its group",
  specs: "one row for each task",
  run_left_open: "a few sentences for each run that was ended by force",
  criteria: "a few rows for each run; they say what its objective was and what shows it",
  task_criteria: "goes with its task",
  run_changes: "a few rows for each run; they keep the older words of its objective and criteria",
  budget_reservations: "each goes when its turn settles",
  merge_ops: "one short row for each move of a branch; what a landing says about its entries goes with them",
  merge_pauses: "one row at most, while the queue is paused",
  web_listeners: "one row at most, while browsers are served",
  web_keys: "each goes when its time is up, at the next login",
  operator_marks: "small rows; without them the operator would be told again",
  remembered_resolutions: "settle the same conflict when it comes again",
  retention_places: "one row for each row of the retention table",
  imports: "one row for each file of an earlier version; without them it would be taken over again",
  project: "one row",
};

const dayMs = 24 * 60 * 60_000;
const hourMs = 60 * 60_000;

/** The pause before the next pass when old things are left. */
const againMs = 60_000;

/**
 * Deletes old things by `retentionTable`. A pass is small: each row of the table removes a bounded number of things in
 * short transactions. A pass runs when an engine starts, then once an hour; once a minute while old things are left.
 * Only a round of the engine starts a pass, so an idle engine does nothing and no engine stays for it.
 */
export class Retention {
  #nextAt = Number.NEGATIVE_INFINITY;

  /** Ends early, between two rows, when the engine stops; the next engine begins again. */
  async prune(ports: RetentionPorts, stop: AbortSignal): Promise<void> {
    if (ports.clock.monotonic() < this.#nextAt) return;
    this.#nextAt = ports.clock.monotonic() + hourMs;
    const removed: Record<string, number> = {};
    let more = false;
    for (const row of retentionTable) {
      if (stop.aborted) break;
      const pruned = await pruneRow(ports, row);
      if (pruned.removed > 0) removed[row.what] = pruned.removed;
      more ||= pruned.more;
    }
    await sweep(ports);
    if (more) this.#nextAt = ports.clock.monotonic() + againMs;
    if (Object.keys(removed).length > 0) {
      const [type, at] = ["old_pruned", ports.clock.now()] as const;
      await ports.store.transaction((tx) => record(tx, at, { source: "engine", type, data: { removed } }));
    }
    if (!more && !stop.aborted) ports.shrinkDatabase();
  }
}

/** 0 days keep things for ever. A row that fails does not stop the others. */
async function pruneRow(ports: RetentionPorts, row: RetentionRow): Promise<Pruned> {
  const nothing = { removed: 0, more: false };
  const days = typeof row.days === "number" ? row.days : ports.settings.retention[row.days];
  if (days === 0 && row.bound?.(ports.settings) !== true) return nothing;
  try {
    const now = ports.clock.now();
    const before = days === 0 ? Number.NEGATIVE_INFINITY : now - days * dayMs;
    return await row.prune(ports, { before, hour: Math.floor(now / hourMs) });
  } catch (error) {
    ports.report(error);
    return nothing;
  }
}

/** Sees to the remains of killed operations at once: no other process uses them. */
async function sweep(ports: RetentionPorts): Promise<void> {
  const { worktrees, clock, report } = ports;
  try {
    await worktrees.sweep(clock.now());
    await compressLeft(ports);
  } catch (error) {
    report(error);
  }
}

/** Compresses the output of turns whose supervisor was killed before it could. */
async function compressLeft({ store, oldFiles, clock, report }: RetentionPorts): Promise<void> {
  const now = clock.now();
  for (const { path, turnId } of await oldFiles.plainOutputsBefore(now - hourMs, Math.floor(now / hourMs))) {
    const turn = await store.read((tx) => tx.turns.get(turnId));
    if (turn !== undefined && turn.endedAt === null) continue;
    try {
      await oldFiles.compressOutput(path);
    } catch (error) {
      // An agent may have left something else in the place of its output; the others are compressed all the same.
      report(error);
    }
  }
}
