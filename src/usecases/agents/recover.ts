import { excludesFromTask } from "../../domain/agent/admission.ts";
import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { statusOf } from "../../domain/agent/status.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import { orderSubjects } from "../../domain/mail/payload.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, notSent, record, text } from "../../domain/schema/schema.ts";
import { namedIn } from "../../domain/text/long-list.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record as recordEvent } from "../events/record.ts";
import { post } from "../mail/post.ts";
import { waitForAnswersAgain } from "../mail/waits.ts";
import type { Context, UseCase } from "../usecase.ts";
import { childrenInWords } from "./find-agent.ts";
import { letGo } from "./release-agent.ts";
import { nextGeneration } from "./reopen-agent.ts";
import { forgetEnvironment, keepEnvironment, replyOf, warnOfLostTarget } from "./sling.ts";
import type { SlingReply } from "./sling-request.ts";

export interface RecoverRequest {
  /** Name of the agent, or id of its task. */
  readonly of: string;
  /** In a new worktree and conversation; what the old one holds is kept where it can be found. */
  readonly fresh?: boolean | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly envFile?: string;
}

/**
 * Goes on where an ended agent stopped: same worktree and branch, same conversation, same parent, next generation, with
 * a brief of where it stood and the mail that never reached it. Afresh it begins again, on a branch of its own beside
 * the old one.
 */
export const recover: UseCase<RecoverRequest, SlingReply> = {
  kind: "write",
  request: fields({ of: text, environment: record(text) }, { fresh: flag, envFile: notSent }),
  prepare: keepEnvironment,
  discard: forgetEnvironment,
  run: async (tx, context, request) => {
    const found = await find(tx, request.of);
    if (!found.ok) return found;
    const agent = found.value;
    if (!hasEnded(agent)) {
      return no({
        kind: "not-recoverable",
        name: agent.name,
        why: `it is ${statusOf(agent).words}`,
        next: helpLive(agent),
      });
    }
    const { caller } = context;
    if (caller.kind === "agent" && caller.name !== agent.parentName) {
      return no({
        kind: "not-allowed",
        action: `recover ${agent.name}`,
        caller: caller.name,
        why: "it is not its child",
      });
    }
    // Its turns would cost money over work that is done; `ov sling` refuses such a task by the same words.
    const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
    if (task?.status === "closed") {
      return no({ kind: "task-status", task: task.id, status: task.status, wanted: ["open", "in_progress"] });
    }
    const others = agent.taskId === null ? [] : await tx.agents.list({ taskId: agent.taskId, live: true });
    const holder = others.find((other) => excludesFromTask(other, agent, agent.parentName));
    if (holder !== undefined) return no({ kind: "task-held", task: agent.taskId ?? "", holder: holder.name });
    const reopened = await reopenRun(tx, context, agent);
    if (!reopened.ok) return reopened;
    // Seated again by the engine, which finds the worktree where it is or makes it from the branch.
    const envFile = request.envFile ?? (await inheritedEnvironment(tx, agent));
    const fresh = request.fresh === true;
    // A person who recovers an agent gives it new reminders. An agent that recovers another one does not.
    const reminders = caller.kind === "agent" ? agent.reminders : 0;
    const from = { ...agent, reminders, ...(fresh ? anew(agent) : {}), worktreePath: null, envFile };
    const next = await nextGeneration(tx, context, from, "recovered");
    // From here on the engine may take the old worktree away; it does so before it makes the new one.
    if (fresh) await letGo(tx, agent, context.now);
    // An agent that begins anew does not know its old questions, so it does not wait for their answers.
    else if (agent.releasedAt !== null) await waitForAnswersAgain(tx, next);
    await revive(tx, agent.name, context.now);
    const opening = fresh ? freshLines(agent, next) : await sameLines(tx, agent, next);
    await brief(tx, context, next, [...opening, ...(await meanwhile(tx, agent))]);
    const warnings = reopened.value ? [`run ${next.runId} goes on: it had ended when ${next.name} was stopped`] : [];
    return ok(replyOf(next, await tx.runs.get(next.runId), { notTakenIn: null, warnings }));
  },
  finish: warnOfLostTarget,
};

/** What a person can do who expected an agent that lives to go on. */
function helpLive({ name, state }: Pick<Agent, "name" | "state">): string {
  const isIdle = state === "between_turns" || state === "stalled";
  return isIdle ? `it has not ended; have it go on at once: ov nudge ${name}` : `see what it does: ov logs ${name}`;
}

/**
 * A coordinator leads its run or nothing. A run that ended because its coordinator was stopped goes on with it; a
 * completed run is over. When a person asks for it, other agents may go on with work that an ended run has left.
 * Returns whether the run was opened again.
 */
async function reopenRun(tx: Tx, { caller, now }: Context, agent: Agent): Promise<Result<boolean, Refusal>> {
  const run = await tx.runs.get(agent.runId);
  if (run === undefined || run.status === "active") return ok(false);
  if (run.coordinatorName !== agent.name) {
    if (caller.kind !== "agent") return ok(false);
    const why = `run ${run.id} has ended; tell the operator what is left, and end your turn`;
    return no({ kind: "not-allowed", action: `recover ${agent.name}`, caller: caller.name, why });
  }
  // Only `ov coordinator stop` ends the run and releases its coordinator in one transaction.
  const endedWithIt = agent.outcome === "stopped" && agent.releasedAt !== null && agent.releasedAt === run.completedAt;
  if (!endedWithIt) {
    const next = 'begin another run: ov go "<objective>"';
    return no({ kind: "not-recoverable", name: agent.name, why: `its run ${run.id} is complete`, next });
  }
  await tx.runs.reopen(run.id);
  await recordEvent(tx, now, { ...byCaller(caller, run.id), type: "run_reopened", data: { runId: run.id } });
  return ok(true);
}

/** What a new beginning does not take over. Agents at the project's own checkout have no worktree to begin anew. */
function anew({ name, taskId, generation, branch, worktreeKind, baseCommit }: Agent): Partial<Agent> {
  const begun = { providerSessionId: null, reminders: 0, headCommit: null, ahead: 0, dirty: false };
  if (worktreeKind === "root") return { ...begun, branch, baseCommit };
  return { ...begun, branch: `overstory/${name}/${taskId ?? "work"}-${generation + 1}`, baseCommit: null };
}

async function find(tx: Tx, of: string): Promise<Result<Agent, Refusal>> {
  const named = await tx.agents.byName(of);
  if (named !== undefined) return ok(named);
  const onTask = newestPerName(await tx.agents.list({ taskId: of }));
  const last = onTask.at(-1);
  return last === undefined ? no(notFound("agent", of, nearest(of, await tx.agents.names()))) : ok(last);
}

/** Its own variables are gone with its release; then it gets its parent's. */
async function inheritedEnvironment(tx: Tx, agent: Agent): Promise<string | null> {
  if (agent.releasedAt === null) return agent.envFile;
  return (await tx.agents.byName(agent.parentName))?.envFile ?? null;
}

/** Mail that was given up because its reader kept dying gets another chance with the new incarnation. */
async function revive(tx: Tx, name: string, now: number): Promise<void> {
  for (const { delivery } of await tx.deliveries.inState(name, ["dead"])) {
    const queued = nextDelivery(delivery, { kind: "retry" }, now);
    if (queued.ok) await tx.deliveries.update(queued.value);
  }
}

async function sameLines(tx: Tx, old: Agent, { name, generation }: Agent): Promise<readonly string[]> {
  const how = old.outcome === "done" ? "had reported its work as done" : "ended before the work was done";
  const turns = old.reminders === 0 ? "its turn" : `its turn ${old.reminders + 1} times`;
  return [
    `You are generation ${generation} of ${name}: an earlier process of yours ${how}.`,
    ...(old.outcome === "no_signal"
      ? [`It ended ${turns} without a finish that was accepted. Only ov done ends your work.`]
      : []),
    ...(await landingLines(tx, old)),
    "Your worktree and branch are as it left them. Look at `git status` and `git log` before you go on.",
  ];
}

/** What became of the commits of the branch in the merge queue. */
async function landingLines(tx: Tx, { branch }: Agent): Promise<readonly string[]> {
  const [last] = branch === null ? [] : await tx.merges.list({ branch, limit: 1 });
  if (last?.status === "merged") return [`Its commits have landed on ${last.targetBranch} (merge ${last.id}).`];
  if (last?.status !== "reverted") return [];
  const [undo] = await tx.mergeOps.list({ kind: "undo", status: "done", queueId: last.id, limit: 1 });
  const by = undo === undefined ? "" : `, by ${undo.actor} (${undo.id})`;
  return [
    `Its commits landed on ${last.targetBranch} (merge ${last.id}) and were taken out again${by}.`,
    "They are still on your branch and count as your work: `ov done` hands them over again, with what you add or change.",
  ];
}

function freshLines(old: Agent, { name, generation }: Agent): readonly string[] {
  const begin = `You are generation ${generation} of ${name}, and you begin anew: nothing an earlier one did is in your worktree.`;
  if (old.worktreeKind === "root") return [begin];
  const snapshots = `refs/overstory/snap/${old.name}/${old.generation}/`;
  return [
    begin,
    `Its commits are on ${old.branch ?? "no branch"}; uncommitted work, if it left any, is below ${snapshots}. Use of it what is good.`,
  ];
}

/** What went past an agent that had ended: the mail that others got in its place, and how the agents below it stand. */
async function meanwhile(tx: Tx, old: Agent): Promise<readonly string[]> {
  const since = old.endedAt ?? old.lastActivityAt;
  const lines: string[] = [];
  for (const { message, delivery } of await tx.deliveries.inState(old.name, ["cancelled"])) {
    const heir = /^(?:handed on|forwarded) to (.+)$/.exec(delivery.lastError ?? "")?.[1];
    if (heir === undefined || message.runId !== old.runId || delivery.updatedAt < since) continue;
    const { id, type, fromAgent, subject } = message;
    lines.push(`- ${type} of ${fromAgent}: "${subject}" (ov mail read ${id}), handed on to ${heir}`);
  }
  const below = await childrenInWords(tx, old);
  return [
    ...(lines.length === 0 ? [] : ["Mail for you that came when you were gone:", ...lines.slice(-mostMissed)]),
    ...(below === undefined ? [] : [`Below you: ${below}`]),
  ];
}

/** More lines than a successor has to know. */
const mostMissed = 20;

async function brief(tx: Tx, context: Context, agent: Agent, opening: readonly string[]): Promise<void> {
  const checkpoint = await tx.recovery.checkpoint(agent.name);
  const lines = [
    ...opening,
    ...(checkpoint === undefined || checkpoint.summary === "" ? [] : [`What it said last: ${checkpoint.summary}`]),
    ...(checkpoint === undefined || checkpoint.files.length === 0
      ? []
      : [`Files it had changed: ${namedIn(checkpoint.files)}`]),
    ...(checkpoint === undefined || checkpoint.pending === "" ? [] : [`It was waiting for: ${checkpoint.pending}`]),
  ];
  await post(tx, context, {
    from: context.caller.name,
    fromAgentId: context.caller.kind === "agent" ? context.caller.agentId : null,
    runId: agent.runId,
    verified: true,
    address: agent.name,
    recipients: [{ name: agent.name, wake: true }],
    subject: orderSubjects.again(agent.taskId),
    body: lines.join("\n"),
    type: "dispatch",
    priority: "high",
    payload: JSON.stringify({
      taskId: agent.taskId,
      specPath: agent.specPath ?? "",
      capability: agent.capability,
      fileScope: agent.scope,
    }),
  });
}

export interface CheckpointRequest {
  readonly progress: string;
  readonly pending?: string | undefined;
}

/** About a page. A successor reads it before it goes on. */
const maxLength = 4_000;

/** An agent notes where it stands, for itself after its conversation was shortened, or for its successor. */
export const checkpoint: UseCase<CheckpointRequest, { readonly agentName: string }> = {
  kind: "write",
  request: fields({ progress: text }, { pending: text }),
  run: async (tx, { caller, now }, { progress, pending = "" }) => {
    if (caller.kind !== "agent") {
      const why = "only an agent knows where it stands";
      return no({ kind: "not-allowed", action: "write a checkpoint", caller: caller.name, why });
    }
    const agent = await tx.agents.get(caller.agentId);
    if (agent === undefined) return no(notFound("agent", caller.name));
    const summary = progress.trim();
    if (summary === "") return no(invalid("progress", "must not be empty"));
    const earlier = await tx.recovery.checkpoint(agent.name);
    await tx.recovery.putCheckpoint({
      agentName: agent.name,
      generation: agent.generation,
      taskId: agent.taskId,
      turnId: caller.turnId,
      summary: summary.slice(0, maxLength),
      files: earlier?.files ?? [],
      branch: agent.branch,
      pending: pending.trim().slice(0, maxLength),
      updatedAt: now,
    });
    return ok({ agentName: agent.name });
  },
};
