import type { ProcessRole } from "../../../domain/process/process.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import type { Result } from "../../../domain/result.ts";

export interface StopCommand {
  readonly name: string;
  readonly tree: boolean;
  /** Gives processes no time to leave by themselves. */
  readonly force: boolean;
}

export interface EndedProcess {
  readonly pid: number;
  readonly role: ProcessRole | "descendant";
  /** It had to be killed. */
  readonly escalated: boolean;
}

export interface AgentStopped {
  readonly agentName: string;
  readonly sessionId: string;
  readonly capability: string;
  /** It has ended. False: it is being stopped, and the engine goes on with that. */
  readonly stopped: boolean;
  readonly alreadyEnded: boolean;
  readonly wasZombie: boolean;
  readonly wasCompleted: boolean;
  readonly killed: readonly EndedProcess[];
  /** Processes that could not be ended. */
  readonly survivors: readonly number[];
}

export interface StopReport extends AgentStopped {
  /** Stopped with it, whoever is below first. */
  readonly children: readonly AgentStopped[];
  /** Its children that go on without it. */
  readonly liveChildren: readonly string[];
}

/** Stops agents and everything that runs for them. */
export interface Stopper {
  stop(command: StopCommand): Promise<Result<StopReport, Refusal>>;
}
