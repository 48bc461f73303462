import { canonical } from "../../domain/agent/capability.ts";
import { agentName, taskId } from "../../domain/name/name.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Run } from "../../domain/run/run.ts";
import { fields, list, text } from "../../domain/schema/schema.ts";
import {
  changeTask,
  claimTask as claim,
  newTask,
  reopenTask as reopen,
  type TaskChange,
} from "../../domain/task/change.ts";
import { isOwnAncestor } from "../../domain/task/dependency.ts";
import type { TaskFields } from "../../domain/task/fields.ts";
import { directs } from "../../domain/task/rights.ts";
import { type Task, taskPrefix } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { changeArea } from "../agents/file-areas.ts";
import { byCaller, record } from "../events/record.ts";
import { resumeGroupsOf } from "../groups/complete-group.ts";
import { planningWords, serveCriteria } from "../runs/checklist.ts";
import type { Context, UseCase } from "../usecase.ts";
import { openDependencies } from "./held-dependents.ts";
import { detailOf, findTask, type TaskDetail, taskFields } from "./task-detail.ts";
import { findTaskFor } from "./team-tasks.ts";

export interface CreateTaskRequest extends TaskFields {
  readonly title: string;
  /** Chosen by the caller; otherwise made of the project's name. */
  readonly id?: string | undefined;
  /** Existing tasks that must be closed first. */
  readonly blockedBy?: readonly string[] | undefined;
  /** Numbers of the criteria of its run that it serves. */
  readonly criteria?: readonly number[] | undefined;
}

/** A task that was created or changed, with sentences for the caller about the plan. */
export interface PlannedTask extends TaskDetail {
  readonly planning: readonly string[];
}

/** Adds an open task. Every agent may: finding work is part of working. */
export const createTask: UseCase<CreateTaskRequest, PlannedTask> = {
  kind: "write",
  request: fields({ title: text }, { ...taskFields, id: text, blockedBy: list(text) }),
  run: (tx, context, request) => addTask(tx, context, request),
};

/** `of`: the run that a task of the operator belongs to; without it the run that is going on. */
export async function addTask(
  tx: Tx,
  context: Context,
  request: CreateTaskRequest,
  of?: Run,
): Promise<Result<PlannedTask, Refusal>> {
  const over = await ofEndedRun(tx, context);
  if (over !== undefined) return no(over);
  const id = await chooseId(tx, context, request.id);
  if (!id.ok) return id;
  const parentId = request.parentId === undefined ? await leadTask(tx, context) : request.parentId;
  const made = newTask({ ...request, parentId, id: id.value, runId: await runOf(tx, context, of) }, context.now);
  if (!made.ok) return made;
  const task = made.value;
  if (task.parentId !== null) {
    // A part that another agent adds would keep the holder of the whole from finishing.
    const isGiven = request.parentId !== undefined;
    const parent = isGiven
      ? await findTaskFor(tx, context.caller, "change", task.parentId)
      : await findTask(tx, task.parentId);
    if (!parent.ok) return parent;
  }
  await tx.tasks.insert(task);
  for (const dependsOn of new Set(request.blockedBy)) {
    if (dependsOn === task.id) return no({ kind: "dependency-cycle", path: [task.id, task.id] });
    const dependency = await findTask(tx, dependsOn);
    if (!dependency.ok) return dependency;
    await tx.tasks.addDependency({ taskId: task.id, dependsOn });
  }
  if (request.criteria !== undefined && request.criteria.length > 0) {
    const refused = await serveCriteria(tx, task.id, task.runId, request.criteria);
    if (refused !== undefined) return no(refused);
  }
  await record(tx, context.now, {
    ...byCaller(context.caller, task.runId),
    type: "task_created",
    data: { taskId: task.id, title: task.title },
  });
  return ok(await planned(tx, context, task));
}

const planned = async (tx: Tx, { caller }: Context, task: Task): Promise<PlannedTask> => ({
  ...(await detailOf(tx, task)),
  planning: await planningWords(tx, caller, task.runId),
});

/** What a lead divides is part of its own task, unless it says otherwise: the lead is told when a part can be started. */
async function leadTask(tx: Tx, { caller }: Context): Promise<string | undefined> {
  if (caller.kind !== "agent" || caller.taskId === null || canonical(caller.capability) !== "lead") return undefined;
  return (await tx.tasks.get(caller.taskId)) === undefined ? undefined : caller.taskId;
}

/** Nothing is started in a run that has ended: a task of an agent there would stay open for ever. */
async function ofEndedRun(tx: Tx, { caller }: Context): Promise<Refusal | undefined> {
  const run = caller.kind === "agent" ? await tx.runs.get(caller.runId) : undefined;
  if (run === undefined || run.status === "active") return undefined;
  const why = `${run.id} has ended, and nothing is started in it any more; tell the operator what is left: ov mail send --to operator --subject "<what>" --body "<words>"`;
  return { kind: "not-allowed", action: "create a task", caller: caller.name, why };
}

/** An agent's tasks belong to its run, a person's to the run that was named or is going on. */
async function runOf(tx: Tx, { caller }: Context, named: Run | undefined): Promise<string | null> {
  return caller.kind === "agent" ? caller.runId : ((named ?? (await tx.runs.current()))?.id ?? null);
}

async function chooseId(
  tx: Tx,
  { ids, settings }: Context,
  given: string | undefined,
): Promise<Result<string, Refusal>> {
  if (given === undefined) return ok(await unusedId(tx, ids.next, taskPrefix(settings.project.name)));
  const id = taskId(given, "id");
  if (!id.ok) return id;
  if ((await tx.tasks.get(given)) === undefined) return id;
  return no(invalid("id", "is already used by another task", { value: given }));
}

/** Four characters are easy to say; a longer part takes over when too many of them are used. */
async function unusedId(tx: Tx, next: Context["ids"]["next"], prefix: string): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const id = next(prefix, 4 + Math.floor(attempt / 4));
    if ((await tx.tasks.get(id)) === undefined) return id;
  }
}

export interface UpdateTaskRequest extends TaskChange {
  readonly id: string;
  /** Numbers of the criteria of its run that it serves from now on. */
  readonly criteria?: readonly number[] | undefined;
}

export interface UpdatedTask extends PlannedTask {
  /** What the change of its files means for the agent that holds it. */
  readonly holder: readonly string[];
  /** What the given lists took away, with the command that keeps it. */
  readonly replaced: readonly string[];
}

/** Replaces the given fields and leaves the others. */
export const updateTask: UseCase<UpdateTaskRequest, UpdatedTask> = {
  kind: "write",
  request: fields({ id: text }, { ...taskFields, title: text, status: text }),
  run: async (tx, context, { id, criteria, ...change }) => {
    const words = [change.title, change.description, change.files, change.shares, change.parentId, criteria];
    const reworded = words.some((field) => field !== undefined)
      ? await findTaskFor(tx, context.caller, "word", id)
      : null;
    if (reworded?.ok === false) return reworded;
    const found = await findTaskFor(tx, context.caller, change.status === undefined ? "change" : "move", id);
    if (!found.ok) return found;
    const changed = changeTask(found.value, change, context.now);
    if (!changed.ok) return changed;
    const misplaced = await wrongParent(tx, changed.value);
    if (misplaced !== undefined) return no(misplaced);
    await tx.tasks.update(changed.value);
    const served = (await tx.criteria.ofTask(id)).map(({ number }) => number);
    const unknown = criteria === undefined ? undefined : await serveCriteria(tx, id, changed.value.runId, criteria);
    if (unknown !== undefined) return no(unknown);
    const fields = Object.entries({ ...change, criteria }).filter(([, value]) => value !== undefined);
    const data = { taskId: id, fields: fields.map(([field]) => field), status: changed.value.status };
    await record(tx, context.now, { ...byCaller(context.caller, changed.value.runId), type: "task_updated", data });
    const holder = await changeFilesOfHolder(tx, context, changed.value, change);
    const { files, shares } = changed.value;
    const replaced = [
      ...(criteria === undefined ? [] : lost(id, "criteria", served, criteria)),
      ...lost(id, "files", found.value.files, files),
      ...lost(id, "shares", found.value.shares, shares),
    ];
    return ok({ ...(await planned(tx, context, changed.value)), holder, replaced });
  },
};

/** A given list stands in the place of the earlier one. An agent that meant to add to it has to see that. */
function lost<T>(
  id: string,
  field: "criteria" | "files" | "shares",
  before: readonly T[],
  now: readonly T[],
): string[] {
  const gone = before.filter((one) => !now.includes(one));
  if (gone.length === 0) return [];
  const all = [...before, ...now.filter((one) => !before.includes(one))].join(",");
  const list = now.length === 0 ? "none" : now.join(", ");
  return [
    `its ${field} are ${list} now, no longer ${gone.join(", ")}; to have both: ov task update ${id} --${field} "${all}"`,
  ];
}

/** The agent that holds the task, and has its files as its own, may change what the task says now. */
async function changeFilesOfHolder(
  tx: Tx,
  context: Context,
  task: Task,
  { files, shares }: Pick<TaskChange, "files" | "shares">,
): Promise<readonly string[]> {
  const holder = task.claimedBy === null ? undefined : await tx.agents.byName(task.claimedBy);
  if ((files === undefined && shares === undefined) || holder === undefined) return [];
  const ownsItsTask = holder.capability === "builder" || canonical(holder.capability) === "lead";
  if (holder.releasedAt !== null || holder.taskId !== task.id || !ownsItsTask) return [];
  const change = {
    ...(files === undefined ? {} : { scope: task.files }),
    ...(shares === undefined ? {} : { shares: task.shares }),
  };
  return changeArea(tx, context, holder, change);
}

async function wrongParent(tx: Tx, { id, parentId }: Task): Promise<Refusal | undefined> {
  if (parentId === null) return undefined;
  const parent = await findTask(tx, parentId);
  if (!parent.ok) return parent.refusal;
  if (!isOwnAncestor(id, parentId, await tx.tasks.list({}))) return undefined;
  return invalid("parent", "would make the task its own ancestor", { value: parentId });
}

export interface ClaimTaskRequest {
  readonly id: string;
  /** The agent that gets it; the caller when absent. Only callers that direct others may name another agent. */
  readonly by?: string | undefined;
}

/** Takes a task that no agent holds. Of any number of callers exactly one succeeds. */
export const claimTask: UseCase<ClaimTaskRequest, TaskDetail> = {
  kind: "write",
  request: fields({ id: text }, { by: text }),
  run: async (tx, context, { id, by }) => {
    const { caller } = context;
    const holder = agentName(by ?? caller.name, "by");
    if (!holder.ok) return holder;
    const found = await findTaskFor(tx, caller, "claim", id);
    if (!found.ok) return found;
    if (holder.value !== caller.name && !directs(caller)) {
      const why = "an agent claims for itself";
      return no({ kind: "not-allowed", action: `claim for ${holder.value}`, caller: caller.name, why });
    }
    const terms = { by: holder.value, openDependencies: await openDependencies(tx, id) };
    const claimed = claim(found.value, terms, context.now);
    if (!claimed.ok) return claimed;
    if (claimed.value !== found.value) {
      await tx.tasks.update(claimed.value);
      const data = { taskId: id, by: holder.value };
      await record(tx, context.now, { ...byCaller(context.caller, claimed.value.runId), type: "task_claimed", data });
    }
    return ok(await detailOf(tx, claimed.value));
  },
};

/** Makes a closed task open again; groups that counted it as done follow it again. */
export const reopenTask: UseCase<{ readonly id: string }, TaskDetail> = {
  kind: "write",
  request: fields({ id: text }),
  run: async (tx, context, { id }) => {
    const found = await findTaskFor(tx, context.caller, "reopen", id);
    if (!found.ok) return found;
    const reopened = reopen(found.value, context.now, await holderOf(tx, found.value));
    if (!reopened.ok) return reopened;
    await tx.tasks.update(reopened.value);
    await record(tx, context.now, {
      ...byCaller(context.caller, reopened.value.runId),
      type: "task_reopened",
      data: { taskId: id },
    });
    await resumeGroupsOf(tx, context, [id]);
    return ok(await detailOf(tx, reopened.value));
  },
};

/** The agent that holds the task and is not released. A submitted agent counts, because its work may still land. */
async function holderOf(tx: Tx, { status, claimedBy }: Task): Promise<string | null> {
  if (status === "closed" || status === "open" || claimedBy === null) return null;
  const holder = await tx.agents.byName(claimedBy);
  return holder === undefined || holder.releasedAt !== null ? null : claimedBy;
}
