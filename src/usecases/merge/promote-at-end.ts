import type { Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";
import { newOp } from "./new-op.ts";

/** At the end of a run its work is taken over by itself, where the project wants that and no file of a user is in the way. */
export async function promoteAtEnd(tx: Tx, context: Context, run: Run): Promise<void> {
  const { id: runId, landingBranch: landing, targetBranch: target } = run;
  if (context.settings.merge.promote !== "auto") return;
  if (landing === null || target === null || landing === target) return;
  const request = { runId, landing, target, onlyIfClean: true };
  await newOp(tx, context, { kind: "promote", ref: `refs/heads/${target}`, queueIds: [], request });
}
