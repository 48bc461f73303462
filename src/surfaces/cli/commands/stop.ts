import { ledRunView, stoppedAgentView } from "../../../contract/views/agent.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import type { AgentStopped, LedRun, StopReport } from "../../../usecases/agents/stop.ts";
import type { CleanWorktreesReport } from "../../../usecases/worktrees/clean-worktrees.ts";
import { exits } from "../../shared/exits.ts";
import type { App } from "../app.ts";
import type { Handler, Io, Outcome, Paint } from "../command.ts";
import { isOn, text } from "../given.ts";
import { errorLine, hintLine, successLine, warningLine } from "../marks.ts";
import { leaderlessLine } from "./operator-render.ts";

export const stop: Handler = async ({ app, args, flags, io }) => {
  const force = isOn(flags.force);
  const clean = isOn(flags["clean-worktree"]);
  // Cleaning up after no agent: a caller that may not clean is refused before an agent is stopped.
  const allowed = clean ? await cleanUp(app, [], force) : ok(untouched);
  if (!allowed.ok) return allowed;
  const named = text(args.agent);
  if (named !== undefined && isOn(flags.all))
    return no(invalid("agent", "and --all exclude each other", { value: named }));
  if (named === undefined && !isOn(flags.all)) return noName(app);
  if (named === undefined) return stopAll(app, io, { force, clean });
  const stopped = await app.call("agent.stop", { name: named, tree: isOn(flags.tree), force });
  if (!stopped.ok) return stopped;
  const report = stopped.value;
  warn(io, report);
  const { children, liveChildren, ledRuns, ...own } = report;
  const all = [...children, own];
  const cleaned = clean ? await cleanUp(app, all, force) : ok(untouched);
  if (!cleaned.ok) return cleaned;
  const json = (agent: AgentStopped) => stoppedAgentView(agent, { force, cleaned: cleaned.value });
  return ok({
    json: { ...json(own), children: children.map(json), liveChildren, ledRuns: ledRuns.map(ledRunView) },
    text: [
      ...all.flatMap((agent) => lines(io.paint, agent)),
      ...ledRuns.map((led) => leaderlessLine(io.paint, led)),
      ...(clean ? (await import("./worktree.ts")).cleanedLines(io.paint, cleaned.value) : []),
    ].join("\n"),
    quietText: "",
    exit: exitOf(all, cleaned.value),
  });
};

/** Says whom there is to name. */
async function noName(app: App): Promise<{ readonly ok: false; readonly refusal: Refusal }> {
  const found = await app.call("agent.discover", { all: false });
  if (!found.ok) return found;
  const names = found.value.agents.map(({ name }) => name);
  return no(invalid("agent", "is needed, or --all instead of it", names.length === 0 ? {} : { allowed: names }));
}

/** All agents, each tree from the bottom up. An agent that cannot be stopped does not keep the others from it. */
async function stopAll(
  app: App,
  io: Io,
  { force, clean }: { readonly force: boolean; readonly clean: boolean },
): Promise<Result<Outcome, Refusal>> {
  const found = await app.call("agent.discover", { all: false });
  if (!found.ok) return found;
  const live = new Set(found.value.agents.map(({ name }) => name));
  const heads = found.value.agents.filter(({ parentName }) => !live.has(parentName));
  const all: AgentStopped[] = [];
  const led: LedRun[] = [];
  for (const { name } of heads) {
    const stopped = await app.call("agent.stop", { name, tree: true, force });
    if (!stopped.ok) return stopped;
    const { children, liveChildren: _, ledRuns, ...own } = stopped.value;
    all.push(...children, own);
    led.push(...ledRuns);
  }
  const cleaned = clean ? await cleanUp(app, all, force) : ok(untouched);
  if (!cleaned.ok) return cleaned;
  const nobody = all.length === 0 ? ["No agent runs."] : [];
  return ok({
    json: {
      agents: all.map((agent) => stoppedAgentView(agent, { force, cleaned: cleaned.value })),
      ledRuns: led.map(ledRunView),
    },
    text: [
      ...nobody,
      ...all.flatMap((agent) => lines(io.paint, agent)),
      ...led.map((one) => leaderlessLine(io.paint, one)),
    ].join("\n"),
    quietText: "",
    exit: exitOf(all, cleaned.value),
  });
}

const untouched: CleanWorktreesReport = { removed: [], failed: [], kept: [], pruned: 0 };

/** Only of agents that have really ended: a running agent keeps its worktree. */
async function cleanUp(
  app: App,
  stopped: readonly AgentStopped[],
  force: boolean,
): Promise<Result<CleanWorktreesReport, Refusal>> {
  const agents = stopped.filter((agent) => agent.stopped).map(({ agentName }) => agentName);
  return app.call("worktree.clean", { all: true, force, agents });
}

function warn(io: Io, { agentName, liveChildren }: StopReport): void {
  if (liveChildren.length > 0) {
    io.warn(`going on without their parent: ${liveChildren.join(", ")}; to stop them too: ov stop ${agentName} --tree`);
  }
}

function lines(paint: Paint, agent: AgentStopped): readonly string[] {
  return [
    headline(paint, agent),
    ...(agent.killed.some(({ escalated }) => escalated)
      ? [hintLine(paint, "its program did not end by itself and was killed")]
      : []),
    ...(agent.wasZombie && !agent.alreadyEnded
      ? [hintLine(paint, "it had failed before; it is laid to rest now")]
      : []),
    ...(agent.survivors.length === 0
      ? []
      : [errorLine(paint, `still running: ${agent.survivors.join(", ")}`, "the system does not let them go")]),
  ];
}

function headline(paint: Paint, { agentName, stopped, alreadyEnded }: AgentStopped): string {
  if (alreadyEnded) return `${paint.accent(agentName)} had ended already`;
  if (stopped) return successLine(paint, "Stopped", agentName);
  return warningLine(paint, `${agentName} is being stopped`, "the engine goes on with it: ov status");
}

/**
 * A worktree that was kept for a reason is no failure, as with `ov worktree clean`. A worktree that could not be
 * removed is one.
 */
function exitOf(agents: readonly AgentStopped[], { failed }: CleanWorktreesReport): number {
  if (failed.length > 0 || agents.some(({ survivors }) => survivors.length > 0)) return exits.unexpected;
  return agents.every(({ stopped }) => stopped) ? exits.ok : exits.timeout;
}
