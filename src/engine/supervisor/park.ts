import type { Agent } from "../../domain/agent/agent.ts";
import type { Settlement, TurnEnd } from "../../domain/turn/settle.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Tx } from "../../ports/store.ts";
import { post } from "../../usecases/mail/post.ts";

const patienceMs = 60 * 60_000;
const provider = "provider";

/** Rate limits in a row up to this turn. */
export async function parksBefore(tx: Tx, agentId: string, turnId: string): Promise<number> {
  const ended = (await tx.turns.listFor(agentId)).filter(
    (turn) => turn.id !== turnId && turn.endedAt !== null && turn.startedAt !== null,
  );
  let count = 0;
  for (const turn of ended.toReversed()) {
    if (turn.error !== "rate-limited") break;
    count++;
  }
  return count;
}

/** Shows a parked agent as waiting, and tells the operator once when it takes longer than an hour. */
export async function settleParking(
  tx: Tx,
  context: { readonly ids: Ids; readonly now: number },
  agent: Agent,
  settlement: Settlement,
  end: TurnEnd,
): Promise<void> {
  const { ids, now } = context;
  if (end.kind !== "rate-limited" || settlement.next.kind !== "retry") {
    await tx.waits.remove(agent.name, "rate_limit", provider);
    return;
  }
  await tx.waits.add({ agentName: agent.name, kind: "rate_limit", ref: provider, since: now, deadline: null });
  const parked = (await tx.waits.of(agent.name)).find((wait) => wait.kind === "rate_limit");
  if (parked === undefined || now - parked.since < patienceMs) return;
  if (!(await tx.notices.once(agent.id, "rate_limit", String(parked.since), null))) return;
  await post(
    tx,
    { ids, now },
    {
      from: "system",
      fromAgentId: null,
      byEngine: true,
      runId: agent.runId,
      verified: true,
      address: "operator",
      recipients: [{ name: "operator", wake: false }],
      subject: `${agent.name} has been parked by a rate limit for more than an hour`,
      body: `It goes on by itself when the limit lifts; its next try is at ${new Date(settlement.next.notBefore).toISOString()}. To give up on it: ov stop ${agent.name}`,
      type: "escalation",
      priority: "high",
      payload: JSON.stringify({ severity: "warning", taskId: agent.taskId, context: "rate limit" }),
    },
  );
}
