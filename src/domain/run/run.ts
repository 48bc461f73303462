import { type Agent, hasEnded } from "../agent/agent.ts";
import type { Caller } from "../caller/caller.ts";
import type { Refusal } from "../refusal.ts";
import { visibleLine } from "../text/visible.ts";

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
  /** It ends only when its objective was looked at criterion by criterion. False for runs of earlier versions. */
  readonly checklist: boolean;
  /**
   * Where the branch on which it lands stood when the run chose it. Null before that, and for runs of earlier versions.
   */
  readonly startCommit: string | null;
  readonly startedAt: number;
  readonly completedAt: number | null;
}

/** Why the caller may not end its run: of the agents only the coordinator sees the whole of it. */
export function forbiddenToComplete(caller: Caller, runId: string): Refusal | undefined {
  if (caller.kind !== "agent" || caller.capability === "coordinator") return undefined;
  const why = "only its coordinator and the operator end a run";
  return { kind: "not-allowed", action: `complete ${runId}`, caller: caller.name, why };
}

/** The reviewers that answer to a coordinator read a whole run: it slings no others. */
export const isLastReviewer = (
  { coordinatorName }: Pick<Run, "coordinatorName">,
  { capability, parentName }: Pick<Agent, "capability" | "parentName">,
): boolean => capability === "reviewer" && coordinatorName !== null && parentName === coordinatorName;

/** Milliseconds from the start to the end, or to now while the run is active. */
export const runDuration = (run: Pick<Run, "startedAt" | "completedAt">, now: number): number =>
  Math.max(0, (run.completedAt ?? now) - run.startedAt);

/** The milliseconds of an agent's life; for an ended agent, up to its last sign of activity. */
export const agentDuration = (agent: Pick<Agent, "state" | "startedAt" | "lastActivityAt">, now: number): number =>
  Math.max(0, (hasEnded(agent) ? agent.lastActivityAt : now) - agent.startedAt);

/** A warning before work is done for a branch that was renamed or deleted. */
export const lostTargetWords = (target: string, runId: string | null): string =>
  `there is no branch ${visibleLine(target)} any more, and nothing can land on it; when it was renamed: ${retargetCommand(runId)}`;

/** Always with the run, where there is one: it is read later, when another run may be the current one. */
export const retargetCommand = (runId: string | null): string => `ov run retarget <branch>${runFlag(runId)}`;

/** The flag by which a printed command names a run. Null: the command takes the run by itself. */
export const runFlag = (runId: string | null): string => (runId === null ? "" : ` --run ${runId}`);
