import { type Agent, hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import { endedInTrouble, raiseCommand } from "../../domain/agent/status.ts";
import { neverFinished } from "../../domain/completion/unfinished.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import { type FailureCause, isTransient } from "../../domain/turn/failure.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";
import { landedNowhere } from "../agents/held-agents.ts";
import { hasTurnsAhead, startsByItself } from "../agents/turns-ahead.ts";
import { headFlag } from "../coordinators/find.ts";
import { nearestLiveAncestor } from "../mail/hand-on.ts";
import { runFlagFor } from "../runs/read-runs.ts";
import { heirOf, openDecisions } from "./decisions.ts";

/** The trouble of an agent, by its last ended turn. */
export interface Trouble {
  /** Why its last turn failed; null when it did not. */
  readonly problem: string | null;
  /** What sort of failure that was, and what a person can do about it. */
  readonly failure: FailureCause | null;
  readonly advice: string | null;
  /** What the operator types first to help an agent that has not ended. */
  readonly command: string | null;
  /** When its next turn may start, for an agent that waits for that. */
  readonly nextTry: number | null;
}

function troubleOf(agent: Pick<Agent, "state">, turns: readonly Turn[]): Trouble {
  // While the agent works again, the failure of an earlier attempt is history, which `ov logs` has.
  if (turns.some(({ status }) => status === "running")) return untroubled;
  const last = turns.findLast(({ endedAt, status }) => endedAt !== null && status !== "cancelled");
  if (last?.status !== "failed") return untroubled;
  const { error: problem, failure } = last;
  // "Wait until it passes" is no advice for an ended agent.
  const advice = hasEnded(agent) && isTransient(failure) ? null : last.advice;
  const next = turns.find(({ status }) => status === "queued");
  const nextTry = next === undefined || next.notBefore === 0 ? null : next.notBefore;
  return { problem, failure, advice, command: null, nextTry };
}

const untroubled: Trouble = { problem: null, failure: null, advice: null, command: null, nextTry: null };

/** The budget that a parked agent waits for. Only the operator can raise it. */
async function usedUpBudget(tx: Tx, agent: Agent): Promise<string | undefined> {
  if (hasEnded(agent)) return undefined;
  return (await tx.waits.of(agent.name)).find(({ kind }) => kind === "budget")?.ref;
}

/** An agent that ended by a failure, which only the operator can take up or let go. */
export interface TroubledAgent extends Trouble {
  readonly agent: Agent;
  /** The last of its turns, which tells one trouble of an agent from its next. */
  readonly lastTurnId: string | null;
}

/** The trouble of an agent, and whether only the operator can help. */
export interface Standing extends Trouble {
  readonly needsOperator: boolean;
}

export const goodStanding: Standing = { ...untroubled, needsOperator: false };

/**
 * The operator has to help an agent that waits for a budget or stands still, and an agent that failed when its task was
 * not taken up and no agent above it will have another turn.
 */
export async function standingOf(tx: Tx, agent: Agent, turns: readonly Turn[]): Promise<Standing> {
  const budget = await usedUpBudget(tx, agent);
  if (budget !== undefined) {
    const command = raiseCommand(budget);
    return { ...untroubled, problem: "a budget is used up", advice: command, command, needsOperator: true };
  }
  const still = await stillnessOf(tx, agent);
  if (still !== undefined) return { ...untroubled, ...still, needsOperator: true };
  const end = await endOf(tx, agent);
  const trouble = end === undefined ? undefined : { ...untroubled, problem: end };
  return { ...(trouble ?? troubleOf(agent, turns)), needsOperator: await hasFailedUnnoticed(tx, agent) };
}

/** Why an agent ended that has no failed turn to tell it. */
async function endOf(tx: Tx, agent: Agent): Promise<string | undefined> {
  if (agent.outcome === "no_signal") return silenceOf(tx, agent);
  if (agent.outcome !== "start_failed") return undefined;
  const [event] = await tx.events.newest({ agents: [agent.name], types: ["start_failed"] }, 1);
  const problem = event === undefined ? undefined : payloadFields(event.data).problem;
  return typeof problem === "string" ? problem : undefined;
}

/** Why an agent that ended without a report counts as unfinished, and the work it leaves. */
async function silenceOf(tx: Tx, agent: Agent): Promise<string> {
  const why = neverFinished({ agent, asked: await tx.checks.completionsOf(agent.id) });
  const { branch, ahead, dirty } = agent;
  const commits = ahead === 0 ? "no commit" : ahead === 1 ? "1 commit" : `${ahead} commits`;
  const on = branch === null ? "" : `; it leaves ${commits} on ${branch}${dirty ? " and uncommitted changes" : ""}`;
  return `${why}${on}`;
}

async function hasFailedUnnoticed(tx: Tx, agent: Agent): Promise<boolean> {
  const hasFailed = agent.outcome === "start_failed" || endedInTrouble(agent);
  if (!hasFailed || (await isTakenUp(tx, agent))) return false;
  return !(await isWokenAgain(tx, await nearestLiveAncestor(tx, agent.parentName)));
}

export interface Stillness {
  readonly problem: string;
  readonly advice: string;
  readonly command: string;
}

/**
 * Why a live agent stands still, and how the operator can help: no running work will give it a turn. Of an agent and
 * the child it waits for, only the child is named.
 */
export async function stillnessOf(tx: Tx, agent: Agent): Promise<Stillness | undefined> {
  if (hasEnded(agent) || (await isWokenAgain(tx, agent.name))) return undefined;
  const waits = await tx.waits.of(agent.name);
  const asked = waits.find(({ kind }) => kind === "reply")?.ref;
  if (asked !== undefined) {
    // The agent above it was told of such waits, or sees them in its turn. What that turn leaves is the operator's.
    if (await startsByItself(tx, await nearestLiveAncestor(tx, agent.parentName))) return undefined;
    const names = await askedBy(tx, asked);
    const who = names.join(", ");
    const answer = `ov mail reply ${asked} --body "<answer>"`;
    return {
      problem: `it stands still: it waits for an answer of ${who === "" ? "nobody" : who}, and nothing will wake ${who === "" ? "anybody" : who}`,
      advice: `answer it yourself: ${answer}`,
      command: answer,
    };
  }
  if (waits.length > 0 || agent.capability !== "coordinator") return undefined;
  const run = await tx.runs.get(agent.runId);
  if (run?.status !== "active" || run.objective === null) return undefined;
  // The answer to a decision of an agent that finished goes to the coordinator, and wakes it.
  for (const { from } of await openDecisions(tx, { runId: run.id })) {
    if ((await heirOf(tx, { fromAgent: from, runId: run.id })) === agent.name) return undefined;
  }
  const [head, which] = [await headFlag(tx, agent), await runFlagFor(tx, "operator", run.id)];
  const command = `ov coordinator check-complete${head}`;
  return {
    command,
    problem: "it stands still: its run is not complete, it ended its turn, and nothing will wake it",
    advice: `see what is open: ${command}; tell it what to do: ov coordinator send --body "<what>"${head}; or end the run: ov run complete${which}`,
  };
}

/** The names that a question went to. */
async function askedBy(tx: Tx, messageId: string): Promise<readonly string[]> {
  const message = await tx.messages.get(messageId);
  if (message === undefined) return [];
  return (await tx.deliveries.ofMessage(message.seq)).map(({ toAgent }) => toAgent);
}

async function isTakenUp(tx: Tx, { name, taskId }: Agent): Promise<boolean> {
  const task = taskId === null ? undefined : await tx.tasks.get(taskId);
  if (task === undefined) return false;
  return task.status === "closed" || (task.claimedBy !== null && task.claimedBy !== name);
}

/** Whether this agent will have another turn, also by a branch of its run that is landing. */
export async function isWokenAgain(tx: Tx, name: string): Promise<boolean> {
  const agent = await tx.agents.byName(name);
  if (agent === undefined) return false;
  if (await hasTurnsAhead(tx, name)) return true;
  return (await tx.merges.list({ runId: agent.runId, statuses: openMergeStatuses, limit: 1 })).length > 0;
}

/** Those of these agents that wait for the operator, each with its cause. */
export async function troubledAgents(tx: Tx, agents: readonly Agent[]): Promise<readonly TroubledAgent[]> {
  const found: TroubledAgent[] = [];
  for (const agent of agents) {
    const turns = await tx.turns.listFor(agent.id);
    const { needsOperator, ...trouble } = await standingOf(tx, agent, turns);
    if (needsOperator) found.push({ agent, ...trouble, lastTurnId: turns.at(-1)?.id ?? null });
  }
  return found;
}

/** Work that an agent handed in and that is not in the merge queue. */
export interface UnhandedBranch {
  readonly agentName: string;
  readonly branch: string;
}

/** Those of these agents whose branch only the operator can hand over: no agent above them will have another turn. */
export async function unhandedBranches(tx: Tx, agents: readonly Agent[]): Promise<readonly UnhandedBranch[]> {
  const found: UnhandedBranch[] = [];
  for (const agent of agents) {
    const { name, branch, headCommit, outcome } = agent;
    // A stopped agent, for example, has handed in nothing.
    if (branch === null || outcome !== "done" || !isSubmitted(agent) || !(await landedNowhere(tx, agent))) continue;
    // A commit that was queued, even if it was sent back or cancelled, has been handed over, and is reported as such.
    if ((await tx.merges.list({ branch })).some((entry) => entry.headCommit === headCommit)) continue;
    if (await isWokenAgain(tx, await nearestLiveAncestor(tx, agent.parentName))) continue;
    found.push({ agentName: name, branch });
  }
  return found;
}

/** An agent that never started is released at once. It is shown until another agent takes up its task. */
export async function agentsThatNeverStarted(tx: Tx, runId: string | undefined): Promise<readonly Agent[]> {
  if (runId === undefined) return [];
  const found: Agent[] = [];
  for (const agent of await tx.agents.list({ runId, outcome: "start_failed" })) {
    const newest = await tx.agents.byName(agent.name);
    const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
    if (newest?.id === agent.id && (task === undefined || task.status === "open")) found.push(agent);
  }
  return found;
}
