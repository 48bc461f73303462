import type { CheckStatus, StoredCheck } from "../../domain/completion/check.ts";
import type { GateResult, Receipt } from "../../domain/gate/gate.ts";
import type { MergeAttempt } from "../../domain/merge/attempt.ts";
import type { Approval, MergeEntry, MergeStatus } from "../../domain/merge/entry.ts";
import type { MergeOp, MergeOpKind, MergeOpStatus } from "../../domain/merge/operation.ts";
import type { QueuePause } from "../../domain/merge/queue-pause.ts";
import type { Looked, Place } from "./old-rows.ts";

/** Which entries of the merge queue to list. Every field that is given narrows the list. */
export interface MergeFilter {
  readonly ids?: readonly number[];
  readonly statuses?: readonly MergeStatus[];
  readonly approval?: Approval;
  readonly branch?: string;
  readonly branches?: readonly string[];
  readonly taskId?: string;
  readonly runId?: string;
  /** Only the newest entry of each branch, over all targets and runs. */
  readonly newestOfBranch?: true;
  /** The newest so many. */
  readonly limit?: number;
}

/** The merge queue: one row for each branch that is to land. */
export interface MergeRows {
  /** Adds an entry and returns its number. Fails when an open one has the same branch and target. */
  insert(entry: Omit<MergeEntry, "id">): Promise<number>;
  get(id: number): Promise<MergeEntry | undefined>;
  /** The open entry of this branch; a branch has one place in the queue. */
  openOf(branch: string, targetBranch: string): Promise<MergeEntry | undefined>;
  /** In the order of their numbers. */
  list(filter: MergeFilter): Promise<MergeEntry[]>;
  /** Changes an entry that has one of these statuses. False when it has another by now: nothing was changed. */
  change(id: number, from: readonly MergeStatus[], change: Partial<Omit<MergeEntry, "id">>): Promise<boolean>;
  /**
   * Something waits for the merge worker: an entry that is being worked on or could be, by these approvals and with all
   * it depends on merged, or an operation that is intended. In a paused queue only what brings in a target could be.
   */
  dueWork(now: number, approvals: readonly Approval[]): Promise<boolean>;
  /** The earliest future moment at which an entry with one of these approvals may be tried. */
  nextDue(now: number, approvals: readonly Approval[]): Promise<number | undefined>;
  /** Undefined while the queue is not paused. */
  pause(): Promise<QueuePause | undefined>;
  setPause(pause: QueuePause | undefined): Promise<void>;
}

/** Trains of the merge worker: one row for each attempt. */
export interface MergeAttemptRows {
  insert(attempt: MergeAttempt): Promise<void>;
  get(id: string): Promise<MergeAttempt | undefined>;
  change(id: string, change: Partial<Omit<MergeAttempt, "id">>): Promise<void>;
  /** Attempts with this entry, oldest first. */
  of(queueId: number): Promise<MergeAttempt[]>;
  /** Attempts that were never finished, oldest first. */
  unfinished(): Promise<MergeAttempt[]>;
}

/** Which operations to list. Every field that is given narrows the list. */
export interface MergeOpFilter {
  readonly kind?: MergeOpKind;
  readonly status?: MergeOpStatus;
  readonly ref?: string;
  /** Operations with this entry. */
  readonly queueId?: number;
  readonly limit?: number;
}

/** Operations on landing branches: one row for each move of a branch. */
export interface MergeOpRows {
  insert(op: Omit<MergeOp, "seq">): Promise<void>;
  get(id: string): Promise<MergeOp | undefined>;
  /** Newest first. */
  list(filter: MergeOpFilter): Promise<MergeOp[]>;
  /** Changes an operation that is still intended. False when it was settled before: nothing was changed. */
  settle(id: string, change: Partial<Omit<MergeOp, "seq" | "id">>): Promise<boolean>;
  /** Notes which operation took this one back; null when that was taken back itself. */
  setUndoneBy(id: string, undoneBy: string | null): Promise<void>;
}

/** How a conflict was settled in something that landed. */
export interface RememberedResolution {
  /** Digest of the three versions of the file. */
  readonly fingerprint: string;
  readonly path: string;
  /** The whole file as it landed. */
  readonly content: string;
  readonly strategy: string;
  readonly landedAt: number;
  /** How often a merge settled by this resolution was taken back or failed a gate. */
  readonly bad: number;
}

/** Conflicts that were settled before, by their fingerprint. */
export interface ResolutionRows {
  get(fingerprint: string): Promise<RememberedResolution | undefined>;
  /** Stores the resolution in place of an earlier one with the same fingerprint. */
  put(resolution: RememberedResolution): Promise<void>;
  /** Counts one more failure of this resolution. An unknown fingerprint changes nothing. */
  markBad(fingerprint: string): Promise<void>;
}

const radarOutcomes = ["clean", "structured", "conflict"] as const;
export type RadarOutcome = (typeof radarOutcomes)[number];

/** What merging two commits would give. The caller orders the two. */
export interface RadarPair {
  readonly aCommit: string;
  readonly bCommit: string;
  readonly outcome: RadarOutcome;
  /** Where they meet. */
  readonly files: readonly string[];
  readonly createdAt: number;
}

/** A warning that the radar has given. Where both branches are the same, its owner was told that it collides in a file. */
export interface RadarWarning {
  readonly branchA: string;
  readonly branchB: string;
  readonly filesDigest: string;
  readonly createdAt: number;
}

/** The radar's results for pairs of commits, and the warnings it has given. */
export interface RadarRows {
  pair(aCommit: string, bCommit: string): Promise<RadarPair | undefined>;
  put(pair: RadarPair): Promise<void>;
  /** The conflicts on record between what agents that are not released have committed last. */
  conflictsOfHeads(): Promise<RadarPair[]>;
  /** Those about branches of agents that are not released. */
  warnings(): Promise<RadarWarning[]>;
  /** True the first time these branches are warned about these files, false ever after. */
  warnOnce(branchA: string, branchB: string, filesDigest: string, now: number): Promise<boolean>;
}

/** Results of gates: one row for each run of one gate on one tree. */
export interface GateRows {
  /** A result that is recorded already is left as it is. */
  add(result: GateResult): Promise<void>;
  get(id: string): Promise<GateResult | undefined>;
  /** The results of this gate on this tree, newest first. */
  on(tree: string, gateHash: string): Promise<GateResult[]>;
  /** The same, however files looked: by the part of the hash that does not depend on it. */
  onAnyForm(tree: string, termsHash: string): Promise<GateResult[]>;
  /** Those that exist, in the order of the ids. */
  all(ids: readonly string[]): Promise<GateResult[]>;
  /** Newest first; `gate` keeps to one. */
  recent(limit: number, gate?: string): Promise<GateResult[]>;
  /**
   * Looks at the newest results before a place, at most so many, and deletes those on trees that no receipt speaks
   * about. The caller makes sure that no gates are being asked: a result may be on its way into a receipt.
   */
  purgeUnproving(before: Place, most: number): Promise<Looked>;
}

/** Receipts of completions, landings and checks. */
export interface ReceiptRows {
  add(receipt: Receipt): Promise<void>;
  get(id: string): Promise<Receipt | undefined>;
  /** Newest first. */
  about(subject: string): Promise<Receipt[]>;
  /** Those of completions and checks, not of landings, before a place: the newest so many, newest first. */
  passing(before: Place, most: number): Promise<Receipt[]>;
  /** Answers how many there were. */
  remove(ids: readonly string[]): Promise<number>;
}

/** Checks that the engine answers: completions and gates that were asked for. */
export interface CheckRows {
  insert(check: Omit<StoredCheck, "seq">): Promise<void>;
  get(id: string): Promise<StoredCheck | undefined>;
  /** Those that wait to be taken up, oldest first. */
  queued(): Promise<StoredCheck[]>;
  /** Those that an engine works on, oldest first. */
  running(): Promise<StoredCheck[]>;
  /** Completions of this incarnation, oldest first. */
  completionsOf(agentId: string): Promise<StoredCheck[]>;
  /** Changes a check that has one of these statuses. False when it has another by now: nothing was changed. */
  change(
    id: string,
    from: readonly CheckStatus[],
    change: Partial<Omit<StoredCheck, "seq" | "id" | "kind">>,
  ): Promise<boolean>;
  /** Something waits for an answer, about this incarnation when it is named. */
  dueWork(agentId?: string): Promise<boolean>;
  /** Those that were answered before a place: the newest so many, newest first. */
  answered(before: Place, most: number): Promise<StoredCheck[]>;
  /** Deletes checks that are answered; answers how many. */
  remove(ids: readonly string[]): Promise<number>;
}
