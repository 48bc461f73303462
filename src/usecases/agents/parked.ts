import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { raiseCommand, statusOf, waitWords } from "../../domain/agent/status.ts";
import { isAttachHold } from "../../domain/agent/wait.ts";
import { type MergeEntry, mergeRef } from "../../domain/merge/entry.ts";
import type { Wait } from "../../ports/store/agents.ts";
import type { Tx } from "../../ports/store.ts";
import { takeInUnderWay } from "../merge/landing/landing-target.ts";
import type { Context } from "../usecase.ts";

/** What keeps an agent from its next turn. */
export interface Parked {
  readonly reason: string;
  readonly until: number | null;
  /** What the caller can type to end it; null when there is nothing to do but wait. */
  readonly next: string | null;
}

type Looking = Pick<Context, "caller" | "now">;

/** Null for an agent whose mail starts a turn. A retry keeps its time; new mail does not change it. */
export async function parkedOf(tx: Tx, { caller, now }: Looking, agent: Agent): Promise<Parked | null> {
  const { name } = agent;
  const isOperator = caller.kind !== "agent";
  if (agent.stopRequestedBy !== null) return { reason: "it is being stopped", until: null, next: null };
  const waits = await tx.waits.of(name);
  const pauses = waits.filter(({ kind }) => kind === "operator");
  if (pauses.some(isAttachHold)) return { reason: "somebody is attached to it", until: null, next: null };
  if (pauses.length > 0) {
    const mayLift = isOperator || pauses.some(({ ref }) => ref === caller.name);
    const by = pauses.map(({ ref }) => ref).join(", ");
    return { reason: `it is paused by ${by}`, until: null, next: mayLift ? `ov resume ${name}` : null };
  }
  const budget = waits.find(({ kind }) => kind === "budget");
  if (budget !== undefined) {
    const next = isOperator ? raiseCommand(budget.ref) : null;
    return { reason: `its budget ${budget.ref} is used up`, until: budget.deadline, next };
  }
  const queued = await tx.turns.queuedFor(agent.id);
  if (queued === undefined || queued.trigger !== "retry" || queued.notBefore <= now) return null;
  if (waits.some(({ kind }) => kind === "rate_limit"))
    return { reason: "its provider takes no requests", until: queued.notBefore, next: null };
  // The operator's nudge makes the retry due at once; an agent's does not.
  const next = isOperator ? `ov nudge ${name}` : null;
  return { reason: "it pauses after a failed turn", until: queued.notBefore, next };
}

/** The same for an agent without a pause: it also names a running turn, or what the agent waits for. */
export async function waitingFor(tx: Tx, looking: Looking, agent: Agent): Promise<Parked> {
  const { name } = agent;
  const just = (reason: string, next: string | null = null): Parked => ({ reason, until: null, next });
  if (hasEnded(agent)) return just(`it has ended (${statusOf(agent).words})`, `ov recover ${name}`);
  const parked = await parkedOf(tx, looking, agent);
  if (parked !== null) return parked;
  if ((await tx.turns.runningFor(agent.id)) !== undefined) return just("a turn of it is running");
  if (agent.worktreePath === null) return just(await unseatedWords(tx, looking.now, agent));
  if ((await tx.turns.queuedFor(agent.id)) !== undefined) return just("its next turn is about to start");
  const waits = await tx.waits.of(name);
  if (waits.length > 0) return just(`it waits for ${waits.map(waitWords).join(", ")}`);
  return just("it waits for mail", `ov nudge ${name}`);
}

/** What an agent waits for: the rows of its name, and before it has a worktree, the merge that its start waits for. */
export async function waitsOf(tx: Tx, now: number, agent: Agent): Promise<readonly Wait[]> {
  const waits = await tx.waits.of(agent.name);
  const entry = await startsAfter(tx, now, agent);
  if (entry === undefined) return waits;
  const start = { agentName: agent.name, kind: "merge", ref: mergeRef(entry.id), deadline: null } as const;
  return [...waits, { ...start, since: agent.startedAt }];
}

/** Why an agent without a worktree does not work yet. */
export async function unseatedWords(tx: Tx, now: number, agent: Agent): Promise<string> {
  const entry = await startsAfter(tx, now, agent);
  if (entry === undefined) return "its worktree is being prepared";
  return `it starts when merge ${entry.id} has brought the newest commits of ${entry.branch} to ${entry.targetBranch}`;
}

/** The merge of the target's own commits that a new agent waits for before it starts; the engine bounds that wait. */
async function startsAfter(tx: Tx, now: number, agent: Agent): Promise<MergeEntry | undefined> {
  const { state, worktreePath, worktreeKind, baseRef, runId } = agent;
  if (state !== "booting" || worktreePath !== null || worktreeKind === "root" || baseRef !== null) return undefined;
  const landing = (await tx.runs.get(runId))?.landingBranch ?? null;
  return landing === null ? undefined : takeInUnderWay(tx, landing, now);
}
