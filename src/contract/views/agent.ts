import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { startAgain, statusOf } from "../../domain/agent/status.ts";
import type { AttachReport } from "../../usecases/agents/attach.ts";
import type { NudgeReply } from "../../usecases/agents/nudge.ts";
import type { PauseReply, ResumeReply } from "../../usecases/agents/pause.ts";
import type { ReleaseReply } from "../../usecases/agents/release-agent.ts";
import type { SlingReply } from "../../usecases/agents/sling-request.ts";
import type { AgentStopped, LedRun } from "../../usecases/agents/stop.ts";
import type { FinishReply } from "../../usecases/coordinators/finish.ts";
import type { StartReply } from "../../usecases/coordinators/plan-start.ts";
import type { HeadStanding } from "../../usecases/coordinators/status.ts";
import type { ExplainedDenial } from "../../usecases/guard/explain.ts";
import type { TroubledAgent } from "../../usecases/operator/troubled-agents.ts";
import type { RunAgent } from "../../usecases/runs/read-runs.ts";
import type { AgentStanding } from "../../usecases/status/overview.ts";
import type { CleanWorktreesReport } from "../../usecases/worktrees/clean-worktrees.ts";
import {
  olderAgentKeys,
  olderHeadStopKeys,
  olderSeatKeys,
  olderStartKeys,
  olderStopKeys,
  olderWaitedKeys,
} from "../older-keys.ts";
import { duration, iso } from "../values.ts";

/** The record of an agent. Every command and tool that shows an agent shows these keys. */
export const agentView = (agent: Agent) => ({
  id: agent.id,
  name: agent.name,
  generation: agent.generation,
  capability: agent.capability,
  runtime: agent.runtime,
  driver: agent.driver,
  cliVersion: agent.cliVersion,
  model: agent.model,
  state: agent.state,
  status: statusOf(agent).words,
  outcome: agent.outcome,
  running: !hasEnded(agent),
  taskId: agent.taskId,
  branch: agent.branch,
  worktreePath: agent.worktreePath,
  baseCommit: agent.baseCommit,
  scope: agent.scope,
  shares: agent.shares,
  parent: agent.parentName,
  depth: agent.depth,
  runId: agent.runId,
  providerSessionId: agent.providerSessionId,
  startedAt: iso(agent.startedAt),
  lastActivity: iso(agent.lastActivityAt),
  escalationLevel: agent.escalationLevel,
  stalledSince: iso(agent.stalledSince),
  ...olderAgentKeys(agent),
});

/**
 * An agent with its mail, its turns, the things it waits for and its troubles. The keys are added to the record itself: with
 * 500 agents a copy of each takes longer than everything else here.
 */
export function fleetAgentView(view: AgentStanding) {
  const { agent, landedNowhere, doing } = view;
  const shown = view.waits.map(({ kind, ref }) => ({ kind, ref }));
  return Object.assign(agentView(agent), {
    status: landedNowhere ? statusOf({ ...agent, landedNowhere }).words : statusOf(agent).words,
    submitted: view.submitted,
    unread: view.unread,
    waits: shown,
    waitsFor: shown,
    turns: view.turns,
    doing: doing === null ? null : { tool: doing.tool, summary: doing.summary, since: iso(doing.since) },
    problem: view.problem,
    failure: view.failure,
    advice: view.advice,
    nextTry: iso(view.nextTry),
    needsOperator: view.needsOperator,
  });
}

/** A coordinator, orchestrator or monitor, with the run that it leads. */
export const headView = ({ agent, running, pid, run, unread, waits, workers, trouble }: HeadStanding) => ({
  ...agentView(agent),
  running,
  pid,
  runStatus: run?.status ?? null,
  objective: run?.run.objective ?? null,
  targetBranch: run?.run.targetBranch ?? null,
  landingBranch: run?.run.landingBranch ?? null,
  unread,
  ...waitKeys({ waits }),
  workers,
  problem: trouble.problem,
  advice: trouble.advice,
});

/** An agent on the timeline of its run. */
export const runAgentView = ({ agent, durationMs, turns }: RunAgent) => ({
  ...agentView(agent),
  duration: duration(durationMs),
  durationMs,
  timeline: turns.map(({ id, status, startedAt, endedAt }) => ({
    id,
    status,
    startedAt: iso(startedAt),
    endedAt: iso(endedAt),
  })),
});

/** An agent that only the operator can help, with the commands that do. */
export const troubledAgentView = ({ agent, problem, failure, advice }: TroubledAgent) => ({
  ...agentView(agent),
  problem,
  failure,
  advice,
  commands: troubleCommands(agent),
});

/** Both names have readers: `waits` those of `ov status`, `waitsFor` those of the tool `fleet`. */
function waitKeys({ waits }: Pick<AgentStanding, "waits">) {
  const shown = waits.map(({ kind, ref }) => ({ kind, ref }));
  return { waits: shown, waitsFor: shown };
}

type TroubledFacts = Pick<Agent, "name" | "taskId" | "capability" | "generation" | "outcome" | "state">;

/**
 * The commands for an agent in trouble: look, go on, or let go. Worktree and branch stay until the last of them.
 * The command to go on is left out when `advice` names it. An agent that has not ended can be neither recovered nor
 * released: its `advice` says what sets it going.
 */
export function troubleCommands(agent: TroubledFacts, advice: string | null = null): readonly string[] {
  if (agent.outcome === "start_failed") return unstartedCommands(agent);
  const look = `see what it did: ov logs ${agent.name}`;
  if (!hasEnded(agent)) return [look];
  return [
    look,
    ...(advice?.includes("ov recover") === true ? [] : [`let it go on: ov recover ${agent.name}`]),
    `let it go, its work is kept: ov release ${agent.name}`,
  ];
}

/** An agent that never started has no conversation and no work, so it cannot be released. */
function unstartedCommands(agent: TroubledFacts): readonly string[] {
  const again = startAgain(agent);
  return [`see why: ov logs ${agent.name}`, ...(again === undefined ? [] : [`then ${again}`])];
}

/** An agent that was reserved a moment ago, or would be. */
export const seatView = (seat: SlingReply) => ({ ...seat, parent: seat.parentAgent, ...olderSeatKeys });

/** A new agent after the command has waited for its first turn or for its end. */
export const waitedSeatView = (seat: SlingReply, agent: Agent) => ({
  ...seatView(seat),
  outcome: agent.outcome,
  status: statusOf(agent).words,
  providerSessionId: agent.providerSessionId,
  ...olderWaitedKeys(agent),
});

/** A coordinator or orchestrator that was started, with the run that it leads. */
export interface StartedHead extends StartReply {
  /** An engine ran before. */
  readonly watchdogPreexisting: boolean;
  readonly monitor: boolean;
}

export const startedHeadView = (started: StartedHead) => ({
  agentName: started.agentName,
  capability: started.capability,
  generation: started.generation,
  runId: started.runId,
  runtime: started.runtime,
  objective: started.objective,
  targetBranch: started.targetBranch,
  watchdogPreexisting: started.watchdogPreexisting,
  monitor: started.monitor,
  warnings: started.warnings,
  ...olderStartKeys(started),
});

/** What `ov stop` did about one agent and, where it was asked to, about its worktree. */
export const stoppedAgentView = (
  agent: AgentStopped,
  { force, cleaned = untouched }: { readonly force: boolean; readonly cleaned?: CleanWorktreesReport },
) => ({
  stopped: agent.stopped,
  agentName: agent.agentName,
  capability: agent.capability,
  force,
  wasZombie: agent.wasZombie,
  wasCompleted: agent.wasCompleted,
  alreadyEnded: agent.alreadyEnded,
  killed: agent.killed,
  survivors: agent.survivors,
  ...olderStopKeys(agent),
  ...worktreeFate(agent, cleaned),
});

/** An active run whose leader was stopped. */
export const ledRunView = ({ runId, coordinatorName }: LedRun) => ({ runId, coordinatorName });

const untouched: CleanWorktreesReport = { removed: [], failed: [], kept: [], pruned: 0 };

function worktreeFate({ agentName }: AgentStopped, { removed, failed, kept }: CleanWorktreesReport) {
  const isOwn = (one: { readonly agentName: string }): boolean => one.agentName === agentName;
  const gone = removed.find(isOwn);
  return {
    worktreeRemoved: gone !== undefined,
    branchDeleted: gone?.branchDeleted ?? false,
    worktreeKept: kept.find(isOwn)?.reason ?? failed.find(isOwn)?.problem ?? null,
    rescue: gone?.rescue ?? null,
  };
}

/** A coordinator or orchestrator that was stopped together with its run. */
export interface StoppedHead
  extends Pick<FinishReply, "agentId" | "agentName" | "runId" | "runCompleted" | "unhanded"> {
  readonly monitorStopped: boolean;
  /** What the command does with the agents of the run: leave, stop or drain them. */
  readonly workers: string;
  readonly workersStopped: readonly string[];
  readonly workersLeft: readonly string[];
  /** What its run left open: tasks, agents, branches, criteria. */
  readonly leftOpen: readonly string[];
}

export const stoppedHeadView = ({ agentId, ...stopped }: StoppedHead) => ({
  stopped: true,
  ...stopped,
  ...olderHeadStopKeys({ agentId }),
});

export const pausedAgentsView = ({ paused, alreadyPaused, running }: PauseReply) => ({
  paused,
  alreadyPaused,
  running,
});

/** Agents that were resumed. `until`, the time for which an agent still waits, is in milliseconds since 1970. */
export const resumedAgentsView = ({ resumed, unchanged, waiting, queued }: ResumeReply) => ({
  resumed,
  unchanged,
  waiting: waiting.map(({ name, reason, until, next }) => ({ name, reason, until, next })),
  queued,
});

export const releasedAgentsView = ({ agentName, alreadyReleased, released }: ReleaseReply) => ({
  agentName,
  alreadyReleased,
  released,
});

/** An agent that was opened in a terminal and handed back. */
export const attachedAgentView = (report: AttachReport) => ({
  agentName: report.agentName,
  generation: report.generation,
  reopened: report.reopened,
  interrupted: report.interrupted,
  exitCode: report.exitCode,
  signal: report.signal,
  ended: report.ended,
});

export const nudgeView = ({ agentName, delivered, queued, reason, messageId }: NudgeReply) => ({
  agentName,
  delivered,
  queued,
  reason,
  messageId,
});

/** Why a use of a tool was denied. */
export const explainedDenialView = ({ at, ...denial }: ExplainedDenial) => ({ ...denial, at: iso(at) });
