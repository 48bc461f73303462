import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import { no, ok } from "../../domain/result.ts";
import { forbiddenToComplete, type RunStatus } from "../../domain/run/run.ts";
import { giveBackTask } from "../agents/release-agent.ts";
import { byCaller, record } from "../events/record.ts";
import { promoteAtEnd } from "../merge/promotion.ts";
import { newestPerName } from "../status/newest-per-name.ts";
import type { UseCase } from "../usecase.ts";
import { currentRun } from "./current-run.ts";

/**
 * Ends the current run, once everybody in it is released or dead and nothing of it is on its way into a branch. Its agents
 * are left alone: stopping them is a decision of its own.
 */
export const completeRun: UseCase<
  { readonly force?: boolean },
  { readonly runId: string; readonly status: RunStatus }
> = {
  kind: "write",
  run: async (tx, context, { force }) => {
    const run = await currentRun(tx, context.caller);
    if (run === undefined || run.status !== "active") return no({ kind: "no-current-run" });
    const refused = forbiddenToComplete(context.caller, run.id);
    if (refused !== undefined) return no(refused);
    const open = newestPerName(await tx.agents.list({ runId: run.id })).filter(isOpen);
    const landing = await tx.merges.list({ runId: run.id, statuses: openMergeStatuses });
    if ((open.length > 0 || landing.length > 0) && force !== true) {
      const agents = open.map(({ name }) => name);
      return no({ kind: "run-open", run: run.id, agents, branches: landing.map(({ branch }) => branch) });
    }
    await tx.runs.complete(run.id, "completed", context.now);
    // Nobody of an ended run goes on with its tasks: those that are neither closed nor on their way are ready again.
    for (const agent of newestPerName(await tx.agents.list({ runId: run.id }))) {
      if (hasEnded(agent)) await giveBackTask(tx, context, agent);
    }
    await promoteAtEnd(tx, context, run);
    await record(tx, context.now, {
      ...byCaller(context.caller, run.id),
      type: "run_completed",
      data: { runId: run.id },
    });
    return ok({ runId: run.id, status: "completed" });
  },
};

/** Persistent agents end with the run, not before it. */
const isOpen = (agent: Agent): boolean =>
  !isIn("persistent", agent.capability) && agent.state !== "zombie" && agent.releasedAt === null;
