import type { Refusal } from "../../../domain/refusal.ts";
import type { Result } from "../../../domain/result.ts";

export interface AttachCommand {
  readonly name: string;
  /** Ends the running turn instead of waiting for it; what it was given waits until the agent goes on. */
  readonly interrupt: boolean;
  /** Called when the command has to wait for a turn, and again from time to time, with the time waited so far. */
  readonly onWaiting: (waitedMs: number) => void;
  /** Called when the agent's program is about to open here. */
  readonly onOpening: () => void;
}

export interface AttachReport {
  readonly agentName: string;
  readonly generation: number;
  readonly reopened: boolean;
  /** A turn was ended for it. */
  readonly interrupted: boolean;
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** Opens agents at this terminal, and gives them back afterwards. */
export interface AttachFacet {
  attach(command: AttachCommand): Promise<Result<AttachReport, Refusal>>;
}
