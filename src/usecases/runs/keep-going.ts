import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import type { Message } from "../../domain/mail/types.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { isAnyLanding } from "../agents/held-agents.ts";
import { hasTurnsAhead, remindIdle, whoCanAnswer } from "../agents/turns-ahead.ts";
import { notice, record } from "../events/record.ts";
import { fromEngine, post, tellOperator, wakeUp } from "../mail/post.ts";
import { stillnessOf } from "../operator/troubled-agents.ts";
import type { Context } from "../usecase.ts";
import { announceFinished, announcePhases } from "./announce-phases.ts";

type GoingContext = Pick<Context, "ids" | "now">;

/**
 * The one place that asks whether a run has something to decide for which nothing else will start a turn. Call it last
 * in each transaction that ends something: a turn (dropped ones too), an agent, its release, the way of a branch
 * through the queue, a wait. Each engine calls it once when it starts.
 */
export async function keepGoing(tx: Tx, context: GoingContext, runId: string | null): Promise<void> {
  const runs = new Set(runId === null ? [] : [runId]);
  for (const asker of await endVainWaits(tx, context)) runs.add(asker.runId);
  for (const id of runs) {
    const run = await tx.runs.get(id);
    if (run === undefined) continue;
    const everybody = newestPerName(await tx.agents.list({ runId: id }));
    await announceFinished(tx, context, run, everybody);
    await announcePhases(tx, context, run, everybody);
    await startForReports(tx, context, everybody);
    await tellOfStandstill(tx, context, run, everybody);
  }
}

/**
 * The same for every run with an agent that lives, and a turn for each of them whose mail wakes it and that has none: an
 * earlier version may have left it so. True when there is a turn to start by now.
 */
export async function wakeSleepers(tx: Tx, context: GoingContext): Promise<boolean> {
  const live = await tx.agents.list({ live: true });
  for (const { id, name } of live) {
    const due = await tx.deliveries.nextWaking(name);
    const turn = (await tx.turns.runningFor(id)) ?? (await tx.turns.queuedFor(id));
    if (due !== undefined && turn === undefined) await wakeUp(tx, context.ids, name, due, context.now);
  }
  for (const runId of new Set(live.map((agent) => agent.runId))) await keepGoing(tx, context, runId);
  return tx.turns.dueWork(context.now);
}

/**
 * Ends waits for an answer that can no longer come: the agent that was asked has ended. Where asker and asked wait for
 * each other, the asked one is told. Returns the agents that wait no longer.
 */
async function endVainWaits(tx: Tx, context: GoingContext): Promise<readonly Agent[]> {
  const freed: Agent[] = [];
  for (const { agentName, kind, ref } of await tx.waits.ofKind("reply")) {
    const asker = await tx.agents.byName(agentName);
    const names = await whoCanAnswer(tx, ref);
    if (names.length > 0) {
      if (asker !== undefined) await askAgain(tx, context, { asker, question: ref, names });
      continue;
    }
    await tx.waits.remove(agentName, kind, ref);
    await remindIdle(tx, context, agentName);
    if (asker !== undefined) freed.push(asker);
  }
  return freed;
}

interface OpenQuestion {
  readonly asker: Agent;
  readonly question: string;
  /** The agents that can answer it. */
  readonly names: readonly string[];
}

/** Tells those once who have read a question, wait for nothing but its asker, and would sleep as long as it does. */
async function askAgain(tx: Tx, context: GoingContext, { asker, question, names }: OpenQuestion): Promise<void> {
  if (await hasTurnsAhead(tx, asker.name)) return;
  const asked = await tx.messages.get(question);
  for (const name of names) {
    const agent = await tx.agents.byName(name);
    if (asked === undefined || agent === undefined || hasEnded(agent)) continue;
    if (await notice(tx, { kind: "unanswered", about: question, key: agent.id })) {
      await post(tx, context, { ...fromEngine, ...unanswered(asked, agent) });
    }
  }
}

const unanswered = ({ id, fromAgent, subject }: Message, { name, runId }: Agent) =>
  ({
    runId,
    address: name,
    recipients: [{ name, wake: true, reason: "an agent waits for its answer, and nothing else goes on for either" }],
    subject: `[ENGINE] ${fromAgent} waits for your answer`,
    body: `${fromAgent} asked "${subject}" (${id}) and does nothing until you answer, and you wait for ${fromAgent}. Answer it: ov mail reply ${id} --body "<answer>"`,
    type: "status",
    priority: "high",
    replyTo: id,
  }) as const;

/**
 * The report of a lead whose branches land is held until they have landed (`wakeUps`). Once nothing of its team is at work
 * or landing, the turn that the report asked for is due.
 */
async function startForReports(tx: Tx, context: GoingContext, everybody: readonly Agent[]): Promise<void> {
  const parents = new Set(everybody.map(({ parentName }) => parentName));
  for (const reader of everybody) {
    if (!parents.has(reader.name) || hasEnded(reader)) continue;
    const queued = await tx.turns.queuedFor(reader.id);
    if (queued?.trigger !== "mail" || queued.notBefore <= context.now) continue;
    for (const { message, delivery } of await tx.deliveries.inState(reader.name, ["queued"])) {
      if (message.type !== "worker_done" || !delivery.wake || !parents.has(message.fromAgent)) continue;
      const team = everybody.filter(({ parentName }) => parentName === message.fromAgent);
      if (team.some((one) => !hasEnded(one)) || (await isAnyLanding(tx, team))) continue;
      await wakeUp(tx, context.ids, reader.name, 0, context.now);
    }
  }
}

/**
 * Tells the operator once of a coordinator that ended its turn although nothing else goes on in its run, and of an
 * agent that waits for an answer which no turn will give. No agent will mention it, so the run would stand still
 * unnoticed.
 */
async function tellOfStandstill(tx: Tx, context: GoingContext, run: Run, everybody: readonly Agent[]): Promise<void> {
  if (run.status !== "active" || run.objective === null) return;
  const asking = new Set((await tx.waits.ofKind("reply")).map(({ agentName }) => agentName));
  for (const agent of everybody) {
    if (hasEnded(agent) || (agent.name !== run.coordinatorName && !asking.has(agent.name))) continue;
    const still = await stillnessOf(tx, agent);
    const last = still === undefined ? undefined : (await tx.turns.listFor(agent.id)).at(-1);
    if (still === undefined || last === undefined) continue;
    if (!(await notice(tx, { kind: "stands_still", about: agent.id, key: last.id }))) continue;
    const { problem, advice } = still;
    await record(tx, context.now, {
      source: "engine",
      agent,
      type: "stands_still",
      level: "warn",
      data: { problem, advice },
    });
    await tellOperator(tx, context, {
      runId: run.id,
      subject: `${agent.name} stands still, and run ${run.id} with it`,
      body: `${agent.name}: ${problem}\n\nNext: ${advice}`,
      type: "escalation",
      priority: "high",
      payload: JSON.stringify({ severity: "warning", taskId: agent.taskId, context: problem }),
    });
  }
}
