import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { AgentView } from "../../../../usecases/status/overview.ts";
import type { Handler, Paint } from "../../command.ts";
import { ago } from "../../format.ts";
import { hintLine, stateIcon, stateWord } from "../../marks.ts";
import { decisionLines } from "../inbox/render.ts";
import { mergeLines, mergesJson } from "../merge/counts.ts";

export const status: Handler = async ({ app, flags, io }) => {
  const mailbox = typeof flags.agent === "string" ? flags.agent : "operator";
  const reply = await app.call("status.overview", { all: flags.all === true, mailbox });
  if (!reply.ok) return reply;
  const { run, agents, unreadMailCount, unreadMailScope, approvals, failedMerges, openMerges, decisions } = reply.value;
  const merges = { pending: openMerges, approvals, failed: failedMerges };
  const engine = app.engine.status();
  const head =
    run === null
      ? "No run is active."
      : `Run ${io.paint.accent(run.id)}${run.objective === null ? "" : `: ${visibleLine(run.objective)}`}`;
  const lines = [
    head,
    `Engine: ${engine === undefined ? "not running" : `pid ${engine.pid}`}`,
    `Mail: ${unreadMailCount} unread (to ${unreadMailScope})`,
    ...mergeLines(io.paint, merges),
    ...decisionLines(io.paint, decisions),
    ...(agents.length === 0 ? ["No agents."] : agents.flatMap((view) => agentLines(view, io.paint))),
  ];
  return ok({
    json: {
      currentRunId: run?.id ?? null,
      engine: engine ?? null,
      agents: agents.map(agentJson),
      unreadMailCount,
      unreadMailScope,
      mergeQueueCount: openMerges,
      merges: mergesJson(merges),
      needsOperator: approvals.length > 0 || decisions.length > 0,
      decisions: decisions.map(({ id, from, subject, options }) => ({ id, from, subject, options })),
    },
    text: lines.join("\n"),
  });
};

function agentLines(
  { agent, submitted, unread, waits, problem, advice, nextTry }: AgentView,
  paint: Paint,
): readonly string[] {
  const state = submitted ? "submitted" : agent.state;
  const why = waits.length === 0 ? "" : ` waits for ${waits.map((wait) => `${wait.kind} ${wait.ref}`).join(", ")}`;
  const mail = unread === 0 ? "" : ` ${unread} unread`;
  const outcome = agent.outcome === null || agent.outcome === "done" ? "" : ` (${agent.outcome})`;
  const icon = stateIcon(paint, agent.state);
  const line = `${icon} ${paint.accent(agent.name)} ${agent.capability} ${stateWord(paint, state)}${outcome} ${agent.taskId ?? ""}${why}${mail} ${paint.dim(ago(agent.lastActivityAt, Date.now()))}`;
  if (problem === null) return [line];
  const again = nextTry === null ? "" : ` (next try ${new Date(nextTry).toLocaleTimeString("en-GB")})`;
  const next = advice === null ? [] : [`    ${hintLine(paint, visibleLine(advice)).trimStart()}`];
  return [line, `    ${visibleLine(problem)}${again}`, ...next];
}

function agentJson({
  agent,
  submitted,
  unread,
  waits,
  turns,
  problem,
  failure,
  advice,
  nextTry,
}: AgentView): Record<string, unknown> {
  return {
    agentName: agent.name,
    id: agent.id,
    generation: agent.generation,
    capability: agent.capability,
    runtime: agent.runtime,
    state: agent.state,
    submitted,
    outcome: agent.outcome,
    taskId: agent.taskId,
    branchName: agent.branch,
    worktreePath: agent.worktreePath,
    baseCommit: agent.baseCommit,
    parentAgent: agent.parentName,
    depth: agent.depth,
    runId: agent.runId,
    startedAt: new Date(agent.startedAt).toISOString(),
    lastActivity: new Date(agent.lastActivityAt).toISOString(),
    waits: waits.map(({ kind, ref }) => ({ kind, ref })),
    unread,
    turns,
    problem,
    failure,
    advice,
    nextTry: nextTry === null ? null : new Date(nextTry).toISOString(),
  };
}
