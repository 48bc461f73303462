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

/**
 * The number that an agent's process and everything below it carry as their limit of file locks. It is made of a unique
 * id, so no other process has the same limit, and it needs no storing.
 */
export type Mark = number;

/** Every program reads integers up to 2^53 alike. 47 bits tell the ids apart; the rest is the rank. */
const ranks = 32;
const idValues = 2 ** 47;
const highest = ranks - 1;

/** Below this no mark is ever given out: a process with such a limit has lowered it by itself, to hide. */
export const leastMark: Mark = ranks * idValues;

/** The mark of a gate's run: the lowest rank, so that no gate can take an agent's number. */
export const gateMark = (digest: string): Mark => ranked(digest, 0);

/**
 * A process can lower its limit, never raise it: the nearer an agent is to the top, the larger its number, so that no
 * agent can take the number of an agent above it. `digest` is of the id of a turn, a session or a gate's run.
 */
export const markOf = (digest: string, depth: number): Mark =>
  ranked(digest, Math.min(Math.max(highest - 1 - depth, 0), highest - 1));

/** Only orchestrators have the highest rank; a rank that an agent writes into a database does not count. */
export const orchestratorMark = (digest: string): Mark => ranked(digest, highest);

export const isOrchestratorMark = (mark: Mark | undefined): boolean =>
  mark !== undefined && mark >= (ranks + highest) * idValues;

const ranked = (digest: string, rank: number): Mark =>
  (ranks + rank) * idValues + (Number.parseInt(digest.slice(0, 12), 16) % idValues);
