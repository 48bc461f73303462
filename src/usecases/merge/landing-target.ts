import { formerLanding, isIntegration, ownLanding } from "../../domain/merge/landing-branch.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";

/** Where branches of this run land: where it was decided to, else what it is meant for, else the project's own branch. */
export async function targetOf(tx: Tx, { settings }: Pick<Context, "settings">, runId: string | null): Promise<string> {
  const run = runId === null ? undefined : await tx.runs.get(runId);
  return run?.landingBranch ?? run?.targetBranch ?? settings.project.canonicalBranch;
}

/** How many runs may have used the same landing branch. */
const remembered = 200;

export interface Purpose {
  /** The branch that what lands here is promoted to. */
  readonly target: string;
  /** The newest run that lands here. Null: work that somebody queued for another branch than its run's, or without a run. */
  readonly run: Run | null;
}

/**
 * What a landing branch of ours is for. A run knows its own; any other says it where it began. Null for a branch that
 * work lands on directly.
 */
export async function purposeOf(
  tx: Tx,
  { settings }: Pick<Context, "settings">,
  landing: string,
): Promise<Purpose | null> {
  if (!isIntegration(landing)) return null;
  const run = (await tx.runs.list(remembered)).find((one) => one.landingBranch === landing) ?? null;
  if (run !== null && run.targetBranch !== null) return { target: run.targetBranch, run };
  const begun = await tx.mergeOps.list({ kind: "begin", status: "done", ref: `refs/heads/${landing}` });
  const target = begun.find(({ request }) => request.target !== undefined)?.request.target;
  return { target: target ?? settings.project.canonicalBranch, run };
}

/** Is this the landing branch of a target for work without a run, by its name or by the one earlier versions gave it? */
export async function isLandingOf(tx: Tx, landing: string, target: string): Promise<boolean> {
  if (landing === ownLanding(target)) return true;
  if (landing !== formerLanding(target)) return false;
  const begun = await tx.mergeOps.list({ kind: "begin", status: "done", ref: `refs/heads/${landing}` });
  const [last] = begun.filter(({ request }) => request.target !== undefined);
  return last?.request.target === target;
}

/** The landing branch that an earlier version made for this target, where there is one with another name than today's. */
export async function formerLandingOf(tx: Tx, target: string): Promise<string | undefined> {
  const former = formerLanding(target);
  return former !== ownLanding(target) && (await isLandingOf(tx, former, target)) ? former : undefined;
}

/** The flags with which `ov merge promote` promotes this landing branch. */
export async function promoteFlags(tx: Tx, { target, run }: Purpose): Promise<readonly string[]> {
  if (run === null) return ["--target", target];
  return run.id === (await tx.runs.current())?.id ? [] : ["--run", run.id];
}
