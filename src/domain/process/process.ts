/** A pid alone is not a process: pids are reused, and nothing survives a reboot. */
export interface ProcessIdentity {
  readonly pid: number;
  /** What the system says about when this pid started. */
  readonly startToken: string;
  readonly bootId: string;
}

export const processRoles = ["engine", "supervisor", "agent", "gate"] as const;
export type ProcessRole = (typeof processRoles)[number];

/** A process we started, kept for liveness, stopping and audit. */
export interface ProcessRecord extends ProcessIdentity {
  readonly id: string;
  readonly role: ProcessRole;
  readonly agentId: string | null;
  readonly turnId: string | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly endReason: string | null;
}

/** Ownership of a turn or of the engine's seat. Held by beating; judged by an observer's own clock, never by timestamps. */
export interface Lease {
  readonly name: string;
  readonly fence: number;
  readonly beat: number;
  readonly processId: string | null;
}
