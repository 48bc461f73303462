import { type Agent, hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import { ok } from "../../domain/result.ts";
import type { Run } from "../../domain/run/run.ts";
import type { FailureCause } from "../../domain/turn/failure.ts";
import type { Turn } from "../../domain/turn/turn.ts";
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
  /** What sort of failure that was, and what a person can do about it. */
  readonly failure: FailureCause | null;
  readonly advice: string | null;
  /** When its next turn may start, for an agent that waits for that. */
  readonly nextTry: number | null;
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
      agents.push({
        agent,
        submitted: isSubmitted(agent),
        unread: await tx.deliveries.countQueued(agent.name),
        waits: await tx.waits.of(agent.name),
        turns: turns.length,
        ...troubleOf(turns),
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

/** What is wrong with an agent, by the last of its turns that ended. */
function troubleOf(turns: readonly Turn[]): Pick<AgentView, "problem" | "failure" | "advice" | "nextTry"> {
  const last = turns.findLast(({ endedAt, status }) => endedAt !== null && status !== "cancelled");
  if (last?.status !== "failed") return { problem: null, failure: null, advice: null, nextTry: null };
  const { error: problem, failure, advice } = last;
  const next = turns.find(({ status }) => status === "queued");
  return { problem, failure, advice, nextTry: next === undefined || next.notBefore === 0 ? null : next.notBefore };
}
