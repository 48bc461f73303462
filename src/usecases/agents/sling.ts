import { admit } from "../../domain/agent/admission.ts";
import type { Agent } from "../../domain/agent/agent.ts";
import { type Capability, isIn, parseCapability } from "../../domain/agent/capability.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { agentName, taskId as parseTaskId } from "../../domain/name/name.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { post } from "../mail/post.ts";
import { openDependencies } from "../tasks/dependency-state.ts";
import type { Context, UseCase } from "../usecase.ts";

export interface SlingRequest {
  readonly taskId: string;
  readonly capability: string;
  readonly name?: string;
  readonly parent?: string;
  readonly files: readonly string[];
  readonly specPath?: string;
  readonly runtime?: string;
  readonly model?: string;
  readonly baseBranch?: string;
  /** The caller's allow-listed variables. */
  readonly environment: Readonly<Record<string, string>>;
  /** Filled by `prepare`. */
  readonly envFile?: string;
}

export interface SlingReply {
  readonly agentName: string;
  readonly capability: Capability;
  readonly taskId: string;
  readonly branch: string;
  readonly runId: string;
  readonly state: string;
}

/** Reserves a seat in one transaction and returns; the engine prepares the worktree and starts the first turn. */
export const sling: UseCase<SlingRequest, SlingReply> = {
  access: "write",
  prepare: async (files, terms, request) => {
    const caller = await terms.caller();
    if (!caller.ok) return caller;
    // An agent's children get what its own person's shell gave it; a path in a request is never believed.
    const { envFile: _, ...rest } = request;
    if (caller.value.kind === "agent") return ok(rest);
    return ok({ ...rest, envFile: await files.writeEnvironment(request.environment) });
  },
  run: async (tx, context, request) => {
    const { caller, now, ids, settings } = context;
    const capability = parseCapability(request.capability);
    if (!capability.ok) return capability;
    const task = await findTask(tx, request.taskId);
    if (!task.ok) return task;
    const name = await chooseName(tx, request, capability.value);
    if (!name.ok) return name;
    const parent = await findParent(tx, caller, request.parent);
    if (!parent.ok) return parent;
    const run = await findRun(tx, context, parent.value);
    const inRun = await tx.agents.list({ runId: run.id });
    const children = parent.value === null ? [] : await tx.agents.list({ parentName: parent.value.name, live: true });
    const namesake = (await tx.agents.byName(name.value)) ?? null;
    const admitted = admit(
      { name: name.value, capability: capability.value, taskId: task.value.id },
      {
        run: { id: run.id, agentsEver: new Set(inRun.map((agent) => agent.name)).size },
        parent: parent.value,
        liveChildren: new Set(children.map((child) => child.name)).size,
        namesake,
        holders: await tx.agents.list({ taskId: task.value.id, live: true }),
        limits: settings.agents,
      },
    );
    if (!admitted.ok) return admitted;
    const agent: Agent = {
      id: ids.next("agent"),
      name: name.value,
      generation: ((await tx.agents.byName(name.value))?.generation ?? 0) + 1,
      capability: capability.value,
      runtime: request.runtime ?? settings.runtime.capabilities[capability.value] ?? settings.runtime.default,
      model: request.model ?? null,
      topology: "per_turn",
      parentName: parent.value?.name ?? "operator",
      depth: admitted.value.depth,
      runId: run.id,
      taskId: task.value.id,
      specPath: request.specPath ?? null,
      scope: request.files,
      worktreePath: null,
      branch: `overstory/${name.value}/${task.value.id}`,
      baseRef: request.baseBranch ?? run.landingBranch,
      baseCommit: null,
      envFile: request.envFile ?? parent.value?.envFile ?? null,
      state: "booting",
      stateVersion: 0,
      outcome: null,
      stopRequestedBy: null,
      providerSessionId: null,
      reminders: 0,
      startedAt: now,
      lastActivityAt: now,
      endedAt: null,
      releasedAt: null,
    };
    await tx.agents.reserve(agent);
    if (parent.value !== null) {
      await tx.waits.add({ agentName: parent.value.name, kind: "child", ref: agent.name, since: now, deadline: null });
    }
    await claimFor(tx, task.value, agent, now);
    await dispatch(tx, context, agent, task.value);
    await tx.events.append([
      {
        runId: run.id,
        agentName: agent.name,
        agentId: agent.id,
        source: caller.kind === "agent" ? "agent" : "operator",
        type: "spawn",
        data: { capability: agent.capability, taskId: task.value.id, parent: agent.parentName, runtime: agent.runtime },
        createdAt: now,
      },
    ]);
    return ok({
      agentName: agent.name,
      capability: agent.capability,
      taskId: task.value.id,
      branch: agent.branch ?? "",
      runId: run.id,
      state: agent.state,
    });
  },
};

async function findTask(tx: Tx, id: string): Promise<Result<Task, Refusal>> {
  const valid = parseTaskId(id);
  if (!valid.ok) return valid;
  const task = await tx.tasks.get(id);
  if (task === undefined) return no(notFound("task", id, nearest(id, await tx.tasks.ids())));
  const workable = ["open", "in_progress"];
  if (!workable.includes(task.status))
    return no({ kind: "task-status", task: id, status: task.status, wanted: workable });
  const open = await openDependencies(tx, id);
  if (open.length > 0) return no({ kind: "task-blocked", task: id, by: open });
  return ok(task);
}

/** The given name, or `<capability>-<task>`, numbered past every name that was ever used. */
async function chooseName(tx: Tx, request: SlingRequest, capability: Capability): Promise<Result<string, Refusal>> {
  const given = request.name?.trim();
  if (given !== undefined && given !== "") return agentName(given);
  const base = `${capability}-${request.taskId}`.toLowerCase().slice(0, 58);
  const taken = new Set(await tx.agents.names());
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}-${n}`;
    if (!taken.has(name)) return agentName(name);
  }
}

/** An agent's slings are its children; only the operator may name another parent. */
async function findParent(tx: Tx, caller: Caller, named: string | undefined): Promise<Result<Agent | null, Refusal>> {
  const own = caller.kind === "agent" ? caller.name : undefined;
  if (own !== undefined && named !== undefined && named !== own) {
    const why = "an agent is the parent of what it slings";
    return no({ kind: "not-allowed", action: `sling for ${named}`, caller: own, why });
  }
  const name = named ?? own;
  if (name === undefined || name === "operator") return ok(null);
  const parent = await tx.agents.byName(name);
  if (parent === undefined) return no(notFound("agent", name, nearest(name, await tx.agents.names())));
  return ok(parent);
}

async function findRun(tx: Tx, { now, ids }: Context, parent: Agent | null): Promise<Run> {
  const known = parent === null ? await tx.runs.current() : await tx.runs.get(parent.runId);
  if (known !== undefined) return known;
  const run: Run = {
    id: ids.next("run"),
    objective: null,
    targetBranch: null,
    landingBranch: null,
    coordinatorName: null,
    status: "active",
    startedAt: now,
    completedAt: null,
  };
  await tx.runs.insert(run);
  return run;
}

/** Whoever implements or leads holds the task; readers look at it without taking it. Code must land before it closes. */
async function claimFor(tx: Tx, task: Task, agent: Agent, now: number): Promise<void> {
  if (isIn("readOnly", agent.capability)) return;
  const mergeState = isIn("implementation", agent.capability) ? "pending" : task.mergeState;
  await tx.tasks.update({
    ...task,
    status: "in_progress",
    claimedBy: agent.name,
    claimExpires: null,
    mergeState,
    updatedAt: now,
  });
}

/** Stored before any process exists, so that it is the input of the first turn. */
async function dispatch(tx: Tx, context: Context, agent: Agent, task: Task): Promise<void> {
  const { caller } = context;
  const spec =
    agent.specPath === null ? "There is no written spec; the task text is all there is." : `Spec: ${agent.specPath}`;
  const scope = agent.scope.length === 0 ? "" : `\nFiles you own: ${agent.scope.join(", ")}`;
  await post(tx, context, {
    from: caller.name,
    fromAgentId: caller.kind === "agent" ? caller.agentId : null,
    runId: agent.runId,
    verified: true,
    address: agent.name,
    recipients: [{ name: agent.name, wake: true }],
    subject: `Dispatch: ${task.id}`,
    body: `${task.title}\n\n${task.description ?? ""}\n\n${spec}${scope}`.replace(/\n{3,}/g, "\n\n"),
    type: "dispatch",
    priority: "normal",
    payload: JSON.stringify({
      taskId: task.id,
      specPath: agent.specPath ?? "",
      capability: agent.capability,
      fileScope: agent.scope,
    }),
  });
}
