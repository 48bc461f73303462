import type { Agent } from "../../domain/agent/agent.ts";
import { failures, isTransient } from "../../domain/turn/failure.ts";
import type { Settlement, TurnEnd } from "../../domain/turn/settle.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Tx } from "../../ports/store.ts";
import { notice } from "../../usecases/events/record.ts";
import { tellOperator } from "../../usecases/mail/post.ts";

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
