import type { Run, RunStatus } from "../../domain/run/run.ts";

export interface RunRows {
  insert(run: Run): Promise<void>;
  get(id: string): Promise<Run | undefined>;
  /** The newest active run, or undefined. */
  current(): Promise<Run | undefined>;
  /** Newest first. */
  list(limit: number): Promise<Run[]>;
  /** Where its work goes, decided when its first agent gets a worktree. */
  setBranches(
    id: string,
    branches: { readonly targetBranch: string; readonly landingBranch: string | null },
  ): Promise<void>;
  complete(id: string, status: RunStatus, now: number): Promise<void>;
}
