import { ok } from "../../../../domain/result.ts";
import { exits } from "../../../shared/exits.ts";
import type { Handler, Io, Paint } from "../../command.ts";
import type { AgentStopped, StopReport } from "../../facets/stopper.ts";
import { errorLine, hintLine, successLine, warningLine } from "../../marks.ts";
import { isOn, word } from "../task/given.ts";

export const stop: Handler = async ({ app, args, flags, io }) => {
  const force = isOn(flags.force);
  const clean = isOn(flags["clean-worktree"]);
  const stopped = await (await app.stopper()).stop({ name: word(args.agent), tree: isOn(flags.tree), force });
  if (!stopped.ok) return stopped;
  const report = stopped.value;
  warn(io, report, clean);
  const { children, liveChildren, ...own } = report;
  return ok({
    json: { ...stopJson(own, force), children: children.map((child) => stopJson(child, force)), liveChildren },
    text: [...children, own].flatMap((agent) => lines(io.paint, agent)).join("\n"),
    quietText: "",
    exit: exitOf([...children, own]),
  });
};

function warn(io: Io, { agentName, liveChildren }: StopReport, clean: boolean): void {
  if (liveChildren.length > 0) {
    io.warn(`going on without their parent: ${liveChildren.join(", ")}; to stop them too: ov stop ${agentName} --tree`);
  }
  if (clean) io.warn("the worktree was kept; take it away with: ov worktree clean");
}

/** The keys scripts know, then ours. */
function stopJson(agent: AgentStopped, force: boolean): Readonly<Record<string, unknown>> {
  const { agentName, sessionId, capability, stopped, alreadyEnded, wasZombie, wasCompleted, killed, survivors } = agent;
  return {
    stopped,
    agentName,
    sessionId,
    capability,
    tmuxKilled: false,
    pidKilled: killed.length > 0,
    worktreeRemoved: false,
    branchDeleted: false,
    force,
    wasZombie,
    wasCompleted,
    alreadyEnded,
    killed,
    survivors,
  };
}

function lines(paint: Paint, agent: AgentStopped): readonly string[] {
  return [
    headline(paint, agent),
    ...agent.killed.map(({ pid, role, escalated }) =>
      hintLine(paint, `ended ${role} ${pid}${escalated ? ", which had to be killed" : ""}`),
    ),
    ...(agent.wasZombie && !agent.alreadyEnded ? [hintLine(paint, "it was a zombie")] : []),
    ...(agent.survivors.length === 0
      ? []
      : [errorLine(paint, `still running: ${agent.survivors.join(", ")}`, "the system does not let them go")]),
  ];
}

function headline(paint: Paint, { agentName, stopped, alreadyEnded }: AgentStopped): string {
  if (alreadyEnded) return `${paint.accent(agentName)} had ended already`;
  if (stopped) return successLine(paint, "Agent stopped", agentName);
  return warningLine(paint, `${agentName} is being stopped`, "the engine goes on with it: ov status");
}

function exitOf(agents: readonly AgentStopped[]): number {
  if (agents.some(({ survivors }) => survivors.length > 0)) return exits.unexpected;
  return agents.every(({ stopped }) => stopped) ? exits.ok : exits.timeout;
}
