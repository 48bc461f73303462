import { type Agent, hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { failures, isTransient } from "../../domain/turn/failure.ts";
import type { Settlement, TurnEnd } from "../../domain/turn/settle.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import { isAskedForMore } from "../../usecases/agents/asked-for-more.ts";
import { releaseIfDue } from "../../usecases/agents/release-agent.ts";
import { reopenAgent } from "../../usecases/agents/reopen-agent.ts";
import { retireIfOver } from "../../usecases/coordinators/retire.ts";
import { notice } from "../../usecases/events/record.ts";
import { handOn, nearestLiveAncestor } from "../../usecases/mail/hand-on.ts";
import { fromEngine, post, tellOperator, wakeUp } from "../../usecases/mail/post.ts";
import { askToLand } from "../../usecases/merge/queue/ask-to-land.ts";
import { keepGoing } from "../../usecases/runs/keep-going.ts";
import type { Context } from "../../usecases/usecase.ts";
import type { Ending } from "./settle-turn.ts";

type FollowContext = Pick<Context, "ids" | "now" | "settings">;

export interface Settled {
  readonly turn: Turn;
  readonly agentId: string;
  readonly settlement: Settlement;
  readonly ending: Ending;
}

const remembered = 20;
const summaryLength = 2_000;

/**
 * Stores the consequences of a settled turn for others: notes the agent's progress, and releases agents that are free
 * to go.
 */
export async function followEnd(tx: Tx, context: FollowContext, settled: Settled): Promise<void> {
  const agent = await tx.agents.get(settled.agentId);
  if (agent === undefined) return;
  await follow(tx, context, agent, settled);
  await keepGoing(tx, context, agent.runId);
}

async function follow(tx: Tx, context: FollowContext, agent: Agent, settled: Settled): Promise<void> {
  await writeCheckpoint(tx, context, agent, settled);
  if (settled.settlement.input === "ack") await releaseReporters(tx, context, settled.turn);
  if (!hasEnded(agent)) {
    await retireIfOver(tx, context, agent);
    return;
  }
  if (agent.outcome === "done") await rememberTask(tx, context, agent, settled);
  if (await cameBack(tx, context, agent)) return;
  if (agent.outcome === "done") await handOnRest(tx, context, agent);
  await askToLand(tx, context, agent);
  await releaseIfDue(tx, context, agent);
}

async function writeCheckpoint(tx: Tx, { now }: FollowContext, agent: Agent, { turn, ending }: Settled): Promise<void> {
  const waits = await tx.waits.of(agent.name);
  const noted = await tx.recovery.checkpoint(agent.name);
  // What the agent wrote down itself in this turn says more than its last words.
  const own = noted?.turnId === turn.id ? noted : undefined;
  await tx.recovery.putCheckpoint({
    agentName: agent.name,
    generation: agent.generation,
    taskId: agent.taskId,
    turnId: turn.id,
    summary: own?.summary ?? (ending.end.kind === "clean" ? lastWords(ending) : (noted?.summary ?? lastWords(ending))),
    files: ending.worktree?.files ?? [],
    branch: agent.branch,
    pending: [own?.pending ?? "", ...waits.map((wait) => `${wait.kind} ${wait.ref}`)]
      .filter((part) => part !== "")
      .join(", "),
    updatedAt: now,
  });
}

const lastWords = ({ resultText }: Ending): string => (resultText ?? "").slice(0, summaryLength);

/**
 * The agents whose reports this clean turn took in have nothing left to wait for; a report may have come by way of an
 * ended parent.
 */
async function releaseReporters(tx: Tx, context: FollowContext, turn: Turn): Promise<void> {
  for (const { message } of await tx.deliveries.ofTurn(turn.id)) {
    const reporter = message.fromAgentId === null ? undefined : await tx.agents.byName(message.fromAgent);
    if (reporter !== undefined) await releaseIfDue(tx, context, reporter);
  }
}

async function rememberTask(tx: Tx, { now }: FollowContext, agent: Agent, { ending }: Settled): Promise<void> {
  const known = await tx.recovery.identity(agent.name);
  // A task that it took up again and finished a second time is still one task.
  const others = known?.recentTasks.filter(({ taskId }) => agent.taskId === null || taskId !== agent.taskId) ?? [];
  const isAgain = known !== undefined && others.length < known.recentTasks.length;
  const task = { taskId: agent.taskId ?? "", summary: (ending.resultText ?? "").slice(0, 200), completedAt: now };
  await tx.recovery.putIdentity({
    agentName: agent.name,
    capability: agent.capability,
    createdAt: known?.createdAt ?? agent.startedAt,
    completed: (known?.completed ?? 0) + (isAgain ? 0 : 1),
    recentTasks: [...others, task].slice(-remembered),
  });
}

/** Mail that asks for more work may have come while the last turn was still running. */
async function cameBack(tx: Tx, context: FollowContext, agent: Agent): Promise<boolean> {
  if (!isSubmitted(agent) || agent.outcome !== "done") return false;
  if (!(await isAskedForMore(tx, agent))) return false;
  const next = await reopenAgent(tx, context, agent);
  if (next.ok) await wakeUp(tx, context.ids, agent.name, 0, context.now);
  return next.ok;
}

/** Mail that will not be read here any more goes up the line; a dead agent's mail waits for its recovery instead. */
async function handOnRest(tx: Tx, context: FollowContext, agent: Agent): Promise<void> {
  const heir = await nearestLiveAncestor(tx, agent.parentName);
  for (const mail of await tx.deliveries.inState(agent.name, ["queued"])) {
    if (!(await handOn(tx, context, mail, heir))) {
      await returnUnread(tx, context, mail);
      continue;
    }
    const sender = await tx.agents.byName(mail.message.fromAgent);
    if (sender !== undefined) await releaseIfDue(tx, context, sender);
  }
}

/**
 * The sender of a nudge, or of mail that was to start a turn, counts on its being read. The agent had finished without
 * having seen it, so the sender gets it back and decides.
 */
async function returnUnread(tx: Tx, context: FollowContext, { message, delivery }: Mail): Promise<void> {
  if (!delivery.wake && payloadFields(message.payload).nudge === undefined) return;
  const cancelled = nextDelivery(
    delivery,
    { kind: "cancel", reason: "returned: its reader has finished" },
    context.now,
  );
  if (!cancelled.ok) return;
  await tx.deliveries.update(cancelled.value);
  const { toAgent } = delivery;
  await post(tx, context, {
    ...fromEngine,
    runId: message.runId,
    address: message.fromAgent,
    recipients: [{ name: message.fromAgent, wake: true, reason: "an agent finished before it read this" }],
    subject: `Returned: ${toAgent} finished before it read "${message.subject.slice(0, longestSubject)}"`,
    body: `${message.body}\n\nTo give ${toAgent} more to do: ov mail send --to ${toAgent} --type dispatch --subject "<what>" --body "<the work>"`,
    type: "status",
    priority: "normal",
    threadId: message.threadId,
    replyTo: message.id,
    payload: null,
  });
}

const longestSubject = 100;

const patienceMs = 60 * 60_000;
const provider = "provider";

/** Failures in a row up to this turn that pass by themselves. */
export async function parksBefore(tx: Tx, agentId: string, turnId: string): Promise<number> {
  const ended = (await tx.turns.listFor(agentId)).filter(
    (turn) => turn.id !== turnId && turn.endedAt !== null && turn.startedAt !== null,
  );
  let count = 0;
  for (const turn of ended.toReversed()) {
    if (!isTransient(turn.failure)) break;
    count++;
  }
  return count;
}

/** Shows a parked agent as waiting, and tells the operator once when it takes longer than an hour. */
export async function settleParking(
  tx: Tx,
  context: ParkContext,
  agent: Agent,
  settlement: Settlement,
  end: TurnEnd,
): Promise<void> {
  const { now } = context;
  if (end.kind !== "failed" || !isTransient(end.cause) || settlement.next.kind !== "retry") {
    await tx.waits.remove(agent.name, "rate_limit", provider);
    return;
  }
  await tx.waits.add({ agentName: agent.name, kind: "rate_limit", ref: provider, since: now, deadline: null });
  const parked = (await tx.waits.of(agent.name)).find((wait) => wait.kind === "rate_limit");
  if (parked === undefined || now - parked.since < patienceMs) return;
  if (!(await notice(tx, { kind: "rate_limit", about: agent.id, key: String(parked.since) }))) return;
  await escalate(tx, context, agent, {
    subject: `${agent.name} has been parked for more than an hour: ${failures[end.cause].words}`,
    body: `It goes on by itself when that is over; its next try is at ${new Date(settlement.next.notBefore).toISOString()}. To give up on it: ov stop ${agent.name}`,
    severity: "warning",
    about: failures[end.cause].words,
  });
}

/** An agent that only a person can help is told to that person too, not only to the agent it works for. */
export async function settleHopeless(
  tx: Tx,
  context: ParkContext,
  agent: Agent,
  settlement: Settlement,
  { end, advice }: { readonly end: TurnEnd; readonly advice: string | null },
): Promise<void> {
  if (settlement.state !== "zombie" || end.kind !== "failed" || end.cause === "unknown") return;
  if (agent.parentName === "operator") return;
  if (!(await notice(tx, { kind: "hopeless", about: agent.id }))) return;
  await escalate(tx, context, agent, {
    subject: `${agent.name} ended: ${failures[end.cause].words}`,
    body: `${end.reason}${advice === null ? "" : `\n\nNext: ${advice}`}`,
    severity: "error",
    about: failures[end.cause].words,
  });
}

interface ParkContext {
  readonly ids: Ids;
  readonly now: number;
}

interface Told {
  readonly subject: string;
  readonly body: string;
  readonly severity: "warning" | "error";
  readonly about: string;
}

const escalate = (tx: Tx, context: ParkContext, { runId, taskId }: Agent, told: Told) =>
  tellOperator(tx, context, {
    runId,
    subject: told.subject,
    body: told.body,
    type: "escalation",
    priority: "high",
    payload: JSON.stringify({ severity: told.severity, taskId, context: told.about }),
  });
