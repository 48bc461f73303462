import { type Agent, freshAgent } from "../../domain/agent/agent.ts";
import type { Capability } from "../../domain/agent/capability.ts";
import { type ChosenModel, modelNotes } from "../../domain/agent/model.ts";
import { kept } from "../../domain/budget/budget.ts";
import { type Advice, adviceLines } from "../../domain/coordination/advice.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import type { Message } from "../../domain/mail/types.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Run } from "../../domain/run/run.ts";
import type { RuntimeChoice } from "../../ports/settings.ts";
import type { Tx } from "../../ports/store.ts";
import { forgetEnvironment, prepareSeat, startNotes } from "../agents/sling.ts";
import { record } from "../events/record.ts";
import { handOn } from "../mail/hand-on.ts";
import { fromCaller, post, tellOperator } from "../mail/post.ts";
import { adviceNow } from "../tasks/advise-plan.ts";
import type { Context, UseCase } from "../usecase.ts";
import { planStart, type StartReply, type StartRequest, startFields } from "./plan-start.ts";

/**
 * Starts an agent that leads a run: an ordinary one of the engine, at the project's own checkout, with a run of its own.
 * Several may work side by side under different names.
 */
export const startCoordinator: UseCase<StartRequest, StartReply> = {
  kind: "write",
  request: startFields,
  prepare: prepareSeat,
  discard: forgetEnvironment,
  run: async (tx, context, request) => {
    const plan = await planStart(tx, context, request);
    if (!plan.ok) return plan;
    const run = await runFor(tx, context, request, plan.value.name);
    if (!run.ok) return run;
    await returnEarlierMail(tx, context, plan.value.name, run.value);
    const agent = await reserve(tx, context, { ...plan.value, request, run: run.value });
    await open(tx, context, { agent, run: run.value, brief: request.brief ?? null });
    const { name, id, generation, capability, runtime } = agent;
    const { id: runId, objective, targetBranch } = run.value;
    const { choice, capability: role } = plan.value;
    const warnings = [
      ...modelNotes(context.settings, { asked: request.model, capability: role, choice }),
      ...(await startNotes(tx, context, agent, request)),
    ];
    return ok({
      agentName: name,
      agentId: id,
      generation,
      capability,
      runId,
      runtime,
      objective,
      targetBranch,
      warnings,
    });
  },
};

async function runFor(
  tx: Tx,
  { caller, ids, now }: Context,
  { capability, runId, objective, nothingLands, targetBranch, budgetUsd }: StartRequest,
  name: string,
): Promise<Result<Run, Refusal>> {
  if (runId !== undefined) {
    const joined = await tx.runs.get(runId);
    return joined === undefined ? no({ kind: "not-found", noun: "run", id: runId }) : ok(joined);
  }
  const above = caller.kind === "agent" ? await tx.agents.get(caller.agentId) : undefined;
  const runAbove = above === undefined ? undefined : await tx.runs.get(above.runId);
  const builds = nothingLands !== true || caller.kind === "agent";
  const run: Run = {
    id: ids.next("run"),
    objective: objective?.trim() || null,
    targetBranch: targetBranch ?? runAbove?.targetBranch ?? null,
    landingBranch: null,
    coordinatorName: name,
    status: "active",
    checklist: builds && capability === "coordinator" && (objective?.trim() || null) !== null,
    startCommit: null,
    startedAt: now,
    completedAt: null,
  };
  await tx.runs.insert(run);
  if (budgetUsd !== undefined && caller.kind !== "agent") {
    await tx.budgets.give({ scope: "run", subject: run.id, unit: "usd" }, kept("usd", budgetUsd), now);
  }
  return ok(run);
}

/**
 * Mail that was meant for an earlier run of this name is no work for the new run. The operator gets what others wrote,
 * and hears which of their own messages were never read.
 */
async function returnEarlierMail(tx: Tx, context: Context, name: string, { id: runId }: Run): Promise<void> {
  const unread: Message[] = [];
  for (const mail of await tx.deliveries.inState(name, ["queued"])) {
    const { message, delivery } = mail;
    const earlier = message.runId === null || message.runId === runId ? undefined : await tx.runs.get(message.runId);
    if (earlier?.coordinatorName !== name || (await handOn(tx, context, mail, "operator"))) continue;
    const reason = `it was meant for ${earlier.id}, and ${name} leads another run now`;
    const cancelled = nextDelivery(delivery, { kind: "cancel", reason }, context.now);
    if (!cancelled.ok) continue;
    await tx.deliveries.update(cancelled.value);
    unread.push(message);
  }
  if (unread.length === 0) return;
  await tellOperator(tx, context, {
    runId,
    subject: `${unread.length === 1 ? "a message" : `${unread.length} messages`} of yours to ${name} went unread`,
    body: [
      `The run that they were meant for has no ${name} any more, and ${runId} is another run. What still matters, send again.`,
      ...unread.map(({ id, subject }) => `- ${subject} (ov mail read ${id})`),
    ].join("\n"),
    type: "status",
    priority: "normal",
    payload: JSON.stringify({ unread: unread.map(({ id }) => id) }),
  });
}

interface Seat {
  readonly name: string;
  readonly generation: number;
  readonly capability: Capability;
  readonly choice: RuntimeChoice;
  readonly model: ChosenModel;
  readonly request: StartRequest;
  readonly run: Run;
}

/** At depth 0, also when an orchestrator starts it: depth counts from the coordinator of the run. */
async function reserve(tx: Tx, { caller, ids, now }: Context, seat: Seat): Promise<Agent> {
  const { name, generation, capability, choice, request, run } = seat;
  const { runtime, driver, spec: runtimeSpec = null } = choice;
  const above = caller.kind === "agent" ? await tx.agents.get(caller.agentId) : undefined;
  const agent = freshAgent({
    id: ids.next("agent"),
    name,
    generation,
    capability,
    runtime,
    driver,
    runtimeSpec,
    cliVersion: request.cliVersion ?? null,
    model: seat.model.model,
    modelTerms: seat.model.terms,
    parentName: above?.name ?? "operator",
    depth: 0,
    runId: run.id,
    taskId: null,
    worktreeKind: "root",
    envFile: request.envFile ?? above?.envFile ?? null,
    instructions: request.profile === undefined ? null : JSON.stringify({ profile: request.profile }),
    startedAt: now,
  });
  await tx.agents.reserve(agent);
  const data = { capability, taskId: null, parent: agent.parentName, runtime };
  await record(tx, now, { source: above === undefined ? "operator" : "agent", agent, type: "spawn", data });
  return agent;
}

/** Stored before any process exists, so that it is the input of the first turn. */
async function open(
  tx: Tx,
  context: Context,
  { agent, run, brief }: { readonly agent: Agent; readonly run: Run; readonly brief: string | null },
): Promise<void> {
  const { caller } = context;
  const { capability } = agent;
  const leads = capability === "coordinator";
  const { subject, body } = openingMail({
    objective: run.coordinatorName === agent.name ? run.objective : null,
    brief,
    targetBranch: leads ? run.targetBranch : null,
    advice: leads ? await adviceNow(tx, context) : null,
  });
  await post(tx, context, {
    ...fromCaller(caller),
    runId: run.id,
    address: agent.name,
    recipients: [{ name: agent.name, wake: true }],
    subject,
    body,
    type: "dispatch",
    priority: "normal",
    payload: JSON.stringify({ capability }),
  });
}

interface OpeningFacts {
  readonly objective: string | null;
  /** More about how to go about it than the objective says. */
  readonly brief: string | null;
  readonly targetBranch: string | null;
  /** Null where tasks are none of its business. */
  readonly advice: Advice | null;
}

/** The first message an agent that leads a run gets. */
function openingMail(facts: OpeningFacts): { readonly subject: string; readonly body: string } {
  const { objective, brief, targetBranch, advice } = facts;
  const parts = [
    objective === null ? waiting : `Your objective:\n\n${objective}`,
    ...(brief === null ? [] : [brief]),
    ...(targetBranch === null ? [] : [`The work is meant for the branch ${targetBranch}.`]),
    // Without open tasks there is nothing to say: dividing the objective is the coordinator's first work anyway.
    ...(advice === null || advice.verdict === "plan"
      ? []
      : [`What the tasks there are say about working in parallel:\n${list(adviceLines(advice))}`]),
  ];
  return { subject: objective === null ? "Start" : `Objective: ${firstLine(objective)}`, body: parts.join("\n\n") };
}

const waiting =
  "There is no objective yet. Look at your mail and at what is ready, then end your turn: what is wanted comes as mail " +
  "and wakes you.";

const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");

const longestSubject = 72;

function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length <= longestSubject ? line : `${line.slice(0, longestSubject - 1)}…`;
}
