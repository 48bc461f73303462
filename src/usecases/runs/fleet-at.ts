import type { Agent } from "../../domain/agent/agent.ts";
import { type SpendingTotals, totalOf } from "../../domain/cost/spending.ts";
import type { Event } from "../../domain/event/event.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { ok } from "../../domain/result.ts";
import type { AgentSpan } from "../../domain/run/agent-spans.ts";
import type { Run } from "../../domain/run/run.ts";
import { fields, text, whole } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";
import { findRun } from "./read-runs.ts";
import { type MergeMark, marksOf, type SpanRow, spanRows } from "./run-spans.ts";

export interface FleetAtRequest {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** An agent as it was at one moment. */
export interface AgentThen {
  readonly agent: Agent;
  /** Null once it had ended. */
  readonly span: AgentSpan | null;
  /** The tool that it was using, if it was in a turn. */
  readonly doing: { readonly tool: string; readonly summary: string | null; readonly since: number } | null;
}

/** A run as it was at one moment. */
export interface FleetAt {
  readonly run: Run;
  readonly at: number;
  readonly agents: readonly AgentThen[];
  readonly landed: readonly MergeMark[];
  readonly totals: SpendingTotals;
  /** The newest event of that moment, and the moments of the events around it. */
  readonly event: Event | null;
  readonly previousAt: number | null;
  readonly nextAt: number | null;
}

/** The fleet of a run at a past moment: its agents, their work, the landings and the spending until then. */
export const fleetAt: UseCase<FleetAtRequest, FleetAt> = {
  kind: "read",
  request: fields<FleetAtRequest>({ id: text, at: whole }),
  run: async (tx, { caller }, { id, at }) => {
    const found = await findRun(tx, caller, id);
    if (!found.ok) return found;
    const run = found.value;
    const { rows, facts } = await spanRows(tx, run);
    const agents: AgentThen[] = [];
    for (const row of rows.filter(({ agent }) => agent.startedAt <= at)) agents.push(await agentThen(tx, row, at));
    const marks = marksOf(facts).filter((mark) => mark.at <= at);
    const undone = new Set(marks.filter(({ kind }) => kind === "undone").map(({ queueId }) => queueId));
    return ok({
      run,
      at,
      agents,
      landed: marks.filter(({ kind, queueId }) => kind === "landed" && !undone.has(queueId)),
      totals: totalOf(await tx.spending.sums("capability", { runId: run.id, until: at }, 100)),
      ...(await eventsAround(tx, run.id, at)),
    });
  },
};

async function agentThen(tx: Tx, { agent, spans }: SpanRow, at: number): Promise<AgentThen> {
  const span = spans.findLast(({ from, to }) => from <= at && (to === null || to > at)) ?? null;
  const { turnId } = span ?? { turnId: null };
  if (span?.kind !== "turn" || turnId === null) return { agent, span, doing: null };
  const [start] = await tx.events.newest({ turnId, types: ["tool_start", "tool_end"], until: at }, 1);
  if (start?.type !== "tool_start") return { agent, span, doing: null };
  const { tool, summary } = payloadFields(start.data) as { readonly tool?: unknown; readonly summary?: unknown };
  const what = typeof summary === "string" ? summary : null;
  return { agent, span, doing: { tool: String(tool), summary: what, since: start.createdAt } };
}

/** Events that no program printed: what agents say in a turn would make too many steps. */
async function eventsAround(
  tx: Tx,
  runId: string,
  at: number,
): Promise<Pick<FleetAt, "event" | "previousAt" | "nextAt">> {
  const [event] = await tx.events.newest({ runId, factsOnly: true, until: at }, 1);
  const [next] = await tx.events.first({ runId, factsOnly: true, since: at + 1 }, 1);
  const [previous] =
    event === undefined ? [] : await tx.events.newest({ runId, factsOnly: true, until: event.createdAt - 1 }, 1);
  return { event: event ?? null, previousAt: previous?.createdAt ?? null, nextAt: next?.createdAt ?? null };
}
