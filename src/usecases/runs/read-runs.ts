import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { RunChange } from "../../domain/run/change.ts";
import type { Run, RunStatus } from "../../domain/run/run.ts";
import { agentDuration, runDuration, runFlag } from "../../domain/run/run.ts";
import { fields, noFields, text, whole } from "../../domain/schema/schema.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";
import type { LedRun } from "../agents/stop.ts";
import { type MergeCounts, mergeCounts } from "../merge/queue/queue-state.ts";
import { openDecisions } from "../operator/decisions.ts";
import type { UseCase } from "../usecase.ts";
import { type CriterionDetail, checklist, detailsOf } from "./checklist.ts";
import { lastVerdictOf, type VerdictOnWhole } from "./verdict-on-whole.ts";

export interface RunAgent {
  readonly agent: Agent;
  readonly durationMs: number;
  /** Those that have begun, oldest first. */
  readonly turns: readonly Pick<Turn, "id" | "status" | "startedAt" | "endedAt">[];
}

/** Newest first. */
export const listRuns: UseCase<{ readonly last: number }, { readonly runs: readonly RunDetail[] }> = {
  kind: "read",
  request: fields({ last: whole }),
  run: async (tx, { now }, { last }) => {
    if (!Number.isInteger(last) || last < 1) {
      return no(invalid("last", "must be a whole number of 1 or more", { value: String(last) }));
    }
    const runs: RunDetail[] = [];
    for (const run of await tx.runs.list(last)) runs.push(await runDetail(tx, run, now));
    return ok({ runs });
  },
};

export interface ShowRunRequest {
  /** Default: the current run, else the newest. */
  readonly id?: string | undefined;
}

export const showRun: UseCase<ShowRunRequest, RunDetail & { readonly agents: readonly RunAgent[] }> = {
  kind: "read",
  request: fields({}, { id: text }),
  run: async (tx, { caller, now }, { id }) => {
    const found = await findRun(tx, caller, id);
    if (!found.ok) return found;
    const run = found.value;
    const agents = await tx.agents.list({ runId: run.id });
    const timed: RunAgent[] = [];
    for (const agent of agents) {
      const turns = (await tx.turns.listFor(agent.id)).filter(({ startedAt }) => startedAt !== null);
      timed.push({ agent, durationMs: agentDuration(agent, now), turns });
    }
    return ok({ ...(await runDetail(tx, run, now)), agents: timed });
  },
};

/** The run of this id; without one, the current run, else the newest. */
export async function findRun(tx: Tx, caller: Caller, id: string | undefined): Promise<Result<Run, Refusal>> {
  if (id === undefined) {
    const run = (await currentRun(tx, caller)) ?? (await tx.runs.list(1))[0];
    return run === undefined ? no({ kind: "no-current-run" }) : ok(run);
  }
  const run = await tx.runs.get(id);
  if (run !== undefined) return ok(run);
  const known = (await tx.runs.list(suggestable)).map((other) => other.id);
  return no(notFound("run", id, nearest(id, known)));
}

/** The run of the calling agent, or for a person the newest active one; null when there is none. */
export const showCurrentRun: UseCase<object, { readonly current: RunDetail | null }> = {
  kind: "read",
  request: noFields,
  run: async (tx, { caller, now }) => {
    const run = await currentRun(tx, caller);
    return ok({ current: run === undefined ? null : await runDetail(tx, run, now) });
  },
};

/** Older runs are no likely slip of the finger. */
const suggestable = 100;

export interface RunDetail {
  readonly run: Run;
  /** Distinct names, the coordinator included; a reopened agent counts once. */
  readonly agentCount: number;
  /** The newest incarnation of its coordinator. */
  readonly coordinatorId: string | null;
  readonly durationMs: number;
  /** `needs operator`: it is active, and a branch or an agent of it waits for a person's word. */
  readonly status: RunStatus | "needs operator";
  /** Numbers of the merges that wait for approval. */
  readonly approvals: readonly number[];
  readonly merges: MergeCounts;
  readonly criteria: readonly CriterionDetail[];
  /** Changes of its objective and checklist, oldest first. */
  readonly changes: readonly RunChange[];
  /** The newest verdict on the whole of it. */
  readonly lastReview: VerdictOnWhole | null;
  /** Its open ends when it was ended, a sentence each. */
  readonly leftOpen: readonly string[];
}

export async function runDetail(tx: Tx, run: Run, now: number): Promise<RunDetail> {
  const detail = describe(run, await tx.agents.list({ runId: run.id }), await mergeCounts(tx, { runId: run.id }), now);
  const { criteria, tasks } = await checklist(tx, run);
  const changes = await tx.runs.changes(run.id);
  const lastReview = await lastVerdictOf(tx, run);
  return {
    ...detail,
    status: await statusOf(tx, detail),
    criteria: detailsOf(criteria, tasks, lastReview),
    changes,
    lastReview,
    leftOpen: await tx.runs.leftOpen(run.id),
  };
}

/** The status with the questions of its agents taken into account. */
async function statusOf(tx: Tx, { run, status }: Pick<RunDetail, "run" | "status">): Promise<RunDetail["status"]> {
  if (status !== "active") return status;
  return (await openDecisions(tx, { runId: run.id })).length > 0 ? "needs operator" : status;
}

function describe(
  run: Run,
  agents: readonly Agent[],
  merges: MergeCounts,
  now: number,
): Omit<RunDetail, "criteria" | "changes" | "lastReview" | "leftOpen"> {
  const { approvals } = merges;
  const coordinators = agents.filter((agent) => agent.name === run.coordinatorName);
  const newest = coordinators.sort((a, b) => b.generation - a.generation)[0];
  return {
    run,
    agentCount: new Set(agents.map((agent) => agent.name)).size,
    coordinatorId: newest?.id ?? null,
    durationMs: runDuration(run, now),
    status: run.status === "active" && approvals.length > 0 ? "needs operator" : run.status,
    approvals,
    merges,
  };
}

/** An agent's own run, even when a newer one is active; otherwise the newest active run. */
export const currentRun = (tx: Tx, caller: Caller): Promise<Run | undefined> =>
  caller.kind === "agent" ? tx.runs.get(caller.runId) : tx.runs.current();

/**
 * The flag by which a command that is printed for this reader names this run; empty where the command takes the run by
 * itself. Commands in stored mail always name their run, because another run may be the current one by then.
 */
export async function runFlagFor(tx: Tx, reader: string, runId: string): Promise<string> {
  const agent = reader === "operator" ? undefined : await tx.agents.byName(reader);
  const taken = agent === undefined ? (await tx.runs.current())?.id : agent.runId;
  return runFlag(taken === runId ? null : runId);
}

/** The agent that led the run and has ended, so that the run has no leader; null while it lives, or none led it. */
export async function endedLeaderOf(tx: Tx, { id: runId, coordinatorName }: Run): Promise<LedRun | null> {
  const leader = coordinatorName === null ? undefined : await tx.agents.byName(coordinatorName);
  if (leader === undefined || leader.runId !== runId || !hasEnded(leader)) return null;
  return { runId, coordinatorName: leader.name, capability: leader.capability };
}
