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

/** What a checkout is made of besides the tree. */
export interface CheckoutTerms {
  /** Ignored paths that are kept as setup made them. */
  readonly keepIgnored: readonly string[];
  /** Ignored directories that are kept as gates left them. */
  readonly cache: readonly string[];
  /** Command that installs dependencies. */
  readonly setup: string | undefined;
}

/** The terms, and what decides how the files of a tree look, as `MergeGit.formOfFiles` names it. */
interface GateTerms extends CheckoutTerms {
  readonly form: string;
}

/**
 * Names everything that decides the outcome of a gate besides the tree, so that a result is good again for the same
 * tree only under the same terms. The gate's name is no part of it: another name proves nothing new.
 */
export const gateHash = (
  gate: Pick<Gate, "command" | "timeoutMs">,
  terms: GateTerms,
  digest: (text: string) => string,
): string => `${termsHash(gate, terms, digest)}.${terms.form}`;

/** The part of it that does not depend on how files look. */
export function termsHash(
  { command, timeoutMs }: Pick<Gate, "command" | "timeoutMs">,
  { keepIgnored, cache, setup }: CheckoutTerms,
  digest: (text: string) => string,
): string {
  const paths = [keepIgnored, cache].map((list) => [...new Set(list)].sort());
  return digest(JSON.stringify([checkoutForm, command, timeoutMs, ...paths, setup ?? ""]));
}

/** How a checkout is made ready. Results under an earlier form do not count any more. */
const checkoutForm = "kept directories are as setup made them";
