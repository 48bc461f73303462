import type { Result } from "../domain/result.ts";

export interface SeatRequest {
  readonly agentName: string;
  readonly branch: string;
  readonly path: string;
  /** Branch or commit to start from. */
  readonly baseRef: string;
}

export interface Seat {
  readonly path: string;
  readonly branch: string;
  readonly baseCommit: string;
}

export interface WorktreeRefusal {
  readonly kind: "worktree-failed";
  readonly path: string;
  readonly branch: string;
  readonly problem: string;
}

/** Worktrees of one repository. */
export interface Worktrees {
  /** Safe to repeat: a worktree that is already there on its branch is the answer. Never adopts a foreign directory. */
  create(request: SeatRequest): Promise<Result<Seat, WorktreeRefusal>>;
  /** The branch the project root has checked out, or undefined when detached. */
  currentBranch(): Promise<string | undefined>;
}
