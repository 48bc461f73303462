import type { Clock } from "../ports/clock.ts";
import type { EngineSide } from "../ports/engine-door.ts";
import type { Ids } from "../ports/ids.ts";
import type { ReachKillPoint } from "../ports/kill-points.ts";
import type { Processes } from "../ports/process.ts";
import type { Store } from "../ports/store.ts";
import type { Worktrees } from "../ports/worktrees.ts";

export interface EnginePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly reach: ReachKillPoint;
  readonly processes: Processes;
  readonly worktrees: Worktrees;
  readonly side: EngineSide;
  /** Starts the supervisor of a turn, which outlives us; `onExit` tells us early when it ends, if we are still there. */
  startSupervisor(turnId: string, fence: number, onExit: () => void): void;
  /** Answers a request frame of the command channel. */
  answer(frame: string): Promise<string>;
  worktreePath(agentName: string): string;
  logDir(agentName: string, turnId: string): string;
  readonly settings: EngineSettings;
}

export interface EngineSettings {
  /** Turns that may run at the same time. */
  readonly maxTurns: number;
  readonly idleExitMs: number;
  readonly canonicalBranch: string;
}
