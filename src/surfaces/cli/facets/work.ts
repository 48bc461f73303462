import type { Agent } from "../../../domain/agent/agent.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import type { Result } from "../../../domain/result.ts";

export interface WorkPatch {
  readonly base: string;
  /** The commit, or what stands for a commit while some of it is not committed. */
  readonly head: string;
  /** Some of it is in no commit yet. */
  readonly uncommitted: boolean;
  readonly patch: string;
  /** Files left out: too large, unreadable, or repositories of their own. */
  readonly skipped: readonly string[];
}

/** What agents have done to files. Looking changes nothing of it. */
export interface WorkFacet {
  /** Everything since where the agent started, committed or not. */
  patchOf(agent: Agent): Promise<Result<WorkPatch, Refusal>>;
}
