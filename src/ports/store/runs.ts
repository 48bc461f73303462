import type { Run, RunStatus } from "../../domain/run/run.ts";

export interface RunRows {
  insert(run: Run): Promise<void>;
  get(id: string): Promise<Run | undefined>;
  /** The newest active run, or undefined. */
  current(): Promise<Run | undefined>;
  /** Newest first. */
  list(limit: number): Promise<Run[]>;
  complete(id: string, status: RunStatus, now: number): Promise<void>;
}
