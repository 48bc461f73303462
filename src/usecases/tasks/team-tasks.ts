import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { canonical } from "../../domain/agent/capability.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, type Result } from "../../domain/result.ts";
import { isLastReviewer } from "../../domain/run/run.ts";
import { actionWords, forbidden, type TaskAction } from "../../domain/task/rights.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { isBelow } from "../agents/find-agent.ts";
import { findTask } from "./task-detail.ts";

/**
 * A task to which the caller may do this. An agent leaves the tasks of another run alone while that run is active, and a lead
 * those on which agents work that are not below it.
 */
export async function findTaskFor(
  tx: Tx,
  caller: Caller,
  action: TaskAction,
  id: string,
): Promise<Result<Task, Refusal>> {
  const found = await findTask(tx, id);
  if (!found.ok) return found;
  const why = caller.kind === "agent" ? await whyNotItsTask(tx, caller, action, found.value) : undefined;
  const denied = { kind: "not-allowed", action: actionWords(action, id), caller: caller.name } as const;
  const refused = forbidden(caller, action, found.value) ?? (why === undefined ? undefined : { ...denied, why });
  return refused === undefined ? found : no(refused);
}

/** Why the agent may not do this to the task, by who works on it; undefined when it may. */
async function whyNotItsTask(tx: Tx, caller: AgentCaller, action: TaskAction, task: Task): Promise<string | undefined> {
  // What a task waits for, and who claims it, is arranged within the team.
  const isArranging = action === "change" || action === "claim";
  if (isArranging || canonical(caller.capability) !== "lead") return notOfItsTeam(tx, caller, task);
  return whyOfOthers(tx, caller, task, whoGaveIt);
}

/** Why the task is not one of the agent's team; undefined when it may be. */
async function notOfItsTeam(tx: Tx, caller: AgentCaller, { id, runId }: Task): Promise<string | undefined> {
  if (caller.taskId === id) return undefined;
  const run = await tx.runs.get(runId ?? "");
  if (run === undefined) return heldElsewhere(tx, caller, id);
  if (run.id !== caller.runId) {
    return run.status === "active" ? `it belongs to ${run.id}, which another team works for` : undefined;
  }
  const holders = await tx.agents.list({ taskId: id });
  if (!holders.some((agent) => isLastReviewer(run, agent))) return undefined;
  return "it is the reading of the whole run, and nobody whose work is read has a say in it";
}

/** A task that belongs to no run is of the team whose agent works on it. */
async function heldElsewhere(
  tx: Tx,
  { runId }: Extract<Caller, { kind: "agent" }>,
  id: string,
): Promise<string | undefined> {
  const holders = newestPerName(await tx.agents.list({ taskId: id }));
  const other = holders.find((agent) => agent.runId !== runId && !hasEnded(agent) && agent.releasedAt === null);
  return other === undefined ? undefined : `${other.name}, which works on it, belongs to ${other.runId}`;
}

/**
 * Why an agent may not sling on this task: the task is of another team, or an agent works on it that is not below the
 * caller. A reviewer may not be slung either, because its verdict would send that agent back.
 */
export const whyForeign = (tx: Tx, caller: AgentCaller, task: Task): Promise<string | undefined> =>
  whyOfOthers(tx, caller, task, ({ name }) => `only the operator lets it go: ov release ${name}`);

/** Why an agent may not write the spec of this task; undefined when it may. What others work by is not its to change. */
export const whyNotToSpecify = (tx: Tx, caller: AgentCaller, task: Task): Promise<string | undefined> =>
  whyOfOthers(tx, caller, task, whoGaveIt);

function whoGaveIt({ name, parentName }: Agent): string {
  const whom = parentName === "operator" ? "the operator" : parentName;
  return `tell ${whom}, who gave ${name} the task`;
}

type AgentCaller = Extract<Caller, { kind: "agent" }>;

/** Why a task is not the caller's: it is of another team, or an agent works on it that is not below the caller. */
async function whyOfOthers(
  tx: Tx,
  caller: AgentCaller,
  task: Task,
  wayOut: (worker: Agent) => string,
): Promise<string | undefined> {
  const why = await notOfItsTeam(tx, caller, task);
  if (why !== undefined) return why;
  const worker = await workerOfOthers(tx, caller, task);
  if (worker === undefined) return undefined;
  return `${worker.name}, which works on it, is not below it; ${wayOut(worker)}`;
}

/** An agent that works on the task and is neither the caller nor below it. */
async function workerOfOthers(tx: Tx, caller: AgentCaller, { id }: Task): Promise<Agent | undefined> {
  if (caller.taskId === id) return undefined;
  for (const agent of newestPerName(await tx.agents.list({ taskId: id }))) {
    const isGone = agent.releasedAt !== null || (hasEnded(agent) && agent.outcome !== "done");
    if (!isGone && !(await isBelow(tx, agent, caller.name)) && !(await isInherited(tx, agent, caller))) return agent;
  }
  return undefined;
}

/** Its parent has ended, and the caller has that one's task now. */
async function isInherited(
  tx: Tx,
  { parentName }: Agent,
  { taskId }: Extract<Caller, { kind: "agent" }>,
): Promise<boolean> {
  const parent = await tx.agents.byName(parentName);
  return parent !== undefined && hasEnded(parent) && taskId !== null && parent.taskId === taskId;
}
