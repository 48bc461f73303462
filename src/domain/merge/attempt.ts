import type { GateResult } from "../gate/gate.ts";
import type { MergeEntry } from "./entry.ts";
import type { MergeOp } from "./operation.ts";

/**
 * landed   its candidate became visible
 * failed   a gate, a hook or a conflict stopped it
 * blocked  something outside was in the way
 * moved    the landing branch moved meanwhile; another attempt follows
 * lost     the process that made it died
 */
export const attemptOutcomes = ["landed", "failed", "blocked", "moved", "lost"] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/** One try to bring entries in, together. */
export interface MergeAttempt {
  readonly id: string;
  /** Attempts of the same batch, and of the halves it was divided into, share it. */
  readonly trainId: string;
  readonly queueIds: readonly number[];
  readonly baseCommit: string;
  readonly candidateCommit: string | null;
  /** Null while it goes on. */
  readonly outcome: AttemptOutcome | null;
  /** Ids of gate results. */
  readonly gateResults: readonly string[];
  /** One per entry, written when the attempt has ended; empty when its maker died. */
  readonly members: readonly AttemptMember[];
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly logDir: string | null;
}

/** What an attempt was for one of its entries. */
export interface AttemptMember {
  readonly id: number;
  readonly outcome: AttemptOutcome;
  /** The trees of the attempt that held this entry. */
  readonly trees: readonly string[];
}

/**
 * An attempt brings several entries in, and may land some of them without the others. For this entry it ended like this.
 * Where the attempt does not say it, the operations do: only a landing that names the entry landed it.
 */
export function outcomeFor(
  { id, status }: Pick<MergeEntry, "id" | "status">,
  attempt: MergeAttempt,
  operations: readonly MergeOp[],
): AttemptOutcome | null {
  const own = attempt.members.find((member) => member.id === id);
  if (own !== undefined) return own.outcome;
  const { outcome, startedAt, finishedAt } = attempt;
  const isLanded = operations.some(
    (op) =>
      op.kind === "land" &&
      op.status === "done" &&
      op.queueIds.includes(id) &&
      op.createdAt >= startedAt &&
      op.createdAt <= (finishedAt ?? op.createdAt),
  );
  if (isLanded) return "landed";
  // An entry that was on the branch already has no landing of its own.
  return outcome === "landed" && status !== "merged" ? "failed" : outcome;
}

/**
 * entry   the gate looked at a tree with this entry
 * base    at what the attempt was built on
 * others  at a tree that held other entries of the attempt, but not this one
 */
export type GateSubject = "entry" | "base" | "others";

/** What a result of an attempt is about, for one entry; null where an older attempt does not say it. */
export function gateSubject(
  id: number,
  { tree }: Pick<GateResult, "tree">,
  attempts: readonly MergeAttempt[],
  operations: readonly MergeOp[],
): GateSubject | null {
  const members = attempts.flatMap((attempt) => attempt.members).filter(({ trees }) => trees.includes(tree));
  if (members.some((member) => member.id === id)) return "entry";
  if (operations.some(({ kind, request }) => kind === "land" && request.tree === tree)) return "entry";
  if (members.length > 0) return "others";
  return attempts.every((attempt) => attempt.members.length > 0) ? "base" : null;
}
