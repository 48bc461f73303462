import type { Caller } from "../../domain/caller/caller.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";

/** An agent's own run, even when a newer one is active; otherwise the newest active run. */
export const currentRun = (tx: Tx, caller: Caller): Promise<Run | undefined> =>
  caller.kind === "agent" ? tx.runs.get(caller.runId) : tx.runs.current();
