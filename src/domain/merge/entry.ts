/**
 * pending     waits for its turn, an approval or a dependency; `cause` says if something is in the way
 * merging     being put into a candidate
 * gating      its candidate is being checked
 * merged      landed
 * conflict    cannot be merged without a decision of an agent or a person
 * failed      cannot land as it is; `cause` says why
 * blocked     would land, but something outside is in the way; tried again later
 * cancelled, superseded (by a newer head of the same branch), reverted (landed, then undone)
 */
export const mergeStatuses = [
  "pending",
  "merging",
  "gating",
  "merged",
  "conflict",
  "failed",
  "blocked",
  "cancelled",
  "superseded",
  "reverted",
] as const;
export type MergeStatus = (typeof mergeStatuses)[number];

/** Statuses in which an entry still holds its place; at most one entry per branch and target has one of them. */
export const openMergeStatuses = ["pending", "merging", "gating", "blocked"] as const satisfies readonly MergeStatus[];

/** Statuses in which the place of an entry can still change: in the others it is in a train, or has ended. */
export const movableStatuses = ["pending", "blocked"] as const satisfies readonly MergeStatus[];

/** How a branch got in, from no conflict at all to having been written again. */
export const resolutionTiers = ["clean-merge", "auto-resolve", "ai-resolve", "reimagine"] as const;
export type ResolutionTier = (typeof resolutionTiers)[number];

/** Why an entry did not land. */
export const mergeCauses = [
  "conflict",
  "gate_failed",
  "hook_rejected",
  "missing_ref",
  "lost_submodule",
  "no_common_history",
  "local_changes",
  "stale_head",
  "scope_violation",
  "approval_denied",
  "resolver_timeout",
  "worker_crash",
  "git_error",
  "foreign_tip",
] as const;
export type MergeCause = (typeof mergeCauses)[number];

/** The approval of an entry: none yet, by its recorded parent through `merge_ready`, or by the operator. */
export const approvals = ["waiting", "parent", "operator", "denied"] as const;
export type Approval = (typeof approvals)[number];

/**
 * The verdict about the tree that landed or would land: all gates ran and passed, some were left out or flaky, or none
 * ran.
 */
export const verdicts = ["verified", "verified_with_gaps", "unverified"] as const;
export type Verdict = (typeof verdicts)[number];

/** One branch on its way into a landing branch. */
export interface MergeEntry {
  readonly id: number;
  readonly branch: string;
  /** The commit that was announced; later commits on the branch do not slip in. */
  readonly headCommit: string;
  readonly targetBranch: string;
  readonly taskId: string | null;
  readonly agentName: string | null;
  readonly runId: string | null;
  readonly filesModified: readonly string[];
  /** Entries that must land before this one. */
  readonly dependsOn: readonly number[];
  /** 0 is the most urgent, 4 the least. */
  readonly priority: number;
  /**
   * The origin of the entry: a message, a command, or the engine itself. The engine queues the branch of an agent that
   * has finished, and the target's own commits, which have no agent.
   */
  readonly source: "mail" | "cli" | "engine";
  readonly enqueuedBy: string;
  readonly enqueuedAt: number;
  readonly status: MergeStatus;
  readonly approval: Approval;
  readonly tier: ResolutionTier | null;
  /** Which rung of the ladder settled its conflicts. */
  readonly strategy: string | null;
  readonly verdict: Verdict | null;
  /** How often work on it was begun. */
  readonly attempts: number;
  readonly notBefore: number;
  readonly resultCommit: string | null;
  readonly cause: MergeCause | null;
  readonly causeDetail: CauseDetail | null;
  readonly updatedAt: number;
}

/** What a person or an agent needs to act on a cause. */
export interface CauseDetail {
  readonly message: string;
  readonly files?: readonly string[];
  readonly gate?: string;
  readonly logPath?: string;
  readonly logTail?: string;
  /** Branches that are in the way. */
  readonly with?: readonly string[];
  /** The patch of the files that the operator is asked about; only the beginning of a long one. */
  readonly difference?: string;
}

export const isOpenMerge = ({ status }: Pick<MergeEntry, "status">): boolean =>
  (openMergeStatuses as readonly MergeStatus[]).includes(status);

/** It waits for a person's word. */
export const awaitsApproval = (entry: Pick<MergeEntry, "status" | "approval">): boolean =>
  isOpenMerge(entry) && entry.approval === "waiting";

/** Before it lands, only what its agent proved about the same commit counts. */
export const verdictOf = ({ verdict }: Pick<MergeEntry, "verdict">): Verdict => verdict ?? "unverified";

const refPrefix = "merge:";

/** How waits, receipts and notices name an entry. */
export const mergeRef = (id: number): string => `${refPrefix}${id}`;

/** The number of the entry that such a name stands for. */
export const mergeIdIn = (ref: string): number | undefined => {
  const id = Number(ref.slice(refPrefix.length));
  return ref.startsWith(refPrefix) && Number.isInteger(id) ? id : undefined;
};

const mergeModes = ["manual", "auto", "approve"] as const;
type MergeMode = (typeof mergeModes)[number];

/**
 * The party that asks for a branch to land.
 *
 *   operator  a person, by a command or by mail of their own
 *   parent    the recorded parent of the branch's agent; when that has ended, the parent's own parent
 *   other     any other caller, the agent itself included: an agent never approves its own work
 */
const askers = ["operator", "parent", "other"] as const;
export type Asker = (typeof askers)[number];

export interface ApprovalFacts {
  readonly asker: Asker;
  readonly mode: MergeMode;
  /** Some gate will look at what lands. */
  readonly gated: boolean;
  readonly unverified: "wait" | "land";
}

/** May it land without another word? The operator's word settles it; a parent's does where gates back it up. */
export function approvalFor({ asker, mode, gated, unverified }: ApprovalFacts): Approval {
  if (asker === "operator") return "operator";
  if (asker === "other" || mode === "approve") return "waiting";
  return gated || unverified === "land" ? "parent" : "waiting";
}

/** Why it must wait, for the person who decides. Completes the sentence "it would land; ...". */
export function waitingReason({ asker, mode, gated, unverified }: ApprovalFacts): string {
  if (mode === "approve") return "this project wants your word for every branch (merge.mode)";
  if (asker !== "parent") return "nobody above its agent has approved it";
  if (!gated && unverified === "wait") return "no gate is configured, so nothing has checked it (merge.unverified)";
  return "it was rejected before";
}

/** The approvals that let an entry be taken up by itself. In manual mode a person says when. */
export const sufficientApprovals = (mode: MergeMode): readonly Approval[] =>
  mode === "manual" ? ["operator"] : ["parent", "operator"];

const strength: Readonly<Record<Approval, number>> = { denied: 0, waiting: 1, parent: 2, operator: 3 };

/** The stronger of two approvals: a repeated request can only add to an earlier one. */
export const strongerApproval = (a: Approval, b: Approval): Approval => (strength[a] >= strength[b] ? a : b);

/** Does this entry bring the target's own commits to a landing branch? */
export const bringsTarget = ({ source, agentName }: Pick<MergeEntry, "source" | "agentName">): boolean =>
  source === "engine" && agentName === null;
