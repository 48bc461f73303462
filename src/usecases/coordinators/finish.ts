import { hasEnded } from "../../domain/agent/agent.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import type { OpenEnd } from "../../domain/run/open-ends.ts";
import { release } from "../agents/release-agent.ts";
import { landingsSincePromotion } from "../merge/landing/unpromoted.ts";
import { type UnhandedBranch, unhandedBranches } from "../operator/troubled-agents.ts";
import { recordEnd } from "../runs/change-run.ts";
import { openEndsOf } from "../runs/open-ends.ts";
import type { UseCase } from "../usecase.ts";
import { findHead, type HeadQuestion, headQuestion } from "./find.ts";

export interface FinishReply {
  readonly agentName: string;
  readonly agentId: string;
  readonly runId: string;
  /** False: it was over before. */
  readonly runCompleted: boolean;
  /** What the run left open. */
  readonly open: readonly OpenEnd[];
  /** The landing branch, when work on it waits for a promotion. */
  readonly unpromoted: string | null;
  readonly unhanded: readonly UnhandedBranch[];
}

/**
 * Ends the run of a coordinator that was stopped, and releases it. Its workers and all other runs are left alone.
 * Safe to repeat after a crash between the stop and this.
 */
export const finishRun: UseCase<HeadQuestion, FinishReply> = {
  kind: "write",
  request: headQuestion,
  run: async (tx, context, question) => {
    const refused = forbidden(context.caller, question);
    if (refused !== undefined) return no(refused);
    const found = await findHead(tx, context.caller, question);
    if (!found.ok) return found;
    const agent = found.value;
    const run = await tx.runs.get(agent.runId);
    const completes = run?.status === "active" && run.coordinatorName === agent.name;
    const open = completes ? await openEndsOf(tx, run, context.caller.name) : [];
    if (completes) await recordEnd(tx, context, run, open, "stop");
    if (hasEnded(agent) && agent.releasedAt === null) await release(tx, context, agent, "stopped");
    const landing = run?.landingBranch ?? null;
    const lands = landing !== null && landing !== run?.targetBranch;
    const waits = lands && (await landingsSincePromotion(tx, landing)).length > 0;
    return ok({
      agentName: agent.name,
      agentId: agent.id,
      runId: agent.runId,
      runCompleted: completes,
      open,
      unpromoted: waits ? landing : null,
      unhanded: await unhandedBranches(tx, await tx.agents.list({ runId: agent.runId, unreleased: true })),
    });
  },
};

function forbidden(caller: Caller, { capability }: HeadQuestion): Refusal | undefined {
  if (caller.kind !== "agent") return undefined;
  if (caller.capability === "orchestrator" && capability === "coordinator") return undefined;
  const why = "only the operator stops those who lead, and an orchestrator its coordinators";
  return { kind: "not-allowed", action: `stop a ${capability}`, caller: caller.name, why };
}
