import type { Lease, ProcessIdentity } from "../domain/process/process.ts";
import type { Refusal } from "../domain/refusal.ts";
import type { Result } from "../domain/result.ts";

/** An agent for which nothing starts but what its holder starts. */
export interface AttachHold {
  readonly agentId: string;
  readonly agentName: string;
  readonly generation: number;
  /** It had submitted its work, and goes on as its next generation. */
  readonly reopened: boolean;
  readonly fence: number;
  readonly processId: string;
}

/** How the program that a person worked with ended. */
export interface SessionEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Agents opened at this terminal. */
export interface AttachedSessions {
  /** This process, which holds the agent. */
  readonly self: ProcessIdentity;
  /** Opens the agent's program at this terminal, and waits until the person leaves it. */
  open(hold: AttachHold): Promise<Result<SessionEnd, Refusal>>;
  /** Gives an agent back: `left` by its holder, or because its holder is `gone`. */
  handBack(lease: Lease, reason: "left" | "gone"): Promise<void>;
  /** Lets an engine look at what the agent can do now, and closes what this needed. */
  close(): Promise<void>;
}
