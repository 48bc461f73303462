export const runStatuses = ["active", "completed", "failed"] as const;
export type RunStatus = (typeof runStatuses)[number];

/** Everything done for one objective. */
export interface Run {
  readonly id: string;
  readonly objective: string | null;
  readonly targetBranch: string | null;
  readonly landingBranch: string | null;
  readonly coordinatorName: string | null;
  readonly status: RunStatus;
  readonly startedAt: number;
  readonly completedAt: number | null;
}
