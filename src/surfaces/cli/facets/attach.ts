import type { Refusal } from "../../../domain/refusal.ts";
import type { Result } from "../../../domain/result.ts";

export interface AttachCommand {
  readonly name: string;
  /** Ends the running turn instead of waiting for it; what it was given waits until the agent goes on. */
  readonly interrupt: boolean;
  /** Told once, when a turn must be waited for. */
  readonly onWaiting: (turnId: string) => void;
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
