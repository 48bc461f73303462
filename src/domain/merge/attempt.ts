/**
 * landed   its candidate became visible
 * failed   a gate, a hook or a conflict stopped it
 * blocked  something outside was in the way
 * moved    the landing branch moved meanwhile; another attempt follows
 * lost     whoever made it died
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
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly logDir: string | null;
}
