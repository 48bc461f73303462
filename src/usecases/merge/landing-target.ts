import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";

/** Where branches of this run land: where it was decided to, else what it is meant for, else the project's own branch. */
export async function targetOf(tx: Tx, { settings }: Pick<Context, "settings">, runId: string | null): Promise<string> {
  const run = runId === null ? undefined : await tx.runs.get(runId);
  return run?.landingBranch ?? run?.targetBranch ?? settings.project.canonicalBranch;
}
