import { type AdmissionRequest, admit } from "../../domain/agent/admission.ts";
import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { type Capability, isIn, parseCapability } from "../../domain/agent/capability.ts";
import { type ChosenModel, modelNotes } from "../../domain/agent/model.ts";
import { type FileArea, type Overlap, outsideScope } from "../../domain/agent/scope.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { agentName, taskId as parseTaskId } from "../../domain/name/name.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { readAsked } from "../../domain/role/assignment.ts";
import type { Run } from "../../domain/run/run.ts";
import { checkPaths } from "../../domain/task/fields.ts";
import type { Task } from "../../domain/task/task.ts";
import { namedIn } from "../../domain/text/long-list.ts";
import type { RuntimeChoice, Settings } from "../../ports/settings.ts";
import type { Tx } from "../../ports/store.ts";
import { joinsByRule } from "../../structured-merge/index.ts";
import { failedTakeIn } from "../merge/landing/landing-target.ts";
import { knownCollisions } from "../merge/radar.ts";
import { openDependencies } from "../tasks/held-dependents.ts";
import { findTaskFor, whyForeign } from "../tasks/team-tasks.ts";
import type { Context } from "../usecase.ts";
import { chooseRun, chooseTarget } from "./choose-run.ts";
import { chooseRuntime, modelFor } from "./choose-runtime.ts";
import { overlapsWith } from "./file-areas.ts";
import { newestWorkOn } from "./find-agent.ts";
import type { SlingRequest } from "./sling-request.ts";

/** Everything `ov sling` decides before it changes anything. */
export interface SlingPlan {
  readonly capability: Capability;
  readonly name: string;
  readonly generation: number;
  /** Null: the task is made from the title. */
  readonly task: Task | null;
  readonly taskId: string;
  readonly parent: Agent | null;
  /** Null: a new run begins with this agent. */
  readonly run: Run | null;
  /** The branch that the run is for; null where that is not known yet. */
  readonly targetBranch: string | null;
  readonly depth: number;
  readonly choice: RuntimeChoice;
  readonly model: ChosenModel;
  readonly branch: string;
  /** Null: where new work of the run starts. */
  readonly baseRef: string | null;
  readonly specPath: string | null;
  /** Files and globs the agent will own. */
  readonly scope: readonly string[];
  readonly shares: readonly string[];
  readonly notTakenIn: number | null;
  readonly warnings: readonly string[];
}

/** Git cannot make `overstory/<agent>/<task>` beside a branch `overstory/<agent>`. */
function nameTakenByBranch(value: string): Refusal {
  const branch = `overstory/${value}`;
  const problem = `leaves no room for the agent's branch beside the branch ${branch} of this repository; take another name, or rename the branch: git branch -m ${branch} <new name>`;
  return invalid("name", problem, { value });
}

/** Reads the facts and applies every rule of spawning. The caller reserves in the same transaction, so nothing changes between. */
export async function planSling(tx: Tx, context: Context, request: SlingRequest): Promise<Result<SlingPlan, Refusal>> {
  const { caller, settings } = context;
  const capability = parseCapability(request.capability);
  if (!capability.ok) return capability;
  const choice = chooseRuntime(settings, request.runtime, capability.value);
  if (!choice.ok) return choice;
  const model = modelFor(context, request, choice.value, capability.value);
  if (!model.ok) return model;
  const inside = checkPaths(request.files);
  if (!inside.ok) return inside;
  if (request.forceHierarchy === true && caller.kind === "agent") {
    return no({
      kind: "not-allowed",
      action: "sling --force-hierarchy",
      caller: caller.name,
      why: "only the operator may",
    });
  }
  const wanted = await freeTaskId(tx, request);
  if (!wanted.ok) return wanted;
  const task = await findTask(tx, { ...request, taskId: wanted.value }, capability.value);
  if (!task.ok) return task;
  const foreign = caller.kind !== "agent" || task.value === null ? undefined : await whyForeign(tx, caller, task.value);
  if (foreign !== undefined) {
    return no({ kind: "not-allowed", action: `sling ${task.value?.id}`, caller: caller.name, why: foreign });
  }
  const taskId = task.value?.id ?? wanted.value;
  const name = await chooseName(tx, request, capability.value, taskId);
  if (!name.ok) return name;
  if (request.takenNames?.includes(name.value) === true) return no(nameTakenByBranch(name.value));
  const parent = await findParent(tx, caller, request.parent);
  if (!parent.ok) return parent;
  // A coordinator brings its own run, so that several may work side by side.
  const chosen =
    capability.value === "coordinator" ? ok(undefined) : await chooseRun(tx, caller, request, parent.value);
  if (!chosen.ok) return chosen;
  const run = chosen.value;
  const target = await chooseTarget(tx, context, request, { run, parent: parent.value });
  if (!target.ok) return target;
  const inRun = run === undefined ? [] : await tx.agents.list({ runId: run.id });
  const children = parent.value === null ? [] : await tx.agents.list({ parentName: parent.value.name });
  const namesake = (await tx.agents.byName(name.value)) ?? null;
  const admitted = admit(
    {
      name: name.value,
      capability: capability.value,
      taskId,
      forceHierarchy: request.forceHierarchy === true || request.lastReview === true,
      maxAgents: mostChildren(request, caller, parent.value, settings),
    },
    {
      run: { id: run?.id ?? "the new run", agentsEver: new Set(inRun.map((agent) => agent.name)).size },
      parent: parent.value,
      liveChildren: new Set(children.filter((child) => !hasEnded(child)).map((child) => child.name)).size,
      namesake,
      holders: task.value === null ? [] : await tx.agents.list({ taskId, live: true }),
      limits: settings.agents,
      limitSources: settings.limitSources,
    },
  );
  if (!admitted.ok) return admitted;
  const { scope, shares } = areaFor(request, capability.value, task.value);
  // Imported tasks may have paths that no command would have taken.
  const scoped = checkPaths([...scope, ...shares]);
  if (!scoped.ok) return scoped;
  const overlaps = overlapsWith({ scope, shares }, { capability: capability.value, parent: parent.value }, inRun);
  const [overlap] = overlaps;
  if (overlap !== undefined && request.allowOverlap !== true) {
    const toShare = await sharingOf(tx, caller, { shares, overlaps, inRun });
    return no({ kind: "scope-overlap", ...overlap, all: overlaps, ...(toShare === undefined ? {} : { toShare }) });
  }
  return ok({
    capability: capability.value,
    name: name.value,
    generation: (namesake?.generation ?? 0) + 1,
    task: task.value,
    taskId,
    parent: parent.value,
    run: run ?? null,
    targetBranch: target.value,
    depth: admitted.value.depth,
    choice: choice.value,
    model: model.value,
    branch: `overstory/${name.value}/${taskId}`,
    baseRef: request.baseBranch ?? (await branchToJudge(tx, capability.value, taskId)),
    specPath: request.specPath ?? (await tx.specs.get(taskId))?.path ?? null,
    scope,
    shares,
    notTakenIn: await notTakenIn(tx, run),
    warnings: [
      ...warningsFor(request, capability.value, admitted.value.depth),
      ...modelNotes(settings, { asked: request.model, capability: capability.value, choice: choice.value }),
      ...scoutWarnings(request, capability.value, { children, run, caller: context.caller }),
      ...elsewhereWarnings(request, run, target.value),
      ...(await overlapWarnings(tx, overlaps, inRun)),
      ...sharingNotes(shares),
      ...leftOutNotes(request, task.value),
    ],
  });
}

/**
 * The id for a task that is told in words. Two titles may give the same id: words of another script give none at all, and
 * long titles differ only behind the part that is used. The same words while their task is open are a repetition.
 */
async function freeTaskId(tx: Tx, { taskId, title, idOfTitle }: SlingRequest): Promise<Result<string, Refusal>> {
  if (idOfTitle !== true || title === undefined) return ok(taskId);
  for (let n = 1; ; n++) {
    const id = n === 1 ? taskId : `${taskId}-${n}`;
    const there = await tx.tasks.get(id);
    if (there === undefined) return ok(id);
    if (there.title !== title || there.status === "closed") continue;
    const problem = `is that of the task ${id}, which is not closed; to work on that one: ov sling ${id}; for another one, choose other words`;
    return no(invalid("title", problem, { value: title }));
  }
}

/** The task as the tracker has it; null when the request brings a title instead, or the tracker is not to be asked. */
async function findTask(tx: Tx, request: SlingRequest, capability: Capability): Promise<Result<Task | null, Refusal>> {
  const valid = parseTaskId(request.taskId);
  if (!valid.ok) return valid;
  const task = await tx.tasks.get(request.taskId);
  if (request.title !== undefined) {
    return task === undefined
      ? ok(null)
      : no(
          invalid("title", `is for a new task, but that task exists; to work on it: ov sling ${request.taskId}`, {
            value: request.taskId,
          }),
        );
  }
  if (task === undefined) {
    if (request.skipTaskCheck === true) return ok(null);
    const near = nearest(request.taskId, await tx.tasks.ids());
    return no({ ...notFound("task", request.taskId, near), advice: oneWord });
  }
  if (request.skipTaskCheck === true) return ok(task);
  // A task in review has work that waits for its landing. Read-only agents may still take it, others may not.
  const workable = ["open", "in_progress", ...(isIn("readOnly", capability) ? ["in_review"] : [])];
  if (!workable.includes(task.status))
    return no({ kind: "task-status", task: task.id, status: task.status, wanted: workable });
  const open = await openDependencies(tx, task.id);
  return open.length > 0 ? no({ kind: "task-blocked", task: task.id, by: open }) : ok(task);
}

const oneWord =
  'one word is the id of a task that exists; a new task is told in more than one word, or made first: ov task create "<title>"';

/**
 * The branch on which a reviewer starts: the one it judges, so that files, gates and verdict are about the same commit.
 * A released agent's work has landed or was given up, and an agent without a worktree has no branch yet.
 */
async function branchToJudge(tx: Tx, capability: Capability, taskId: string): Promise<string | null> {
  if (capability !== "reviewer") return null;
  const work = await newestWorkOn(tx, taskId);
  return work === undefined || work.worktreePath === null || work.releasedAt !== null ? null : work.branch;
}

/** The given name, or `<capability>-<task>`, numbered past every name that was ever used. */
async function chooseName(
  tx: Tx,
  request: SlingRequest,
  capability: Capability,
  taskId: string,
): Promise<Result<string, Refusal>> {
  const given = request.name?.trim();
  if (given !== undefined && given !== "") return agentName(given);
  const base = `${capability}-${taskId}`.toLowerCase().slice(0, 58);
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
  if (own !== undefined && (await tx.checks.completionsOf(parent.id)).some(({ status }) => status === "done")) {
    const why = "it has finished; nobody would read what its agents report";
    return no({ kind: "not-allowed", action: "sling", caller: own, why });
  }
  return ok(parent);
}

/**
 * How many live children the parent may have: the operator's limit for this spawn, else the limit its own slinger gave
 * it, else the configured one. An agent can only ask for fewer. 0 is any number.
 */
function mostChildren(
  { maxAgents }: SlingRequest,
  caller: Caller,
  parent: Agent | null,
  { agents, limitSources }: Settings,
): NonNullable<AdmissionRequest["maxAgents"]> {
  const given = readAsked(parent?.instructions ?? null).dispatchMaxAgents;
  const key = "agents.maxAgentsPerLead";
  const standing =
    given > 0
      ? { limit: given, limitFrom: { flag: "--dispatch-max-agents", of: `the sling of ${parent?.name ?? ""}` } }
      : { limit: agents.maxAgentsPerLead, limitFrom: { key, source: limitSources?.[key] ?? null } };
  if (maxAgents === undefined) return standing;
  const typed = { limit: maxAgents, limitFrom: { flag: "--max-agents", of: "this sling" } };
  if (caller.kind !== "agent" || standing.limit === 0) return typed;
  return maxAgents > 0 && maxAgents < standing.limit ? typed : standing;
}

/**
 * The files that were asked for, else the files of the task. A read-only agent owns no files, and a merger works in
 * files of other agents: both have files only if the request says so.
 */
function areaFor({ files, shares }: SlingRequest, capability: Capability, task: Task | null): FileArea {
  const ownsItsTask = capability === "builder" || capability === "lead";
  return {
    scope: files.length > 0 || !ownsItsTask ? files : (task?.files ?? []),
    shares: shares ?? (ownsItsTask ? (task?.shares ?? []) : []),
  };
}

interface Meeting {
  /** What the new agent shares already. */
  readonly shares: readonly string[];
  readonly overlaps: readonly Overlap[];
  readonly inRun: readonly Agent[];
}

/** What all of them would have to share so that nothing overlaps; undefined where the caller may not change a task. */
async function sharingOf(tx: Tx, caller: Caller, { shares, overlaps, inRun }: Meeting) {
  const isGlob = (pattern: string): boolean => /[*?[{]/.test(pattern);
  const pathOf = ({ wanted, owned, shared }: Overlap): string =>
    shared || (isGlob(wanted) && !isGlob(owned)) ? owned : wanted;
  const others: { readonly task: string; readonly shares: readonly string[] }[] = [];
  for (const name of new Set(overlaps.filter(({ shared }) => !shared).map(({ owner }) => owner))) {
    const agent = inRun.findLast((one) => one.name === name);
    const task = agent?.taskId == null ? undefined : await findTaskFor(tx, caller, "word", agent.taskId);
    if (agent === undefined || task?.ok !== true || task.value.claimedBy !== name) return undefined;
    const paths = overlaps.filter(({ owner, shared }) => owner === name && !shared).map(pathOf);
    others.push({ task: task.value.id, shares: [...new Set([...agent.shares, ...paths])] });
  }
  return { own: [...new Set([...shares, ...overlaps.map(pathOf)])], others };
}

/** A longer list would not be read; the first lines show the problem. */
const mostOverlaps = 30;

/** The agents with which the new one will share files, and the files where that has gone wrong before. */
async function overlapWarnings(tx: Tx, overlaps: readonly Overlap[], inRun: readonly Agent[]): Promise<string[]> {
  if (overlaps.length === 0) return [];
  const owners = new Set(overlaps.map(({ owner }) => owner));
  const collisions = await knownCollisions(tx, newestPerName(inRun));
  return [
    ...overlaps
      .slice(0, mostOverlaps)
      .map(({ owner, wanted, owned }) => `${wanted} may meet what ${owner} changes (${owned})`),
    ...(overlaps.length > mostOverlaps ? [`${overlaps.length - mostOverlaps} more of its files may meet others`] : []),
    ...collisions
      .filter(({ agents }) => agents.some((name) => owners.has(name)))
      .map(({ agents, files }) => `${agents.join(" and ")} collide there already: ${namedIn(files)} (ov merge radar)`),
  ];
}

/** How changes of several agents to a shared file come together, for files that no rule joins. */
function sharingNotes(shares: readonly string[]): readonly string[] {
  const byHand = shares.filter((pattern) => !joinsByRule(pattern));
  if (byHand.length === 0) return [];
  return [
    `no rule joins changes to ${byHand.join(", ")}: branches that change it land one after the other, and a conflict goes back to the builder; one last task for it may be cheaper`,
  ];
}

/** Files of the task that the request replaces by others: an agent that changes them would be refused at its end. */
function leftOutNotes({ files, shares = [] }: SlingRequest, task: Task | null): readonly string[] {
  const given = [...files, ...shares];
  const left = files.length === 0 ? [] : (task?.files ?? []).filter((path) => outsideScope([path], given).length > 0);
  if (left.length === 0) return [];
  return [
    `the task also names ${namedIn(left)}, which the agent may not change: the files that were given count instead`,
  ];
}

function warningsFor(request: SlingRequest, capability: Capability, depth: number): string[] {
  const warnings: string[] = [];
  if (request.depth !== undefined && request.depth !== depth) {
    warnings.push(`--depth ${request.depth} is ignored: the depth follows from the parent and is ${depth}`);
  }
  if (request.skipScout === true && capability !== "lead")
    warnings.push("--skip-scout only means something for a lead");
  if (request.skipTaskCheck === true && request.parent === undefined)
    warnings.push("--skip-task-check without --parent: nobody checks the task");
  return warnings;
}

/**
 * Said once, with the second builder that a parent slings in a run. An agent is not told: by its role it sends scouts only
 * where the code is unknown.
 */
function scoutWarnings(
  { skipScout, scoutCheck }: SlingRequest,
  capability: Capability,
  {
    children,
    run,
    caller,
  }: { readonly children: readonly Agent[]; readonly run: Run | undefined; readonly caller: Caller },
): readonly string[] {
  if (capability !== "builder" || skipScout === true || scoutCheck === false || caller.kind === "agent") return [];
  const names = new Set(children.filter(({ runId }) => runId === run?.id).map(({ name }) => name));
  const hasScout = children.some((child) => child.capability === "scout" && child.runId === run?.id);
  if (names.size !== 1 || hasScout) return [];
  return ["this parent has sent no scout in this run; --no-scout-check silences this"];
}

const notTakenIn = async (tx: Tx, run: Run | undefined): Promise<number | null> =>
  run?.landingBranch == null || run.targetBranch === null
    ? null
    : failedTakeIn(tx, run.landingBranch, run.targetBranch);

/** Says that the agent joins a run for another branch than one that was begun where the command was typed. */
function elsewhereWarnings(
  { currentBranch: here, isLoose }: SlingRequest,
  run: Run | undefined,
  target: string | null,
): readonly string[] {
  if (run === undefined || here === undefined || target === null || here === target) return [];
  const place = isLoose === true ? "no branch is checked out here" : `${here} is checked out here`;
  const elsewhere = `${place}, but run ${run.id} is for ${target}`;
  return [here.startsWith("overstory/") ? elsewhere : `${elsewhere}; for ${here}, type the same with: --run new`];
}
