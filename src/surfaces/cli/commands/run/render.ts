import { visibleLine } from "../../../../domain/text/visible.ts";
import type { RunAgent } from "../../../../usecases/runs/read-runs.ts";
import type { RunDetail } from "../../../../usecases/runs/run-detail.ts";
import type { Paint } from "../../command.ts";
import { duration, iso, shortTime } from "../../format.ts";
import { statusIcon, statusWords } from "../../marks.ts";
import { mergeLines, mergesJson } from "../merge/counts.ts";

/** A run with the keys scripts know, then ours. */
export function runJson({
  run,
  agentCount,
  coordinatorId,
  status,
  merges,
}: RunDetail): Readonly<Record<string, unknown>> {
  return {
    id: run.id,
    startedAt: iso(run.startedAt),
    completedAt: iso(run.completedAt),
    agentCount,
    coordinatorSessionId: coordinatorId,
    coordinatorName: run.coordinatorName,
    status,
    objective: run.objective,
    targetBranch: run.targetBranch,
    landingBranch: run.landingBranch,
    merges: mergesJson(merges),
  };
}

export function agentJson({ agent, durationMs }: RunAgent): Readonly<Record<string, unknown>> {
  return {
    id: agent.id,
    agentName: agent.name,
    capability: agent.capability,
    worktreePath: agent.worktreePath,
    branchName: agent.branch,
    taskId: agent.taskId,
    state: agent.state,
    outcome: agent.outcome,
    parentAgent: agent.parentName,
    depth: agent.depth,
    runId: agent.runId,
    startedAt: iso(agent.startedAt),
    lastActivity: iso(agent.lastActivityAt),
    duration: duration(durationMs),
  };
}

/** The facts of a run, a line each. */
export function runLines(paint: Paint, { run, agentCount, durationMs, status, merges }: RunDetail): readonly string[] {
  const fact = (name: string, value: string): string => `  ${paint.dim(name.padEnd(9))}  ${visibleLine(value)}`;
  return [
    `${paint.bold("Run")} ${paint.accent(run.id)}`,
    fact("status", status === "needs operator" ? "active, waits for you (ov inbox)" : status),
    ...(run.objective === null ? [] : [fact("objective", run.objective)]),
    fact("started", shortTime(run.startedAt, Date.now())),
    fact("duration", duration(durationMs)),
    fact("agents", String(agentCount)),
    ...(run.targetBranch === null ? [] : [fact("target", run.targetBranch)]),
    ...(run.landingBranch === null || run.landingBranch === run.targetBranch
      ? []
      : [fact("lands on", `${run.landingBranch}, until you take it over: ov merge promote --run ${run.id}`)]),
    ...mergeLines(paint, merges).map((line) => `  ${line}`),
  ];
}

export function agentLine(paint: Paint, { agent, durationMs }: RunAgent): string {
  const state = statusWords(paint, agent);
  return `  ${statusIcon(paint, agent)} ${paint.accent(agent.name)}  ${agent.capability}  ${state}  ${duration(durationMs)}`;
}
