import type { AgentSpan } from "../../domain/run/agent-spans.ts";
import type { FleetAt } from "../../usecases/runs/fleet-at.ts";
import type { RunFigures } from "../../usecases/runs/run-figures.ts";
import type { MergeMark, RunSpans } from "../../usecases/runs/run-spans.ts";
import { iso } from "../values.ts";
import { costTotalsView } from "./cost.ts";
import { eventView } from "./event.ts";

const spanView = ({ kind, from, to, words, failed, costMicros }: AgentSpan) => ({
  kind,
  from: iso(from),
  to: iso(to),
  words,
  failed,
  costUsd: costMicros === null ? null : costMicros / 1_000_000,
});

const markView = ({ at, kind, queueId, branch }: MergeMark) => ({ at: iso(at), kind, queueId, branch });

const periodView = ({ from, to }: { readonly from: number; readonly to: number }) => ({ from: iso(from), to: iso(to) });

/** A run in the course of time: the parts of each agent's time, attempts to merge, gates. A `to` of null goes on. */
export const runSpansView = ({ run, range, rows, merges, marks, gates, idle, path }: RunSpans) => ({
  run: { id: run.id, objective: run.objective, status: run.status },
  ...periodView(range),
  rows: rows.map(({ agent, spans }) => ({
    id: agent.id,
    name: agent.name,
    generation: agent.generation,
    capability: agent.capability,
    parent: agent.parentName,
    state: agent.state,
    outcome: agent.outcome,
    startedAt: iso(agent.startedAt),
    endedAt: iso(agent.endedAt),
    spans: spans.map(spanView),
  })),
  merges: merges.map(({ attempt, entries }) => ({
    id: attempt.id,
    from: iso(attempt.startedAt),
    to: iso(attempt.finishedAt),
    outcome: attempt.outcome,
    entries: entries.map(({ id, branch, agentName, status }) => ({ id, branch, agentName, status })),
  })),
  marks: marks.map(markView),
  gates: gates.map(({ id, gate, status, flaky, durationMs, createdAt }) => ({
    id,
    gate,
    status,
    flaky,
    from: iso(createdAt - durationMs),
    to: iso(createdAt),
  })),
  idle: idle.map(periodView),
  path: path.map(({ agent, ...period }) => ({ agent, ...periodView(period) })),
});

/** A run as it was at one moment. The `span` of an agent that had ended by then is null. */
export const fleetAtView = ({ run, at, agents, landed, totals, event, previousAt, nextAt }: FleetAt) => ({
  runId: run.id,
  at: iso(at),
  agents: agents.map(({ agent, span, doing }) => ({
    id: agent.id,
    name: agent.name,
    generation: agent.generation,
    capability: agent.capability,
    parent: agent.parentName,
    taskId: agent.taskId,
    outcome: span === null ? agent.outcome : null,
    span: span === null ? null : spanView(span),
    doing: doing === null ? null : { tool: doing.tool, argument: doing.summary, since: iso(doing.since) },
  })),
  landed: landed.map(markView),
  costUsd: costTotalsView(totals).costUsd,
  event: event === null ? null : eventView(event),
  previousAt: iso(previousAt),
  nextAt: iso(nextAt),
});

/** How a run went, in figures. */
export const runFiguresView = (figures: RunFigures) => {
  const { turns, turnMs, tokens, costUsd, unpricedTurns } = costTotalsView(figures.totals);
  return {
    id: figures.run.id,
    objective: figures.run.objective,
    status: figures.run.status,
    startedAt: iso(figures.run.startedAt),
    completedAt: iso(figures.run.completedAt),
    durationMs: figures.durationMs,
    agents: figures.agents,
    liveAgents: figures.liveAgents,
    landed: figures.landed,
    reverted: figures.reverted,
    failed: figures.failed,
    turns,
    turnMs,
    tokens,
    costUsd,
    unpricedTurns,
    coordinationShare: figures.coordinationShare,
  };
};
