/** Below this every landing branch of ours is found. */
export const integrationPrefix = "overstory/integration/";

export interface LandingFacts {
  /** The branch the work is meant for. */
  readonly target: string;
  readonly runId: string | null;
  /** Somebody has the target checked out: its files would no longer be those of its commit. */
  readonly targetCheckedOut: boolean;
  /** Landing branches of the same target, the newest first, with whether the target already has what is on them. */
  readonly earlier: readonly { readonly branch: string; readonly promoted: boolean }[];
}

/**
 * Where work for a target is put. The target itself while nobody has it checked out; else a branch of our own, which a
 * person takes over when they like. Work that waits there for being taken over is built upon, not left behind.
 */
export function landingBranchFor({ target, runId, targetCheckedOut, earlier }: LandingFacts): string {
  const waiting = earlier.find(({ promoted }) => !promoted);
  if (waiting !== undefined) return waiting.branch;
  if (!targetCheckedOut) return target;
  return runId === null ? ownLanding(target) : integrationPrefix + runId;
}

/**
 * The landing branch of a target for work without a run. Each target has its own. A slash cannot stay, because git has no
 * branch below another branch's name, so it is written as in a URL. So is a dash: earlier versions wrote it for a slash,
 * and such a branch may still hold work for another target.
 */
export const ownLanding = (target: string): string =>
  integrationPrefix + target.replaceAll("%", "%25").replaceAll("/", "%2F").replaceAll("-", "%2D");

/**
 * The name that earlier versions gave it, which `release/1.0` and `release-1.0` had in common: it belongs to the target
 * that its record names. Work that waits there is promoted from there.
 */
export const formerLanding = (target: string): string => integrationPrefix + target.replaceAll("/", "-");

export const isIntegration = (branch: string): boolean => branch.startsWith(integrationPrefix);
