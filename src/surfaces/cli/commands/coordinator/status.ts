import { waitWords } from "../../../../domain/agent/status.ts";
import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { HeadCapability } from "../../../../usecases/coordinators/find.ts";
import type { HeadView } from "../../../../usecases/coordinators/status.ts";
import type { Handler, Paint } from "../../command.ts";
import { ago } from "../../format.ts";
import { hintLine, statusIcon, statusWords } from "../../marks.ts";
import { questionOf } from "./head-flags.ts";

/** Shows one, and whoever else leads a run. */
export const status =
  (capability: HeadCapability): Handler =>
  async (call) => {
    const { app, io } = call;
    const found = await app.call("coordinator.status", questionOf(capability, call));
    if (!found.ok) return found;
    const { asked, all, monitorRunning } = found.value;
    const watchdogRunning = app.engine.status() !== undefined;
    const others = asked?.running === true || all.length === 0 ? [] : all;
    const views = asked === null ? all : [asked, ...others.filter(({ agent }) => agent.id !== asked.agent.id)];
    const nobody = [`No ${capability} runs.`, hintLine(io.paint, `start one: ov ${capability} start`)];
    const now = Date.now();
    return ok({
      json: {
        ...(asked === null ? { running: false } : viewJson(asked)),
        watchdogRunning,
        monitorRunning,
        [`${capability}s`]: all.map(viewJson),
      },
      text: (views.length === 0 ? nobody : views.flatMap((view) => lines(io.paint, view, now))).join("\n"),
    });
  };

/** The keys scripts know, then ours. */
function viewJson({ agent, running, pid, run, unread, waits, workers }: HeadView) {
  return {
    running,
    sessionId: agent.id,
    state: agent.state,
    tmuxSession: "",
    pid,
    startedAt: new Date(agent.startedAt).toISOString(),
    lastActivity: new Date(agent.lastActivityAt).toISOString(),
    agentName: agent.name,
    outcome: agent.outcome,
    runtime: agent.runtime,
    driver: agent.driver,
    cliVersion: agent.cliVersion,
    runId: agent.runId,
    runStatus: run?.status ?? null,
    objective: run?.run.objective ?? null,
    targetBranch: run?.run.targetBranch ?? null,
    landingBranch: run?.run.landingBranch ?? null,
    unread,
    waits: waits.map(({ kind, ref }) => ({ kind, ref })),
    workers,
  };
}

function lines(paint: Paint, { agent, run, unread, workers, waits }: HeadView, now: number): readonly string[] {
  const head = `${statusIcon(paint, agent)} ${paint.accent(agent.name)} ${statusWords(paint, agent)}`;
  const fact = (name: string, value: string): string => `  ${paint.dim(name.padEnd(9))} ${visibleLine(value)}`;
  const landing = run?.run.landingBranch ?? run?.run.targetBranch ?? null;
  return [
    `${head} ${paint.dim(ago(agent.lastActivityAt, now))}`,
    fact("run", `${agent.runId}${run === null ? "" : ` (${run.status})`}`),
    ...(run === null || run.run.objective === null ? [] : [fact("objective", run.run.objective)]),
    ...(landing === null ? [] : [fact("landing", landing)]),
    fact("agents", workers.length === 0 ? "none at work" : workers.join(", ")),
    ...(waits.length === 0 ? [] : [fact("waits for", waits.map(waitWords).join(", "))]),
    ...(unread === 0 ? [] : [fact("unread", String(unread))]),
  ];
}
