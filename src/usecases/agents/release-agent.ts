import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import { giveUpTask, isDropped, returnTask, unholdTask } from "../../domain/task/change.ts";
import type { Tx } from "../../ports/store.ts";
import { type EventOwner, record } from "../events/record.ts";
import { keepGoing } from "../runs/keep-going.ts";
import type { Context, UseCase } from "../usecase.ts";
import { holds, landedNowhere } from "./held-agents.ts";

type ReleaseContext = Pick<Context, "now" | "ids">;

export interface ReleaseReply {
  readonly agentName: string;
  readonly alreadyReleased: boolean;
  readonly released: readonly string[];
}

/** Lets an ended agent go: its branch stays, its worktree is kept as a snapshot and taken away by the engine. */
export const releaseAgentCommand: UseCase<
  { readonly name: string; readonly reason?: string | undefined },
  ReleaseReply
> = {
  kind: "write",
  request: fields({ name: text }, { reason: text }),
  run: async (tx, context, { name, reason = "" }) => {
    const { caller } = context;
    const agent = await tx.agents.byName(name);
    if (agent === undefined) return no(notFound("agent", name, nearest(name, await tx.agents.names())));
    if (caller.kind === "agent" && caller.name !== agent.parentName) {
      const why = "an agent releases only its own children";
      return no({ kind: "not-allowed", action: `release ${name}`, caller: caller.name, why });
    }
    if (!hasEnded(agent)) {
      return no(invalid("agent", `has not ended; stop it first with: ov stop ${name}`, { value: name }));
    }
    const why = reason.trim();
    if (caller.kind === "agent" && why === "" && (await givesWorkUp(tx, agent))) {
      const problem = `must say why the work on ${agent.branch} is given up, which landed nowhere: ov release ${name} --reason "<why>"`;
      return no(invalid("reason", problem));
    }
    const by = `released by ${caller.name}`;
    const released = await release(tx, context, agent, why === "" ? by : `${by}: ${why}`);
    return ok({ agentName: name, alreadyReleased: released.length === 0, released });
  },
};

/** Would commits be left out with this agent, which no dropped task gave up before? */
async function givesWorkUp(tx: Tx, agent: Agent): Promise<boolean> {
  if (agent.releasedAt !== null || !(await landedNowhere(tx, agent))) return false;
  const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
  return task === undefined || !isDropped(task);
}

/** Releases the agent and, going up, every submitted lead that waited only for this. Returns the names. */
export async function release(tx: Tx, context: ReleaseContext, agent: Agent, reason: string): Promise<string[]> {
  if (!(await tx.agents.release(agent.id, context.now))) return [];
  const data = { reason, generation: agent.generation, branch: agent.branch };
  await record(tx, context.now, { source: "engine", agent, type: "released", data });
  if (agent.outcome !== "done") await giveBackTask(tx, context, agent);
  else await giveUpUnlanded(tx, context, agent, { source: "engine", agent, reason });
  await unhold(tx, context, agent);
  await forgetQuestions(tx, agent);
  const parent = await tx.agents.byName(agent.parentName);
  const above = parent === undefined ? [] : await releaseIfDue(tx, context, parent);
  await keepGoing(tx, context, agent.runId);
  return [agent.name, ...above];
}

/** A released agent holds no task, also none that still waits for its landing or for other tasks. */
async function unhold(tx: Tx, { now }: ReleaseContext, agent: Agent): Promise<void> {
  const newest = await tx.agents.byName(agent.name);
  const task = agent.taskId === null || newest?.id !== agent.id ? undefined : await tx.tasks.get(agent.taskId);
  const free = task === undefined ? undefined : unholdTask(task, agent.name, now);
  if (task === undefined || free === undefined || free === task) return;
  await tx.tasks.update(free);
  const data = { taskId: task.id, fields: ["claimedBy"], status: free.status };
  await record(tx, now, { source: "engine", agent, type: "task_updated", data });
}

/** A released agent waits for no answer. Its questions would be kept for ever: mail that is waited for is never purged. */
async function forgetQuestions(tx: Tx, { id, name }: Agent): Promise<void> {
  if ((await tx.agents.byName(name))?.id !== id) return;
  for (const { kind, ref } of await tx.waits.of(name)) if (kind === "reply") await tx.waits.remove(name, kind, ref);
}

/** The task of an agent that did not finish is ready again, unless a later incarnation works on it. */
export async function giveBackTask(tx: Tx, { now }: Pick<ReleaseContext, "now">, agent: Agent): Promise<void> {
  const newest = await tx.agents.byName(agent.name);
  const task = agent.taskId === null || newest?.id !== agent.id ? undefined : await tx.tasks.get(agent.taskId);
  const back = task === undefined ? undefined : returnTask(task, agent.name, now);
  if (task === undefined || back === undefined || back === task) return;
  await tx.tasks.update(back);
  const data = { taskId: task.id, from: agent.name, outcome: agent.outcome };
  await record(tx, now, { source: "engine", agent, type: "task_returned", data });
}

/**
 * The task of an agent whose branch landed nowhere and is not on its way: it is ready again, because it would never be
 * given out otherwise. `by`: the actor that decided that, for the record.
 */
export async function giveUpUnlanded(
  tx: Tx,
  { now }: Pick<ReleaseContext, "now">,
  agent: Agent,
  { reason, ...by }: EventOwner & { readonly reason: string },
): Promise<void> {
  const newest = await tx.agents.byName(agent.name);
  const task = agent.taskId === null || newest?.id !== agent.id ? undefined : await tx.tasks.get(agent.taskId);
  if (task === undefined || !hasEnded(agent) || !(await landedNowhere(tx, agent))) return;
  if ((await tx.merges.list({ taskId: task.id, statuses: openMergeStatuses, limit: 1 })).length > 0) return;
  const back = giveUpTask(task, agent.name, now);
  if (back === task) return;
  await tx.tasks.update(back);
  const data = { taskId: task.id, from: agent.name, outcome: agent.outcome, reason };
  await record(tx, now, { ...by, type: "task_returned", data });
}

/** Releases a finished agent that nothing holds any more; see `holds`. */
export async function releaseIfDue(tx: Tx, context: ReleaseContext, agent: Agent): Promise<string[]> {
  if (agent.state !== "completed" || agent.outcome !== "done" || agent.releasedAt !== null) return [];
  if (await holds(tx, agent)) return [];
  return release(tx, context, agent, "finished and acknowledged");
}

/**
 * Releases an ended agent and its earlier incarnations on the same branch, so that the engine removes their worktree
 * before another agent begins in the same place. After a recovery that could not start, the worktree still belongs to
 * the earlier incarnation.
 */
export async function letGo(tx: Tx, { id, name, branch }: Agent, now: number): Promise<void> {
  const all = branch === null ? [] : await tx.agents.list({ branch });
  const earlier = all.filter((one) => one.name === name && one.id !== id && hasEnded(one));
  for (const one of [id, ...earlier.map((other) => other.id)]) await tx.agents.release(one, now);
}
