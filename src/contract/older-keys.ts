import type { Agent } from "../domain/agent/agent.ts";
import type { TokenCounts } from "../domain/budget/usage.ts";
import type { DoctorCheck } from "../domain/consistency/check.ts";
import type { Event } from "../domain/event/event.ts";
import { payloadFields } from "../domain/mail/payload.ts";
import type { MergeEntry } from "../domain/merge/entry.ts";
import type { GroupProgress } from "../domain/task/group.ts";
import type { CleanTarget } from "../domain/worktree/classify.ts";
import type { Inspection } from "../usecases/agents/inspect.ts";
import type { AgentStopped } from "../usecases/agents/stop.ts";
import type { HeadStanding } from "../usecases/coordinators/status.ts";
import type { Companion, Versions } from "../usecases/doctor/versions.ts";
import type { ShownStatus } from "../usecases/status/show.ts";
import type { CleanWorktreesReport } from "../usecases/worktrees/clean-worktrees.ts";
import type { CleanReport } from "../usecases/worktrees/run-clean.ts";
import { iso } from "./values.ts";

/**
 * The keys of Overstory 0.11 that have another name today, or no meaning any more. Scripts still read them, so each view
 * spreads its own ones from here. A view never spells such a key itself: a key that is not in this file is one of ours.
 */

/** Of an agent that has just been reserved. 0.11 ran agents in tmux and knew one process of each. */
export const olderSeatKeys: { readonly tmuxSession: string; readonly pid: number | null } = {
  tmuxSession: "",
  pid: null,
};

export const olderAgentKeys = (agent: Agent) => ({
  agentName: agent.name,
  branchName: agent.branch,
  parentAgent: agent.parentName,
  fileScope: agent.scope,
  sessionId: agent.id,
  claudeSessionId: agent.providerSessionId,
  tmuxSession: olderSeatKeys.tmuxSession,
  pid: olderSeatKeys.pid,
});

/** 0.11 had columns for the tool of an event, and gave its data as the text that was stored. */
export function olderEventKeys({ seq, agentId, type, data, createdAt }: Event) {
  const { tool, input, durationMs } = payloadFields(data);
  return {
    id: seq,
    sessionId: agentId,
    eventType: type,
    toolName: typeof tool === "string" ? tool : null,
    toolArgs: input === undefined ? null : JSON.stringify(input),
    toolDurationMs: typeof durationMs === "number" ? durationMs : null,
    createdAt: iso(createdAt),
  };
}

/** A line of the log was an entry with a time, a level and the name of an event. */
export const olderLogKeys = ({ at, type }: { readonly at: number; readonly type: string }) => ({
  timestamp: iso(at),
  event: type,
});

/** What `ov inspect` said of an agent. No agent of ours runs in tmux. */
export function olderInspectKeys<Session>(seen: Inspection, session: Session) {
  const { agent, calls, tools, tokens, turns, costMicros, now } = seen;
  const last = turns.at(-1);
  return {
    session,
    timeSinceLastActivity: Math.max(0, now - agent.lastActivityAt),
    recentToolCalls: calls.map(({ tool, summary, durationMs, at }) => ({
      toolName: tool,
      args: summary,
      durationMs,
      timestamp: iso(at),
    })),
    currentFile: seen.currentFile,
    toolStats: tools.map(({ tool, count, averageMs, longestMs }) => ({
      toolName: tool,
      count,
      avgDurationMs: averageMs,
      maxDurationMs: longestMs,
    })),
    tokenUsage: {
      inputTokens: tokens.input,
      outputTokens: tokens.output,
      cacheReadTokens: tokens.cacheRead,
      cacheCreationTokens: tokens.cacheWrite,
      estimatedCostUsd: costMicros === null ? null : costMicros / 1_000_000,
      modelUsed: tokens.model ?? agent.model,
    },
    tmuxOutput: null,
    headlessTurnInfo:
      last === undefined ? null : { turn: seen.turnCount, running: last.turn.endedAt === null, model: tokens.model },
  };
}

/** The lines of a log were its entries. */
export const olderLogListKeys = <Line>(lines: readonly Line[]) => ({ entries: lines });

/** Of an agent whose first turn, or whose end, was waited for. */
export const olderWaitedKeys = ({ state, providerSessionId }: Pick<Agent, "state" | "providerSessionId">) => ({
  initialTurnFinalState: state,
  claudeSessionId: providerSessionId,
});

/** Of a coordinator that has just been started. The engine is what 0.11 called the watchdog. */
export const olderStartKeys = ({ agentId }: { readonly agentId: string }) => ({
  ...olderSeatKeys,
  watchdog: true,
  headless: true,
  sessionId: agentId,
});

/** Of a coordinator that was stopped. The engine is never stopped with it. */
export const olderHeadStopKeys = ({ agentId }: { readonly agentId: string }) => ({
  sessionId: agentId,
  watchdogStopped: false,
});

/** The state of the coordinator over HTTP; null: none is alive. No agent of ours has a terminal. */
export const olderHeadStateKeys = (head: HeadStanding | null) => ({
  agentName: head?.agent.name ?? null,
  pid: head?.pid ?? null,
  tmuxSession: null,
  runId: head?.agent.runId ?? null,
  startedAt: head === null ? null : iso(head.agent.startedAt),
  lastActivityAt: head === null ? null : iso(head.agent.lastActivityAt),
  headless: head !== null,
});

/** The id of a message that was sent; null where nobody was to get it. */
export const olderSentKeys = ({ id }: { readonly id: string | null }) => ({ messageId: id });

export const olderStopKeys = ({ sessionId, killed }: AgentStopped) => ({
  sessionId,
  tmuxKilled: false,
  pidKilled: killed.length > 0,
});

export const olderRunKeys = ({ coordinatorId }: { readonly coordinatorId: string | null }) => ({
  coordinatorSessionId: coordinatorId,
});

/**
 * 0.11 listed worktrees and tmux sessions beside the agents, and nested what --verbose adds under the names of agents.
 * It knew sessions where we know turns.
 */
export const olderStatusKeys = (
  agents: readonly Agent[],
  { bookedTurns, details }: { readonly bookedTurns: number; readonly details?: ShownStatus["details"] },
) => ({
  worktrees: agents.flatMap(({ worktreePath: path, branch, headCommit }) =>
    path === null ? [] : [{ path, branch, head: headCommit }],
  ),
  tmuxSessions: [] as const,
  recentMetricsCount: bookedTurns,
  ...(details == null ? {} : { verboseDetails: olderDetails(agents, details) }),
});

const olderDetails = (agents: readonly Agent[], details: NonNullable<ShownStatus["details"]>) =>
  Object.fromEntries(
    agents.map(({ name, worktreePath, capability }) => {
      const { logsDir = null, sentAt = null, receivedAt = null } = details.get(name) ?? {};
      return [
        name,
        { worktreePath, logsDir, lastMailSent: iso(sentAt), lastMailReceived: iso(receivedAt), capability },
      ];
    }),
  );

export const olderGroupKeys = (memberIds: readonly string[]) => ({ memberIssueIds: memberIds });

/** 0.11 put the counts beside the group. */
export const olderProgressKeys = (progress: GroupProgress) => ({ ...progress });

export const olderBranchKeys = (branch: string) => ({ branchName: branch });

export const olderEntryKeys = ({ branch, tier }: Pick<MergeEntry, "branch" | "tier">) => ({
  ...olderBranchKeys(branch),
  resolvedTier: tier,
});

/** 0.11 named branches only, and cleaned mail and tasks together with the worktrees. */
export const olderWorktreeCleanKeys = ({ removed, failed, kept }: CleanWorktreesReport) => ({
  cleaned: removed.map(({ branch }) => branch),
  failed: failed.map(({ branch }) => branch),
  skipped: kept.filter((one) => one.class !== "held").map(({ branch }) => branch),
  blockedByChildren: kept.filter((one) => one.class === "held").map(({ branch }) => branch),
  mailPurged: 0,
  seedsPreserved: [] as readonly string[],
});

/** What `ov clean` did, in counts and yes or no. Without a report: nothing. */
export function olderCleanKeys(report: CleanReport | undefined) {
  const cleared = (target: CleanTarget): boolean => report?.dirs.some((dir) => dir.target === target) ?? false;
  return {
    worktreesCleaned: report?.worktrees.filter((one) => one.removed).length ?? 0,
    branchesDeleted: report?.branchesDeleted.length ?? 0,
    mailWiped: (report?.messages ?? 0) > 0,
    sessionsCleared: (report?.released.length ?? 0) > 0,
    metricsWiped: (report?.usage ?? 0) > 0,
    logsCleared: cleared("logs"),
    agentsCleared: cleared("agents"),
    specsCleared: cleared("specs"),
    trashCleared: cleared("trash"),
    currentRunCleared: (report?.runs.length ?? 0) > 0,
  };
}

export const olderCheckKeys = ({ steps }: Pick<DoctorCheck, "steps">) => ({ fixable: steps.length > 0 });

/** 0.11 asked a registry for the newest version. This program asks no registry. */
const notAsked = { latest: null, latestError: "ov asks no registry" } as const;

export const olderUpgradeKeys = ({ program, engine, database, newest }: Versions) => ({
  current: program,
  ...notAsked,
  upToDate: (engine === null || engine === program) && (database === null || database === newest),
});

/** 0.11 knew each tool by its package too. */
export const olderCompanionKeys = ({ name }: Pick<Companion, "name">) => ({ npm: name, ...notAsked });
/** What tokens and dollars are called in the documents of `ov costs` and `ov metrics`. */
export const olderCostKeys = ({ tokens, costUsd, model }: OlderCost) => ({
  inputTokens: tokens?.input ?? null,
  outputTokens: tokens?.output ?? null,
  cacheReadTokens: tokens?.cacheRead ?? null,
  cacheCreationTokens: tokens?.cacheWrite ?? null,
  estimatedCostUsd: costUsd,
  modelUsed: model,
});

interface OlderCost {
  readonly tokens: TokenCounts | null;
  readonly costUsd: number | null;
  readonly model: string | null;
}

/** 0.11 added the tokens up that were read from a cache and those that were written to it. */
export const olderTotalKeys = ({ tokens }: Pick<OlderCost, "tokens">) => ({
  inputTokens: tokens?.input ?? null,
  outputTokens: tokens?.output ?? null,
  cacheTokens: tokens === null ? null : tokens.cacheRead + tokens.cacheWrite,
});

export const olderMetricKeys = ({ mergeTier }: { readonly mergeTier: string | null }) => ({ mergeResult: mergeTier });

/** Of a live agent: 0.11 looked at the conversation now and then. */
export const olderLiveKeys = ({
  knownAt,
  startedAt,
}: {
  readonly knownAt: string | null;
  readonly startedAt: string;
}) => ({
  snapshotAt: knownAt,
  sessionStartedAt: startedAt,
});

export const olderRateKeys = ({ usdPerMinute, tokensPerMinute }: OlderRates) => ({
  burnRatePerMin: usdPerMinute,
  tokensPerMin: tokensPerMinute,
});

interface OlderRates {
  readonly usdPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

/** Of `ov costs --by-capability`. */
export const olderGroupedKeys = <Totals>(
  groups: readonly { readonly key: string; readonly turns: number; readonly totals: Totals }[],
) => ({ grouped: Object.fromEntries(groups.map(({ key, turns, totals }) => [key, { sessions: turns, totals }])) });
