import { type Agent, freshAgent } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { chooseModel } from "../../domain/agent/model.ts";
import type { DollarWatch } from "../../domain/budget/dollar-watch.ts";
import { orderSubjects } from "../../domain/mail/payload.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { lostTargetWords, type Run } from "../../domain/run/run.ts";
import type { Task } from "../../domain/task/task.ts";
import type { ProjectFiles } from "../../ports/project-files.ts";
import type { Tx } from "../../ports/store.ts";
import { dollarNotes } from "../budgets/announce.ts";
import { record } from "../events/record.ts";
import { fromCaller, post } from "../mail/post.ts";
import { addTask } from "../tasks/change-tasks.ts";
import type { Context, PrepareTerms, UseCase } from "../usecase.ts";
import { runtimeNameFor } from "./choose-runtime.ts";
import { planSling, type SlingPlan } from "./plan-sling.ts";
import { letGo } from "./release-agent.ts";
import { type SlingReply, type SlingRequest, slingFields } from "./sling-request.ts";

/** Reserves a seat in one transaction and returns; the engine prepares the worktree and starts the first turn. */
export const sling: UseCase<SlingRequest, SlingReply> = {
  kind: "write",
  request: slingFields,
  prepare: prepareSeat,
  discard: forgetEnvironment,
  run: async (tx, context, request) => {
    const plan = await planSling(tx, context, request);
    if (!plan.ok) return plan;
    const run = plan.value.run ?? (await beginRun(tx, context, plan.value));
    const task = await taskFor(tx, context, request, { ...plan.value, run });
    if (!task.ok) return task;
    const agent = await reserve(tx, context, request, plan.value, run);
    if (task.value !== null) await claimFor(tx, task.value, agent, context.now);
    await dispatch(tx, context, agent, task.value);
    const notes = await startNotes(tx, context, agent, request);
    return ok(replyOf(agent, run, { ...plan.value, warnings: [...plan.value.warnings, ...notes] }));
  },
  finish: warnOfLostTarget,
};

/** Work for a branch that was renamed or deleted could not land. */
export async function warnOfLostTarget(files: ProjectFiles, reply: SlingReply): Promise<Result<SlingReply, Refusal>> {
  const { targetBranch, warnings } = reply;
  if (targetBranch === null || !files.lacksBranch(targetBranch)) return ok(reply);
  return ok({ ...reply, warnings: [...warnings, lostTargetWords(targetBranch, reply.runId)] });
}

/** What `ov sling` would do. */
export const drySling: UseCase<SlingRequest, SlingReply> = {
  kind: "read",
  request: slingFields,
  run: async (tx, context, request) => {
    const plan = await planSling(tx, context, request);
    if (!plan.ok) return plan;
    const { value } = plan;
    return ok({
      agentName: value.name,
      generation: value.generation,
      capability: value.capability,
      taskId: value.taskId,
      branch: value.branch,
      runId: value.run?.id ?? "",
      coordinatorName: value.run?.coordinatorName ?? null,
      targetBranch: value.targetBranch,
      parentAgent: value.parent?.name ?? "operator",
      depth: value.depth,
      runtime: value.choice.runtime,
      model: value.model.model,
      state: "planned",
      notTakenIn: value.notTakenIn,
      warnings: value.warnings,
    });
  },
};

/** An agent that could not start gets no seat. */
export async function prepareSeat<
  R extends {
    readonly runtime?: string | undefined;
    readonly model?: string | undefined;
    readonly capability: string;
    readonly baseBranch?: string | undefined;
    readonly environment: Readonly<Record<string, string>>;
  },
>(files: ProjectFiles, terms: PrepareTerms, request: R): Promise<Result<R, Refusal>> {
  const { baseBranch } = request;
  const path = await pathFor(terms, request);
  if (!path.ok) return path;
  if (baseBranch !== undefined && (await terms.isCommit?.(baseBranch)) === false) {
    return no(
      invalid("base-branch", "is no branch or commit of this repository; see: git branch", { value: baseBranch }),
    );
  }
  const runtime = runtimeNameFor(terms.settings, request.runtime, request.capability);
  const program = await terms.preflight?.(runtime, path.value);
  if (program?.ok === false) return program;
  const kept = await keepEnvironment(files, terms, request);
  if (!kept.ok) return kept;
  const takenNames = (await terms.takenNames?.()) ?? [];
  const dollarWatch = await watchFor(terms, request, runtime);
  const { version = null, note } = program?.value ?? {};
  return ok({ ...kept.value, cliVersion: version, programNote: note, dollarWatch, takenNames });
}

/**
 * Where the program of the new agent is looked for. The program that is found is started, and where agents are confined also
 * outside of that. So what an agent says in its request does not count: its child gets the variables of its person.
 */
async function pathFor(
  { caller: identify, shellOf }: PrepareTerms,
  { environment }: { readonly environment: Readonly<Record<string, string>> },
): Promise<Result<string | undefined, Refusal>> {
  const caller = await identify();
  if (!caller.ok) return caller;
  return ok(caller.value.kind === "agent" ? (await shellOf(caller.value.agentId))?.PATH : environment.PATH);
}

/** What the operator should know before the first turn of an agent, as `prepareSeat` found it. */
export async function startNotes(
  tx: Tx,
  context: Context,
  agent: Agent,
  { programNote, dollarWatch }: { readonly programNote?: string; readonly dollarWatch?: DollarWatch },
): Promise<readonly string[]> {
  const notes = await dollarNotes(tx, context, agent, dollarWatch);
  return programNote === undefined ? notes : [programNote, ...notes];
}

/** A choice that is refused is refused later, with its reason. */
async function watchFor(
  { settings, dollarWatch }: PrepareTerms,
  { model: asked, capability }: { readonly model?: string | undefined; readonly capability: string },
  runtime: string,
): Promise<DollarWatch | undefined> {
  const choice = settings.runtimes.find(({ name }) => name === runtime);
  const chosen = choice === undefined ? undefined : chooseModel(settings, { asked, capability, choice });
  return choice === undefined || chosen?.ok !== true ? undefined : dollarWatch?.(choice, chosen.value.model);
}

/** An agent's children get what its own person's shell gave it; a path in a request is never believed. */
export async function keepEnvironment<
  R extends { readonly environment: Readonly<Record<string, string>>; readonly envFile?: string },
>(files: ProjectFiles, terms: PrepareTerms, request: R): Promise<Result<R, Refusal>> {
  const caller = await terms.caller();
  if (!caller.ok) return caller;
  const { envFile: _, ...rest } = request;
  if (caller.value.kind === "agent") return ok(rest as R);
  return ok({ ...rest, envFile: await files.writeEnvironment(request.environment) } as R);
}

/** A refused request must not leave a copy of the caller's variables behind. */
export async function forgetEnvironment(
  files: ProjectFiles,
  { envFile }: { readonly envFile?: string },
): Promise<void> {
  if (envFile !== undefined) await files.removeEnvironment(envFile);
}

async function taskFor(
  tx: Tx,
  context: Context,
  request: SlingRequest,
  plan: SlingPlan & { readonly run: Run },
): Promise<Result<Task | null, Refusal>> {
  if (plan.task !== null || request.title === undefined) return ok(request.skipTaskCheck === true ? null : plan.task);
  const { taskId: id, run } = plan;
  const made = await addTask(
    tx,
    context,
    { id, title: request.title, files: request.files, shares: request.shares },
    run,
  );
  if (!made.ok) return made;
  const task = await tx.tasks.get(plan.taskId);
  return task === undefined ? no({ kind: "not-found", noun: "task", id: plan.taskId }) : ok(task);
}

async function beginRun(tx: Tx, { now, ids }: Context, { capability, name, targetBranch }: SlingPlan): Promise<Run> {
  const run: Run = {
    id: ids.next("run"),
    objective: null,
    targetBranch,
    landingBranch: null,
    coordinatorName: capability === "coordinator" ? name : null,
    status: "active",
    checklist: false,
    startCommit: null,
    startedAt: now,
    completedAt: null,
  };
  await tx.runs.insert(run);
  return run;
}

async function reserve(
  tx: Tx,
  { caller, now, ids, settings }: Context,
  request: SlingRequest,
  plan: SlingPlan,
  run: Run,
): Promise<Agent> {
  const agent = freshAgent({
    id: ids.next("agent"),
    name: plan.name,
    generation: plan.generation,
    capability: plan.capability,
    runtime: plan.choice.runtime,
    driver: plan.choice.driver,
    runtimeSpec: plan.choice.spec ?? null,
    cliVersion: request.cliVersion ?? null,
    model: plan.model.model,
    modelTerms: plan.model.terms,
    parentName: plan.parent?.name ?? "operator",
    depth: plan.depth,
    runId: run.id,
    taskId: plan.taskId,
    specPath: plan.specPath,
    scope: plan.scope,
    shares: plan.shares,
    branch: plan.branch,
    worktreeKind: isIn("persistent", plan.capability) ? "root" : settings.sandbox.mode === "os" ? "clone" : "linked",
    baseRef: plan.baseRef,
    envFile: request.envFile ?? plan.parent?.envFile ?? null,
    instructions: instructionsOf({ ...request, profile: request.profile ?? settings.project.defaultProfile }),
    startedAt: now,
  });
  const earlier = plan.generation > 1 ? await tx.agents.byName(plan.name) : undefined;
  if (earlier !== undefined) await letGo(tx, earlier, now);
  await tx.agents.reserve(agent);
  if (plan.parent !== null) {
    await tx.waits.add({ agentName: plan.parent.name, kind: "child", ref: agent.name, since: now, deadline: null });
  }
  await record(tx, now, {
    source: caller.kind === "agent" ? "agent" : "operator",
    agent,
    type: "spawn",
    data: { capability: agent.capability, taskId: agent.taskId, parent: agent.parentName, runtime: agent.runtime },
  });
  return agent;
}

/** What only the overlay needs to know, kept as it was asked for. */
function instructionsOf(request: Omit<SlingRequest, "profile"> & { profile?: string | undefined }): string | null {
  const { siblings, profile, dispatchMaxAgents, skipScout, skipReview } = request;
  const given = Object.entries({ siblings, profile, dispatchMaxAgents, skipScout, skipReview }).filter(
    ([, value]) => value !== undefined,
  );
  return given.length === 0 ? null : JSON.stringify(Object.fromEntries(given));
}

/** Agents that implement or lead hold the task; read-only agents do not take it. Code must land before the task closes. */
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

/**
 * Stored before any process exists, so that it is the input of the first turn. The text of the task, of its own spec and its
 * files are in the instructions that come with that turn, and are not told twice.
 */
async function dispatch(tx: Tx, context: Context, agent: Agent, task: Task | null): Promise<void> {
  const { caller } = context;
  const what = task === null ? `Task ${agent.taskId}` : task.title;
  const own = agent.taskId === null ? undefined : (await tx.specs.get(agent.taskId))?.path;
  const spec =
    agent.specPath === null
      ? "There is no written spec; the task text is all there is."
      : `Spec: ${agent.specPath}${agent.specPath === own ? " (your instructions have its text)" : ""}`;
  await post(tx, context, {
    ...fromCaller(caller),
    runId: agent.runId,
    address: agent.name,
    recipients: [{ name: agent.name, wake: true, notBefore: await firstTurnSlot(tx, context, agent) }],
    subject: orderSubjects.first(agent.taskId),
    body: `${what}\n\n${spec}`,
    type: "dispatch",
    priority: "normal",
    payload: JSON.stringify({
      taskId: agent.taskId,
      specPath: agent.specPath ?? "",
      capability: agent.capability,
      fileScope: agent.scope,
      ...(agent.shares.length === 0 ? {} : { sharedFiles: agent.shares }),
    }),
  });
}

/** The reply to a sling or a recovery, about the agent that got a seat. */
export const replyOf = (
  agent: Agent,
  run: Run | undefined,
  { notTakenIn, warnings }: Pick<SlingReply, "notTakenIn" | "warnings">,
): SlingReply => ({
  agentName: agent.name,
  generation: agent.generation,
  capability: agent.capability,
  taskId: agent.taskId ?? "",
  branch: agent.branch ?? "",
  runId: agent.runId,
  coordinatorName: run?.coordinatorName ?? null,
  targetBranch: run?.targetBranch ?? null,
  parentAgent: agent.parentName,
  depth: agent.depth,
  runtime: agent.runtime,
  model: agent.model,
  state: agent.state,
  notTakenIn,
  warnings,
});

/**
 * When the first turn of a new agent may start, so that `agents.staggerDelayMs` lies between it and the newest one before
 * it; 0 for at once. Taken in the transaction that reserves the agent, so slings at the same moment get different slots.
 */
async function firstTurnSlot(
  tx: Tx,
  { now, settings }: Pick<Context, "now" | "settings">,
  agent: Agent,
): Promise<number> {
  const stagger = settings.agents.staggerDelayMs;
  if (stagger === 0 || isIn("persistent", agent.capability)) return 0;
  let slot = now;
  for (const other of await tx.agents.list({ live: true })) {
    if (other.id === agent.id || isIn("persistent", other.capability)) continue;
    const [first] = await tx.turns.listFor(other.id);
    if (first !== undefined) slot = Math.max(slot, Math.max(first.queuedAt, first.notBefore) + stagger);
  }
  return slot > now ? slot : 0;
}
