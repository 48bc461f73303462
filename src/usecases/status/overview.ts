import { type Agent, hasEnded, isSubmitted, newestPerName } from "../../domain/agent/agent.ts";
import { capabilities } from "../../domain/agent/capability.ts";
import { endedInTrouble } from "../../domain/agent/status.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import type { Message } from "../../domain/mail/types.ts";
import type { QueuePause } from "../../domain/merge/queue-pause.ts";
import { isReserved } from "../../domain/name/name.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import type { Run } from "../../domain/run/run.ts";
import { fields, flag, text } from "../../domain/schema/schema.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Wait } from "../../ports/store/agents.ts";
import type { Tx } from "../../ports/store.ts";
import { findAgent } from "../agents/find-agent.ts";
import { type FleetReading, readFleet } from "../agents/fleet-reading.ts";
import { landedNowhere } from "../agents/held-agents.ts";
import { waitsOf } from "../agents/parked.ts";
import type { LedRun } from "../agents/stop.ts";
import { type Unpromoted, unpromotedWork } from "../merge/landing/unpromoted.ts";
import { type BlockedMerge, mergeCounts } from "../merge/queue/queue-state.ts";
import { type OpenDecision, type OpenQuestion, openDecisions, openQuestions } from "../operator/decisions.ts";
import {
  agentsThatNeverStarted,
  goodStanding,
  type Standing,
  standingOf,
  troubledAgents,
  type UnhandedBranch,
  unhandedBranches,
} from "../operator/troubled-agents.ts";
import { type CriterionDetail, checklist, detailsOf } from "../runs/checklist.ts";
import { endedLeaderOf } from "../runs/read-runs.ts";
import { lastVerdictOf, type VerdictOnWhole } from "../runs/verdict-on-whole.ts";
import type { UseCase } from "../usecase.ts";

export interface AgentStanding extends Standing {
  readonly agent: Agent;
  readonly submitted: boolean;
  readonly unread: number;
  readonly waits: readonly Wait[];
  /** The questions among what it waits for, by the ids that the waits name. */
  readonly asked: ReadonlyMap<string, Pick<Message, "address" | "subject">>;
  readonly turns: number;
  /** It has commits that landed nowhere and are not on their way. */
  readonly landedNowhere: boolean;
  /** When its running turn began; null between turns. */
  readonly turnSince: number | null;
  /** The tool that runs; null while the model thinks, and between turns. */
  readonly doing: RunningTool | null;
}

export interface RunningTool {
  readonly tool: string;
  /** What the tool is used on, in one short line. */
  readonly summary: string | null;
  readonly since: number;
}

export interface Overview {
  readonly run: Run | null;
  /** The agent that led the current run and has ended, so that the run has no leader. */
  readonly endedLeader: LedRun | null;
  /** The checklist of the current run. */
  readonly criteria: readonly CriterionDetail[];
  /** The newest verdict on all that the current run has landed. */
  readonly lastReview: VerdictOnWhole | null;
  /** Other active runs, newest first. */
  readonly otherRuns: readonly OtherRun[];
  readonly agents: readonly AgentStanding[];
  readonly unreadMailCount: number;
  readonly unreadMailScope: string;
  /** Branches on their way into the landing branch. */
  readonly openMerges: number;
  /** Numbers of the merges that wait for the operator's word: the run needs a person. */
  readonly approvals: readonly number[];
  /** Numbers of the merges that did not land and have no successor. */
  readonly failedMerges: readonly number[];
  /** Merges that something outside is in the way of. */
  readonly blockedMerges: readonly BlockedMerge[];
  /** Why promotions and undos that were asked for have not worked yet. */
  readonly mergeTroubles: readonly string[];
  /** Null while the merge queue is not paused. */
  readonly mergePause: QueuePause | null;
  /** Landed work that waits for a promotion, of this run and of earlier ones. */
  readonly unpromoted: readonly Unpromoted[];
  /** Targets of runs that no longer exist as branches. */
  readonly missingTargets: readonly MissingTarget[];
  /** Work that was handed in, and that only the operator can hand over. */
  readonly unhanded: readonly UnhandedBranch[];
  /** Questions of agents that only the operator can answer. */
  readonly decisions: readonly OpenDecision[];
  /** Questions of agents to the operator that are not answered. */
  readonly questions: readonly OpenQuestion[];
  /** Turns and sessions in the ledger of costs. */
  readonly bookedTurns: number;
}

/** `runId`: the run that works for it; null where no run does. */
export interface MissingTarget {
  readonly target: string;
  readonly runId: string | null;
}

export interface OtherRun {
  readonly run: Run;
  /** Agents of the run that have not ended. */
  readonly liveAgents: number;
  /** What waits for the operator: approvals, decisions, questions, agents that need help and branches to hand over. */
  readonly waiting: number;
  /** The agent that led the run and has ended, so that the run has no leader. */
  readonly endedLeader: LedRun | null;
}

export interface OverviewRequest {
  /** Of all runs, ended agents included. */
  readonly all: boolean;
  /** The owner of the mailbox whose unread mail is counted. */
  readonly mailbox: string;
  /** The id of the run that is shown; without it, the current one. */
  readonly run?: string | undefined;
}

/** The agents and what each waits for. Derived on reading; nothing is stored by looking. */
export const overview: UseCase<OverviewRequest, Overview> = {
  kind: "read",
  request: fields({ all: flag, mailbox: text }, { run: text }),
  run: async (direct, context, { all, mailbox, run: runId }) => {
    const fleet = await readFleet(direct);
    const { tx } = fleet;
    const run = (runId === undefined ? await tx.runs.current() : await tx.runs.get(runId)) ?? null;
    if (run === null && runId !== undefined) return no(notFound("run", runId));
    const reader = isReserved(mailbox) || mailbox === "" ? undefined : await findAgent(tx, mailbox);
    if (reader?.ok === false && (await tx.deliveries.countQueued(mailbox)) === 0) return reader;
    const agents: AgentStanding[] = [];
    for (const agent of await shownAgents(fleet, run, all)) {
      const waits = agent.state === "booting" ? await waitsOf(tx, context.now, agent) : fleet.waitsOf(agent.name);
      const tally = fleet.turnsOf(agent.id);
      const turns = tally?.hasFailed === false ? [] : await tx.turns.listFor(agent.id);
      const turn = agent.state === "in_turn" ? await tx.turns.runningFor(agent.id) : undefined;
      agents.push({
        agent,
        submitted: isSubmitted(agent),
        unread: fleet.unreadOf(agent.name),
        waits,
        asked: waits.some(({ kind }) => kind === "reply") ? await askedIn(tx, waits) : nothingAsked,
        turns: tally?.turns ?? turns.length,
        ...(fleet.isPlainlyWell(agent) ? goodStanding : await standingOf(tx, agent, turns)),
        landedNowhere: agent.ahead > 0 && (await landedNowhere(tx, agent)),
        turnSince: turn?.startedAt ?? null,
        doing: turn === undefined ? null : await runningTool(tx, turn),
      });
    }
    const merges = await mergeCounts(tx, run === null || all ? {} : { runId: run.id });
    const decisions = await openDecisions(tx, run === null || all ? {} : { runId: run.id });
    const list = run === null ? { criteria: [], tasks: [] } : await checklist(tx, run);
    const lastReview = run === null ? null : await lastVerdictOf(tx, run);
    return ok({
      run,
      endedLeader: run === null ? null : await endedLeaderOf(tx, run),
      criteria: detailsOf(list.criteria, list.tasks, lastReview),
      lastReview,
      otherRuns: all ? [] : await otherRuns(tx, run),
      agents,
      unreadMailCount: await tx.deliveries.countQueued(mailbox),
      unreadMailScope: mailbox,
      openMerges: merges.pending.length,
      approvals: merges.approvals,
      failedMerges: merges.failed,
      blockedMerges: merges.blocked,
      mergeTroubles: merges.troubles,
      mergePause: merges.paused,
      unpromoted: await unpromotedWork(tx, context),
      missingTargets: [],
      unhanded: await unhandedBranches(
        tx,
        agents.map(({ agent }) => agent),
      ),
      decisions: decisions.filter(({ kind }) => kind === "decision"),
      questions: await openQuestions(tx, run === null || all ? {} : { runId: run.id }),
      bookedTurns: (await tx.spending.sums("capability", {}, capabilities.length)).reduce(
        (sum, { turns }) => sum + turns,
        0,
      ),
    });
  },
  finish: async (files, overview) => {
    const { run, otherRuns, unpromoted } = overview;
    const isMissing = (target: string): boolean => files.lacksBranch(target);
    // A branch that was deleted has nothing any more that could be taken out of it.
    const shown = unpromoted.filter(({ landings, target }) => landings > 0 || !isMissing(target));
    const active = [...(run === null ? [] : [run]), ...otherRuns.map((other) => other.run)];
    // Runs that land in the same place get another target together.
    const places = new Map<string, MissingTarget>();
    for (const { id: runId, targetBranch: target, landingBranch: landing } of active) {
      if (target !== null && !places.has(landing ?? target)) places.set(landing ?? target, { target, runId });
    }
    for (const { landing, target, runId } of shown) {
      if (!places.has(landing)) places.set(landing, { target, runId });
    }
    const missingTargets = [...places.values()].filter(({ target }) => isMissing(target));
    return ok({ ...overview, unpromoted: shown, missingTargets });
  },
};

/**
 * The agents of the current run that are not released yet. Without a current run, the agents of any run that live or
 * wait: a run that ended badly must not look as if nothing had happened.
 */
async function shownAgents({ tx, unreleased }: FleetReading, run: Run | null, all: boolean): Promise<readonly Agent[]> {
  if (all) return newestPerName(await tx.agents.list({}));
  const candidates = unreleased.filter(({ runId }) => run === null || runId === run.id);
  const shown = candidates.filter((agent) => !hasEnded(agent) || isSubmitted(agent) || endedInTrouble(agent));
  return [...shown, ...(await agentsThatNeverStarted(tx, (run ?? (await tx.runs.list(1))[0])?.id))];
}

/** A call is open while the output of the turn says nothing after it. Tokens are told with the call itself. */
async function runningTool(tx: Tx, turn: Turn): Promise<RunningTool | null> {
  const newest = (await tx.events.newestOfTurn(turn.id, 4)).find(({ type }) => type !== "usage");
  if (newest?.type !== "tool_start") return null;
  const { tool, summary } = payloadFields(newest.data);
  return {
    tool: typeof tool === "string" ? tool : "a tool",
    summary: typeof summary === "string" ? summary : null,
    since: newest.createdAt,
  };
}

/** More active runs than a person leads at the same time. */
const mostRuns = 20;

async function otherRuns(tx: Tx, current: Run | null): Promise<readonly OtherRun[]> {
  const found: OtherRun[] = [];
  for (const run of await tx.runs.list(mostRuns)) {
    if (run.status !== "active" || run.id === current?.id) continue;
    const of = { runId: run.id };
    const [approvals, decisions, questions] = [
      (await mergeCounts(tx, of)).approvals,
      (await openDecisions(tx, of)).filter(({ kind }) => kind === "decision"),
      await openQuestions(tx, of),
    ];
    const agents = await tx.agents.list({ unreleased: true, ...of });
    const troubled = await troubledAgents(tx, [...agents, ...(await agentsThatNeverStarted(tx, run.id))]);
    const unhanded = await unhandedBranches(tx, agents);
    const lists = [approvals, decisions, questions, troubled, unhanded];
    const waiting = lists.reduce((sum, list) => sum + list.length, 0);
    const liveAgents = agents.filter((agent) => !hasEnded(agent)).length;
    found.push({ run, liveAgents, waiting, endedLeader: await endedLeaderOf(tx, run) });
  }
  return found;
}

/** Most agents wait for no answer. */
const nothingAsked: AgentStanding["asked"] = new Map();

async function askedIn(tx: Tx, waits: readonly Wait[]): Promise<AgentStanding["asked"]> {
  const asked = new Map<string, Pick<Message, "address" | "subject">>();
  for (const { kind, ref } of waits) {
    const message = kind === "reply" ? await tx.messages.get(ref) : undefined;
    if (message !== undefined) asked.set(ref, message);
  }
  return asked;
}
