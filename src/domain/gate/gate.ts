/** A command that must pass on exactly what lands. */
export interface Gate {
  readonly name: string;
  readonly command: string;
  readonly timeoutMs: number;
  /** A gate that is not required reports, but stops nothing. */
  readonly required: boolean;
  /** Only changes that touch one of these globs need it; empty: every change does. */
  readonly paths: readonly string[];
}

/** The time limit of a gate that sets none. */
export const defaultTimeoutMs = 300_000;

/** How installing what a tree depends on is named among its gates; where it fails, none of them can be asked. */
export const setupGate = "setup";

export const gateStatuses = ["passed", "failed", "timed_out", "could_not_run"] as const;
export type GateStatus = (typeof gateStatuses)[number];

/** One run of one gate on one tree. */
export interface GateResult {
  readonly id: string;
  /** The tree it ran on. */
  readonly tree: string;
  readonly gate: string;
  readonly command: string;
  /** Hash over what decides the outcome besides the tree: command, time limit, kept directories. */
  readonly gateHash: string;
  readonly status: GateStatus;
  readonly exitCode: number | null;
  readonly durationMs: number;
  readonly logPath: string;
  readonly logDigest: string;
  /** It failed first and passed on the same tree. */
  readonly flaky: boolean;
  readonly kept: readonly string[];
  readonly createdAt: number;
}

/**
 * Evidence that a completion or a landing was checked: enough to run it again elsewhere and compare.
 */
export interface Receipt {
  readonly id: string;
  readonly kind: "completion" | "landing" | "check";
  /** The queue entry, agent or ref it speaks about. */
  readonly subject: string;
  readonly baseCommit: string | null;
  readonly headCommit: string;
  readonly tree: string;
  readonly verdict: "verified" | "verified_with_gaps" | "unverified";
  /** Ids of the gate results it rests on. */
  readonly results: readonly string[];
  /** Why the verdict is not `verified`. */
  readonly gaps: readonly string[];
  readonly createdAt: number;
}
