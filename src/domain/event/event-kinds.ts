import type { AgentOutcome, AgentState } from "../agent/agent.ts";
import type { Capability } from "../agent/capability.ts";
import type { BudgetScope, BudgetUnit } from "../budget/budget.ts";
import type { GuardRule } from "../guard/tool-use.ts";
import type { MergeCause, MergeEntry, ResolutionTier, Verdict } from "../merge/entry.ts";
import type { TaskStatus } from "../task/task.ts";
import type { FailureCause } from "../turn/failure.ts";
import type { TurnEnd } from "../turn/settle.ts";
import type { TurnTrigger } from "../turn/turn.ts";
import type { WorktreeChange } from "../worktree/change.ts";

/** Gives an entry of the table below the type of its data. Writers import types only, so writing an event loads no table. */
const holds = <Data>(): { readonly data?: Readonly<Data> } => ({});

/**
 * Every kind of event that is ever written, with what its data holds. The words are stored in users' databases: a kind
 * may get new fields, but it is never renamed. Writers use `record` (usecases/events/record.ts). Readers must expect
 * kinds that are not listed here: a newer version may have written them. See `isKnownKind`.
 */
export const eventKinds = {
  // Agents
  spawn: holds<{ capability: Capability; taskId: string | null; parent: string; runtime: string }>(),
  seated: holds<{ worktree: string; branch: string; baseCommit: string }>(),
  start_failed: holds<{ problem: string }>(),
  seat_late: holds<LateWork>(),
  stop: holds<{ by: string; from: AgentState; running: string | null }>(),
  pause: holds<{ by: string }>(),
  resume: holds<{ by: string; lifted: readonly string[] }>(),
  /** Written for `ov nudge` only. */
  custom: holds<{ type: "nudge"; from: string; message: string; delivered: boolean }>(),
  attach: holds<{ by: string; pid: number; reopened: boolean }>(),
  detach: holds<{ reason: string; finished: boolean; goesOn: boolean }>(),
  released: holds<{ reason: string; generation: number; branch: string | null }>(),
  reopened: holds<{ generation: number; reason: string; revivals: number }>(),

  // Turns: what the supervisor did
  turn_start: holds<{
    trigger: TurnTrigger;
    attempt: number;
    pid: number;
    messages: number;
    prompt: string;
    promptHash: string;
    promptProblem?: string;
  }>(),
  turn_end: holds<{ end: TurnEnd; state: AgentState; outcome: AgentOutcome | null; exit: ExitFacts }>(),
  turn_late: holds<LateWork>(),
  resume_mismatch: holds<{ requestedSessionId: string; observedSessionId: string }>(),
  mail_poll_detected: holds<{ reason: string; command: string; message: string }>(),
  scope_violation: holds<{
    violations: readonly string[];
    fileScope: readonly string[];
    base: string | null;
    message: string;
  }>(),

  // Turns: what the agent's output or its hooks say
  session_start: holds<SessionFacts & { providerSessionId?: string; model?: string | null }>(),
  session_end: holds<SessionFacts>(),
  user_prompt: holds<SessionFacts>(),
  turn_stop: holds<SessionFacts>(),
  pre_compact: holds<SessionFacts>(),
  progress: holds<{ text: unknown }>(),
  /** The beginning of what the agent thought, as far as its program tells. */
  thinking: holds<{ text: unknown }>(),
  /** The input is shortened; the digest is of the whole. */
  tool_start: holds<ToolFacts & { input?: unknown; inputDigest?: string }>(),
  /** `durationMs` is null when the start was not seen. `said`: the answer of a tool that failed. */
  tool_end: holds<ToolFacts & { durationMs: number | null; failed?: boolean; said?: unknown }>(),
  /** `of`: the part of a command that was meant. Earlier versions stored neither this nor the reason. */
  guard_denied: holds<{ rule: GuardRule; reason?: string; of?: string } & ToolFacts>(),
  /** The agent CLI shortened its conversation. `asked`: by a command of a person; otherwise because the context was full. */
  compacted: holds<{ asked: boolean; tokensBefore: number | null; tokensAfter: number | null }>(),
  /** Another model answers than before, as when the first one is overloaded or refuses. */
  model_changed: holds<{ from: string; to: string; why: string | null }>(),
  retry: holds<{ attempt: number; delayMs: number; cause: string }>(),
  usage: holds<{
    messageId: string;
    model: string | null;
    input: number;
    output: number;
    cacheRead: number;
    cacheWrite: number;
  }>(),
  result: holds<{ cause: FailureCause | "completed"; text: unknown; costUsd: number | null }>(),
  hopeless: holds<{ cause: FailureCause; text: unknown }>(),
  /** Earlier versions stored no text. */
  malformed_output: holds<{ bytes: number; text?: string }>(),
  /** The end of what a program wrote to its error output in a turn. */
  error_output: holds<{ text: string }>(),

  // Watchdog
  escalation: holds<{ escalationLevel: number; action: "warn" | "terminate"; reason?: string }>(),
  nudge: holds<{ escalationLevel: number }>(),
  triage: holds<{ escalationLevel: number; verdict: null }>(),
  recovered: holds<{ escalationLevel: number }>(),

  // Worktrees and snapshots
  snapshot: holds<{ ref: string; commit: string; skipped: readonly string[] }>(),
  snapshot_failed: holds<{ path: string; problem: string }>(),
  snapshots_pruned: holds<{ refs: readonly string[] }>(),
  landed_agents_pruned: holds<{ agents: readonly string[] }>(),
  submodule_kept: holds<{ path: string; refs: readonly string[] }>(),
  submodules_unfilled: holds<{ unfilled: readonly object[] }>(),
  work_restored: holds<{
    ref: string | null;
    files: readonly string[];
    fromTrash: number;
    left: { readonly ref: string; readonly onTop: string | null } | null;
  }>(),
  stand_in_put_aside: holds<{ path: string; putAside: string }>(),
  worktree_link: holds<{ path: string; problem: string }>(),
  worktree_mended: holds<{ path: string; changes: readonly WorktreeChange[] }>(),
  worktree_kept: holds<RemovalFacts | { path: string | null; problem: string }>(),
  worktree_removed: holds<RemovalFacts>(),
  cleaned: holds<{ released: readonly string[]; runs: readonly string[]; usageRows: number }>(),

  /** What `ov doctor --fix` changed in the database, one phrase each. */
  repaired: holds<{ repairs: readonly string[] }>(),

  // Mail
  mail_sent: holds<{
    to: string;
    subject: string;
    type: string;
    priority: string;
    messageId: string;
    broadcast?: true;
    recipients?: number;
  }>(),
  mail_dead: holds<{
    messageId: string;
    from: string;
    to: string;
    type: string;
    attempts: number;
    lastError: string | null;
  }>(),
  mail_purged: holds<{
    all?: true;
    days?: number | undefined;
    before?: number | undefined;
    agent?: string | undefined;
    purged: number;
  }>(),

  // Completions
  completion_accepted: holds<{
    taskId: string | null;
    commit: string | null;
    verdict: Verdict | null;
    receiptId: string | null;
    summary: string;
    expansionReason?: string;
    noCode?: boolean;
    noCodeReason?: string | null;
  }>(),
  completion_refused: holds<RefusedCheck>(),
  check_failed: holds<RefusedCheck>(),
  learned: holds<{ taskId: string | null; note: string }>(),
  review_escalated: holds<{ branch: string; fails: number }>(),

  // Merge queue
  merge_queued: holds<MergeFacts & { dependsOn?: readonly number[]; again?: true; attempts?: number }>(),
  merge_approved: holds<MergeFacts>(),
  merge_waits: holds<MergeFacts & { why: string; files?: readonly string[] }>(),
  merge_moved: holds<MergeFacts & { priority: number; dependsOn: readonly number[] }>(),
  merge_queue_paused: holds<{ by: string; reason: string | null }>(),
  merge_queue_resumed: holds<{ by: string }>(),
  merge_superseded: holds<MergeFacts>(),
  merge_cancelled: holds<MergeFacts>(),
  merge_landed: holds<
    MergeFacts & { commit: string | null } & (
        | { tier: ResolutionTier; strategy: string | null; verdict: Verdict; opId: string | null }
        | { restored: true }
      )
  >(),
  merge_failed: holds<
    MergeFacts & { cause: MergeCause; message: string; files: readonly string[]; gate: unknown; reopened: boolean }
  >(),
  merge_blocked: holds<MergeFacts & { cause: MergeCause; message: string }>(),
  merge_undone: holds<MergeFacts & { opId: string; requeue: boolean }>(),
  merge_promoted: holds<PromotionFacts>(),
  merge_promote_failed: holds<PromotionFacts>(),
  merge_radar: holds<{
    branches: readonly string[];
    agents: readonly (string | null)[];
    commits: readonly string[];
    files: readonly string[];
  }>(),
  merge_refs_pruned: holds<{ refs: readonly string[] }>(),

  // Tasks, groups and specs
  task_created: holds<{ taskId: string; title: string }>(),
  tasks_imported: holds<{ created: readonly string[]; updated: readonly string[] }>(),
  task_claimed: holds<{ taskId: string; by: string }>(),
  task_updated: holds<{ taskId: string; fields: readonly string[]; status: TaskStatus }>(),
  task_closed: holds<{ taskId: string; reason: string | null }>(),
  /** `root`: the task that was named; the others went with it. */
  task_dropped: holds<{ taskId: string; root: string; reason: string; agents: readonly string[] }>(),
  task_reopened: holds<{ taskId: string }>(),
  task_returned: holds<{ taskId: string; from: string; outcome: AgentOutcome | null; reason?: string }>(),
  task_unblocked: holds<{ taskId: string }>(),
  task_dependency_added: holds<{ taskId: string; dependsOn: string }>(),
  task_dependency_removed: holds<{ taskId: string; dependsOn: string }>(),
  group_created: holds<GroupFacts & { taskIds: readonly string[] }>(),
  group_changed: holds<GroupFacts & { added?: readonly string[]; removed?: readonly string[] }>(),
  group_completed: holds<GroupFacts>(),
  group_resumed: holds<GroupFacts>(),
  spec_written: holds<{ taskId: string; path: string; author: string | null; digest: string }>(),

  // Runs and budgets
  /** `open`: the open ends of the run, in words, when it ended by force, by a stop or by `ov clean`. */
  run_completed: holds<{ runId: string; by?: "stop" | "clean" | "review"; open?: readonly string[] }>(),
  run_reopened: holds<{ runId: string }>(),
  criteria_added: holds<{ runId: string; numbers: readonly number[] }>(),
  criterion_proved: holds<{ runId: string; number: number; kind: string; landed: string }>(),
  proof_lost: holds<{ runId: string; number: number; why: string }>(),
  criterion_waived: holds<{ runId: string; number: number; reason: string }>(),
  waiver_taken_back: holds<{ runId: string; number: number }>(),
  /** `criterion`: the number of the criterion that the words became; null when the objective is not split. */
  run_changed: holds<{
    runId: string;
    number: number;
    words: string;
    criterion: number | null;
    waived: readonly number[];
  }>(),
  criterion_amended: holds<{ runId: string; number: number; words: string; wordsBefore: string }>(),
  run_retargeted: holds<{ runId: string; from: string | null; to: string; landingBranch: string | null }>(),
  stands_still: holds<{ problem: string; advice: string }>(),
  run_phase: holds<{
    phase: string;
    workerCount: number;
    completed: number;
    zombies: number;
    capabilities: readonly Capability[];
    workers: readonly string[];
  }>(),
  budget_warning: holds<LedgerFacts & { spent: number; limit: number }>(),
  budget_exceeded: holds<LedgerFacts & ExceededFacts>(),
  budget_wait: holds<LedgerFacts & ExceededFacts>(),
  /** `tokens`: the limit that holds instead of the one in dollars. */
  budget_unpriced: holds<LedgerFacts & { model: string | null; tokens: number | null }>(),
  budget_raised: holds<LedgerFacts & { by: number; limit: number }>(),
  budget_resumed: holds<{ ref: string }>(),

  // Import
  /** An event of version 0.11 that has no kind here, under the name and with the text that it had there. */
  earlier: holds<{ kind: string; text: string | null }>(),
  /** `rows`: how many rows of the part of the earlier project are here now. */
  imported: holds<{ source: string; rows: number }>(),

  // Engine
  engine_error: holds<{ text: string }>(),
  engine_replaced: holds<{ pid: number }>(),
  settings_changed: holds<{
    changes: readonly { readonly key: string; readonly from: unknown; readonly to: unknown }[];
  }>(),
  old_pruned: holds<{ removed: Readonly<Record<string, number>> }>(),

  // Notifications
  /** Items that wait for the operator and were never told before. Followers ring the bell at it. */
  attention: holds<{ items: readonly string[]; subjects: readonly string[] }>(),
  notify_failed: holds<{ channel: string; problem: string; items: readonly string[] }>(),
  /** An engine died while it told the operator of these. They are not told again. */
  notify_unsure: holds<{ items: readonly string[] }>(),
} as const;

export type EventKind = keyof typeof eventKinds;

/** What the data of a kind holds. */
export type EventData<Kind extends EventKind> = NonNullable<(typeof eventKinds)[Kind]["data"]>;

/** False for a kind that a newer version wrote. Such an event is shown by its kind and data. */
export const isKnownKind = (type: string): type is EventKind => Object.hasOwn(eventKinds, type);

/** A call of a tool. */
export interface ToolFacts extends SessionFacts {
  readonly tool: string | null;
  /** The id of the call, the same at its start and at its end. */
  readonly id: string | null;
  /** What the tool is used on, in one short line. Earlier versions stored `subject`, or only the input. */
  readonly summary: string | null;
}

/** What a hook says about the session it runs in. */
export interface SessionFacts {
  readonly sessionId?: string;
  /** Why the session starts: startup, resume, clear, compact. */
  readonly source?: string;
  /** The file in which the runtime keeps the conversation. */
  readonly transcript?: string;
}

interface LateWork {
  readonly turnId: string | null;
  readonly dueForMs: number;
}

interface ExitFacts {
  readonly code: number | null;
  readonly signal: string | null;
}

interface RemovalFacts {
  readonly path: string;
  readonly branch: string;
  readonly branchDeleted: boolean;
  readonly removed: boolean;
  readonly trash: string | null;
  readonly refs: readonly string[];
  readonly skipped: readonly string[];
}

interface RefusedCheck {
  readonly checkId: string;
  readonly ref: string | null;
  readonly problem: readonly { readonly kind: string; readonly message: string }[];
}

/** Of an entry of the merge queue; `by`: who caused the event. */
export type MergeFacts = Pick<MergeEntry, "branch" | "targetBranch" | "taskId" | "headCommit" | "approval"> & {
  readonly queueId: number;
  readonly by: string;
};

interface PromotionFacts {
  readonly opId: string;
  readonly landing: string;
  readonly target: string;
  readonly commit: string | null;
  readonly problem: string | null;
  readonly removedLocks: readonly string[];
}

interface GroupFacts {
  readonly groupId: string;
  readonly name: string;
}

interface LedgerFacts {
  readonly scope: BudgetScope;
  readonly subject: string;
  readonly unit: BudgetUnit;
}

interface ExceededFacts {
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  readonly wanted: number;
}
