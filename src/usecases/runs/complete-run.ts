import { no, ok } from "../../domain/result.ts";
import { forbiddenToComplete } from "../../domain/run/rights.ts";
import type { RunStatus } from "../../domain/run/run.ts";
import { recordEvent } from "../tasks/record-event.ts";
import type { UseCase } from "../usecase.ts";
import { currentRun } from "./current-run.ts";

/** Ends the current run. Its agents are left alone: stopping them is a decision of its own. */
export const completeRun: UseCase<object, { readonly runId: string; readonly status: RunStatus }> = {
  access: "write",
  run: async (tx, context) => {
    const run = await currentRun(tx, context.caller);
    if (run === undefined || run.status !== "active") return no({ kind: "no-current-run" });
    const refused = forbiddenToComplete(context.caller, run.id);
    if (refused !== undefined) return no(refused);
    await tx.runs.complete(run.id, "completed", context.now);
    await recordEvent(tx, context, { type: "run_completed", runId: run.id, data: { runId: run.id } });
    return ok({ runId: run.id, status: "completed" });
  },
};
