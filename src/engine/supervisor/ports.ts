import type { Agent } from "../../domain/agent/agent.ts";
import type { GuardRequest } from "../../domain/guard/decide.ts";
import type { Verdict } from "../../domain/guard/tool-use.ts";
import type { PriceList } from "../../domain/prices/prices.ts";
import type { LoopLimits } from "../../domain/turn/loop.ts";
import type { AgentLauncher, TurnFiles } from "../../ports/agent-process.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Instructions } from "../../ports/instructions.ts";
import type { ReachKillPoint } from "../../ports/kill-points.ts";
import type { Processes } from "../../ports/process.ts";
import type { GuardTrial, Runtime, ToolServer } from "../../ports/runtime.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import type { Settings } from "../../ports/settings.ts";
import type { Store } from "../../ports/store.ts";
import type { Worktrees } from "../../ports/worktrees.ts";

export interface SupervisorPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly reach: ReachKillPoint;
  readonly processes: Processes;
  readonly launcher: AgentLauncher;
  readonly files: TurnFiles;
  readonly instructions: Instructions;
  runtime(agent: Pick<Agent, "runtime" | "runtimeSpec">): Runtime | undefined;
  /** What every agent's process gets besides what its person's shell gave: HOME, the project. */
  readonly baseEnvironment: Readonly<Record<string, string>>;
  /** The directory of `ov`, first on PATH; the person's own PATH follows, and where that is unknown, `otherwise`. */
  readonly path: { readonly first: string; readonly otherwise: string };
  /** How an agent's program starts our tool server. */
  readonly tools: ToolServer;
  /** What an agent may do with its tools, for requests during a turn. */
  guard(agent: Agent): Promise<(request: GuardRequest) => Verdict>;
  readonly guardTrial: GuardTrial;
  readonly settings: Settings;
  readonly worktrees: Worktrees;
  /** The prices that count now. */
  prices(): PriceList;
  readonly sandbox: Sandbox;
  /** Nothing more can be stored on the disk with the project's state. */
  isDiskFull(): boolean;
  /** For the log: trouble that the turn gets over. */
  report(trouble: unknown): void;
  readonly limits: SupervisorLimits;
}

export interface SupervisorLimits {
  /** When an agent goes round in circles. */
  readonly loops: LoopLimits;
  /** Silence at most; 0: any. */
  readonly stallTimeoutMs: number;
  /** Silence while a tool runs, at most, where that is longer. */
  readonly toolTimeoutMs: number;
  /** Silence after the runtime's word that the turn is over, at most. */
  readonly afterResultMs: number;
  readonly maxAttempts: number;
  readonly graceMs: number;
  /** Silence between two beats of the lease, at most. */
  readonly beatMs: number;
}
