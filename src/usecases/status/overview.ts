import { type Agent, hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import { ok } from "../../domain/result.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Wait } from "../../ports/store/waits.ts";
import { mergeCounts } from "../merge/merge-counts.ts";
import { type OpenDecision, openDecisions } from "../operator/decisions.ts";
import type { UseCase } from "../usecase.ts";
import { newestPerName } from "./newest-per-name.ts";

export interface AgentView {
  readonly agent: Agent;
  readonly submitted: boolean;
  readonly unread: number;
  readonly waits: readonly Wait[];
  readonly turns: number;
  /** Why its last turn failed; null when it did not. */
  readonly problem: string | null;
}

export interface Overview {
  readonly run: Run | null;
  readonly agents: readonly AgentView[];
  readonly unreadMailCount: number;
  readonly unreadMailScope: string;
  /** Branches on their way into the landing branch. */
  readonly openMerges: number;
  /** Numbers of the merges that wait for the operator's word: the run needs a person. */
  readonly approvals: readonly number[];
  /** Numbers of the merges that did not land and have no successor. */
  readonly failedMerges: readonly number[];
  /** Questions of agents that only the operator can answer. */
  readonly decisions: readonly OpenDecision[];
}

/** Who is there and what they wait for. Derived on reading; nothing is stored by looking. */
export const overview: UseCase<{ readonly all: boolean; readonly mailbox: string }, Overview> = {
  access: "read",
  run: async (tx, _context, { all, mailbox }) => {
    const run = (await tx.runs.current()) ?? null;
    const found = await tx.agents.list(run === null || all ? {} : { runId: run.id });
    const agents: AgentView[] = [];
    for (const agent of newestPerName(found)) {
      if (hasEnded(agent) && !isSubmitted(agent) && !all) continue;
      const turns = await tx.turns.listFor(agent.id);
      const last = turns.findLast(({ endedAt, status }) => endedAt !== null && status !== "cancelled");
      agents.push({
        agent,
        submitted: isSubmitted(agent),
        unread: await tx.deliveries.countQueued(agent.name),
        waits: await tx.waits.of(agent.name),
        turns: turns.length,
        problem: last?.status === "failed" ? last.error : null,
      });
    }
    const merges = await mergeCounts(tx, run === null || all ? {} : { runId: run.id });
    const decisions = await openDecisions(tx, run === null || all ? {} : { runId: run.id });
    return ok({
      run,
      agents,
      unreadMailCount: await tx.deliveries.countQueued(mailbox),
      unreadMailScope: mailbox,
      openMerges: merges.pending.length,
      approvals: merges.approvals,
      failedMerges: merges.failed,
      decisions: decisions.filter(({ kind }) => kind === "decision"),
    });
  },
};
