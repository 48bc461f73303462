import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { canonical, isIn } from "../../domain/agent/capability.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { unserved, waiveOption } from "../../domain/run/checklist.ts";
import { fields, flag, list, text } from "../../domain/schema/schema.ts";
import { dropTask as drop, isDropped } from "../../domain/task/change.ts";
import type { Group, Task } from "../../domain/task/task.ts";
import { namedIn } from "../../domain/text/long-list.ts";
import type { Tx } from "../../ports/store.ts";
import { release } from "../agents/release-agent.ts";
import { type AgentStopped, endIntended, type StopIntent, stopEach } from "../agents/stop.ts";
import { isAnyAtWorkBelow } from "../agents/turns-ahead.ts";
import { byCaller, record } from "../events/record.ts";
import { nearestLiveAncestor } from "../mail/hand-on.ts";
import { fromEngine, post } from "../mail/post.ts";
import { isLanding, landingBusy } from "../merge/merge-records.ts";
import { withdraw } from "../merge/queue/decide-entry.ts";
import type { Effect, World } from "../operation.ts";
import { checklist } from "../runs/checklist.ts";
import { keepGoing } from "../runs/keep-going.ts";
import { runFlagFor } from "../runs/read-runs.ts";
import type { Context, UseCase } from "../usecase.ts";
import { worktreeOf } from "../worktrees/owners.ts";
import { unlessDamaged } from "../worktrees/survey.ts";
import { followClosing } from "./close-task.ts";
import { forbiddenToDrop, whatGoes } from "./drop-scope.ts";
import { detailOf, detailsOf, findTask, ownerOfTask, type TaskDetail } from "./task-detail.ts";

export interface DropTaskRequest {
  readonly id: string;
  readonly reason: string;
  /** Also the tasks that wait for it, and those that wait for them. */
  readonly withDependents?: boolean | undefined;
}

/** Where the work of an agent stays that was let go with its task. */
export interface KeptWork {
  readonly agentName: string;
  readonly branch: string | null;
  /** Commits on its branch. */
  readonly commits: number;
  /** Commits that its branch lacks. They are kept as a snapshot. */
  readonly offBranch: number;
  /** There were changes that it had not committed. They are kept as a snapshot. */
  readonly uncommitted: boolean;
}

interface Dropped extends TaskDetail {
  /** Everything was dropped before; no agent was told again. */
  readonly alreadyDropped: boolean;
  /** The tasks that went with it: its parts, tasks of agents below the stopped ones, and dependents if asked for. */
  readonly alsoDropped: readonly string[];
  /** Tasks that waited for a dropped one and can be started now, without its work. */
  readonly ready: readonly TaskDetail[];
  readonly completedGroups: readonly Group[];
  readonly kept: readonly KeptWork[];
  /** Criteria of the run that no task serves since. */
  readonly unserved: readonly number[];
  /** The flag by which a command names that run; empty where the command takes it by itself. */
  readonly which: string;
  readonly told: readonly string[];
}

export interface DropReply extends Dropped {
  readonly agents: readonly AgentStopped[];
}

/** Gives up a task: its agents are stopped and let go, its work stays as branches, and those concerned are told. */
export const dropTask: Effect<DropTaskRequest, DropReply> = {
  kind: "effect",
  request: fields({ id: text, reason: text }, { withDependents: flag }),
  place: "engine",
  run: async (world, request) => {
    const dropped = await world.call("task.recordDrop", request);
    if (!dropped.ok) return dropped;
    const { stopping, ...reply } = dropped.value;
    // If this process dies here, the engine ends the agents, and their end releases them.
    const agents = await endIntended(world, stopping);
    if (!agents.ok) return agents;
    // What an agent leaves is known when its last turn was settled.
    const kept = await world.call("task.keptWork", { agentNames: reply.kept.map(({ agentName }) => agentName) });
    if (!kept.ok) return kept;
    return ok({ ...reply, kept: await countedByGit(world, kept.value.kept), agents: agents.value });
  },
};

/**
 * The row of an agent counts the commits that its worktree was at. On no branch, or on another one, these are not those of
 * its branch, so git is asked. What git cannot read stays as the row says.
 */
async function countedByGit(world: World, kept: readonly KeptWork[]): Promise<readonly KeptWork[]> {
  const branches = kept.flatMap(({ branch }) => branch ?? []);
  const owners = branches.length === 0 ? undefined : await world.call("worktree.findOwners", { branches });
  if (owners?.ok !== true) return kept;
  const worktrees = await world.worktrees();
  const counted: KeptWork[] = [];
  for (const work of kept) {
    const agent = owners.value.agents.find(({ name }) => name === work.agentName);
    const worktree = agent === undefined ? undefined : worktreeOf(agent);
    const looked = await unlessDamaged(async () => {
      if (worktree === undefined) return work;
      const facts = await worktrees.inspect(worktree);
      if (facts.exists) {
        const { offBranch, ahead, dirty } = facts;
        const off = offBranch?.messages.length ?? 0;
        return { ...work, commits: offBranch?.branchMessages.length ?? ahead, offBranch: off, uncommitted: dirty };
      }
      const rest = await worktrees.keptRest(worktree);
      const head = rest?.messages.length ?? 0;
      const off = head + (rest?.beside.flatMap(({ messages }) => messages).length ?? 0);
      return { ...work, commits: Math.max(0, work.commits - head), offBranch: off };
    });
    counted.push(looked.ok ? looked.value : work);
  }
  return counted;
}

/** What these agents left. */
export const readKeptWork: UseCase<{ readonly agentNames: readonly string[] }, { readonly kept: readonly KeptWork[] }> =
  {
    kind: "read",
    request: fields({ agentNames: list(text) }),
    run: async (tx, _context, { agentNames }) => {
      const agents = await Promise.all(agentNames.map((name) => tx.agents.byName(name)));
      return ok({ kept: agents.flatMap((agent) => (agent === undefined ? [] : [keptWork(agent)])) });
    },
  };

/**
 * The decision, in one transaction: entries of the merge queue are withdrawn, agents are asked to stop, tasks are closed
 * and letters are written. Agents without a running turn have ended and are released with it. A repeated call names the
 * agents that are still to be ended, and changes nothing.
 */
export const recordDrop: UseCase<DropTaskRequest, Dropped & { readonly stopping: readonly StopIntent[] }> = {
  kind: "write",
  request: fields({ id: text, reason: text }, { withDependents: flag }),
  run: async (tx, context, { id, reason, withDependents }) => {
    const found = await findTask(tx, id);
    if (!found.ok) return found;
    const root = found.value;
    const why = reason.trim();
    if (why === "") return no(invalid("reason", "must say why the task is not wanted any more"));
    if (root.status === "closed" && !isDropped(root)) {
      return no({ kind: "task-status", task: id, status: "closed", wanted: ["open", "in_progress", "in_review"] });
    }
    const { tasks, agents } = await whatGoes(tx, root, { withDependents: withDependents === true });
    const refused = await forbiddenToDrop(tx, context.caller, root, tasks, agents);
    if (refused !== undefined) return no(refused);
    const open = tasks.filter(({ status }) => status !== "closed");
    const waited = await withdrawAll(tx, context, tasks);
    if (!waited.ok) return waited;
    const closed = open.map((task) => drop(task, why, context.now));
    for (const task of closed) await tx.tasks.update(task);
    const ids = closed.map((task) => task.id);
    const names = agents.map(({ name }) => name);
    for (const task of closed) {
      const data = { taskId: task.id, root: id, reason: why, agents: names };
      await record(tx, context.now, { ...byCaller(context.caller, task.runId), type: "task_dropped", data });
    }
    const { ready, completedGroups } = await followClosing(tx, context, ids);
    const freed = ready.filter((task) => !ids.includes(task.id));
    const kept = agents.filter(({ worktreePath }) => worktreePath !== null).map(keptWork);
    const missing = await unservedNow(tx, closed);
    const letter = { root, closed, why, agents, kept, ready: freed, missing };
    const told = closed.length === 0 ? [] : await tell(tx, context, letter, waited.value);
    const stopping = await stopEach(
      tx,
      context,
      agents.filter((agent) => !hasEnded(agent)),
    );
    for (const agent of agents) {
      if (hasEnded(agent)) await release(tx, context, agent, `its task ${agent.taskId} was dropped`);
    }
    await keepGoing(tx, context, root.runId);
    return ok({
      ...(await detailOf(tx, closed.find((task) => task.id === id) ?? root)),
      alreadyDropped: closed.length === 0,
      alsoDropped: ids.filter((one) => one !== id),
      ready: await detailsOf(tx, freed),
      completedGroups,
      kept,
      unserved: missing,
      which: root.runId === null ? "" : await runFlagFor(tx, context.caller.name, root.runId),
      told,
      stopping,
    });
  },
};

/** Takes their branches out of the merge queue. Returns the names of agents that waited for a landing. */
async function withdrawAll(
  tx: Tx,
  context: Context,
  tasks: readonly Task[],
): Promise<Result<readonly string[], Refusal>> {
  const waited: string[] = [];
  for (const { id } of tasks) {
    const open = await tx.merges.list({ taskId: id, statuses: openMergeStatuses });
    // What did not land counts as failed until somebody decides about it: this is the decision.
    const failed = await tx.merges.list({ taskId: id, statuses: ["failed", "conflict"], newestOfBranch: true });
    for (const entry of [...open, ...failed]) {
      if (await isLanding(tx, entry)) return no(landingBusy(entry));
      waited.push(...(await withdraw(tx, context, entry)));
    }
  }
  return ok(waited);
}

const keptWork = ({ name, branch, ahead, dirty }: Agent): KeptWork => ({
  agentName: name,
  branch,
  commits: ahead,
  offBranch: 0,
  uncommitted: dirty,
});

/** Criteria that the dropped tasks served and that no other task serves. */
async function unservedNow(tx: Tx, dropped: readonly Task[]): Promise<readonly number[]> {
  const missing = new Set<number>();
  for (const { id, runId } of dropped) {
    const run = runId === null ? undefined : await tx.runs.get(runId);
    const numbers = (await tx.criteria.ofTask(id)).map(({ number }) => number);
    if (run === undefined || numbers.length === 0) continue;
    const { criteria, tasks } = await checklist(tx, run);
    for (const { number } of unserved(criteria, tasks)) if (numbers.includes(number)) missing.add(number);
  }
  return [...missing].sort((a, b) => a - b);
}

interface Letter {
  readonly root: Task;
  readonly closed: readonly Task[];
  readonly why: string;
  readonly agents: readonly Agent[];
  readonly kept: readonly KeptWork[];
  readonly ready: readonly Task[];
  readonly missing: readonly number[];
}

/**
 * One letter to each who planned with the task: the parents of the stopped agents, agents that waited for it to land, the
 * owners of tasks that can be started now, and the coordinator of its run. The caller knows it, and the agents that go with
 * the task need not.
 */
async function tell(tx: Tx, context: Context, letter: Letter, waited: readonly string[]): Promise<readonly string[]> {
  const { caller } = context;
  const going = new Set(letter.agents.map(({ name }) => name));
  const run = letter.root.runId === null ? undefined : await tx.runs.get(letter.root.runId);
  const coordinator = run?.status === "active" ? run.coordinatorName : null;
  const concerned = [...letter.agents.map(({ parentName }) => parentName), ...waited];
  if (coordinator !== null && !isOwnPart(caller, letter)) concerned.push(coordinator);
  const owners: string[] = [];
  for (const task of letter.ready) {
    const owner = await ownerOfTask(tx, task);
    if (owner !== null) owners.push(owner);
  }
  concerned.push(...owners);
  const readers = new Set<string>();
  for (const name of concerned) if (!going.has(name)) readers.add(await nearestLiveAncestor(tx, name));
  readers.delete(caller.name);
  for (const name of readers) {
    const decides = letter.missing.length > 0 || waited.includes(name) || owners.includes(name);
    const wake = decides || !(await isAnyAtWorkBelow(tx, name, [...going]));
    await post(tx, context, {
      ...fromEngine,
      runId: letter.root.runId,
      address: name,
      recipients: [{ name, wake, reason: "a task of its plan was dropped" }],
      subject: `[ENGINE] dropped: ${letter.root.id}`,
      body: words(caller, letter),
      type: "status",
      priority: "high",
      payload: JSON.stringify({
        dropped: letter.closed.map(({ id }) => id),
        reason: letter.why,
        by: caller.name,
        stopped: [...going],
        ready: letter.ready.map(({ id }) => id),
        unserved: letter.missing,
      }),
    });
  }
  return [...readers];
}

/** A lead that drops a part of its own task changes nothing for the coordinator, unless a criterion is left unserved. */
const isOwnPart = (caller: Caller, { missing }: Letter): boolean =>
  caller.kind === "agent" && canonical(caller.capability) === "lead" && missing.length === 0;

function words(caller: Caller, { root, closed, why, agents, kept, ready, missing }: Letter): string {
  const others = closed.filter(({ id }) => id !== root.id).map(({ id }) => id);
  const stopped = agents.filter((agent) => !hasEnded(agent)).map(({ name }) => name);
  return [
    `${caller.name} dropped task ${root.id} (${root.title}): ${why}`,
    ...(others.length === 0 ? [] : [`Dropped with it: ${namedIn(others)}.`]),
    ...(stopped.length === 0 ? [] : [`Stopped on purpose and let go: ${namedIn(stopped)}.`]),
    ...kept.flatMap(({ agentName, branch }) =>
      branch === null || agents.some(({ name, capability }) => name === agentName && isIn("readOnly", capability))
        ? []
        : [`The branch ${branch} of ${agentName} stays.`],
    ),
    ...(ready.length === 0
      ? []
      : [`Ready now, without its work: ${namedIn(ready.map(({ id, title }) => `${id} (${title})`))}.`]),
    "Do not give this work out again.",
    ...(missing.length === 0 ? [] : [leftUnserved(missing)]),
  ].join("\n");
}

const leftUnserved = (missing: readonly number[]): string => {
  const option = missing.length === 1 ? waiveOption(Number(missing[0])) : `waive criteria ${missing.join(", ")}`;
  return `No task serves criterion ${missing.join(", ")} any more: ask the operator with a decision_gate whose option is "${option}", or meet it by other work.`;
};
