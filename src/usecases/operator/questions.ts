import { hasEnded } from "../../domain/agent/agent.ts";
import type { Message } from "../../domain/mail/types.ts";
import type { Tx } from "../../ports/store.ts";

/** A question that an agent asked the operator and waits on. */
export interface OpenQuestion {
  /** What `ov mail reply` takes. */
  readonly id: string;
  readonly from: string;
  readonly subject: string;
  readonly body: string;
  readonly runId: string | null;
  readonly createdAt: number;
}

/**
 * The questions that wait for the operator, oldest first. An agent that asked waits until it is answered, whether or not
 * its message was read, so they are found by the waits. Decisions are asked about elsewhere.
 */
export async function openQuestions(
  tx: Tx,
  { runId }: { readonly runId?: string | undefined } = {},
): Promise<readonly OpenQuestion[]> {
  const found: OpenQuestion[] = [];
  for (const { agentName, ref } of await tx.waits.ofKind("reply")) {
    const message = await tx.messages.get(ref);
    if (message === undefined || message.type === "decision_gate") continue;
    if (runId !== undefined && message.runId !== runId) continue;
    const asker = await tx.agents.byName(agentName);
    if (asker === undefined || hasEnded(asker) || !(await reachedOperator(tx, message))) continue;
    const { id, fromAgent: from, subject, body, createdAt } = message;
    found.push({ id, from, subject, body, runId: message.runId, createdAt });
  }
  return found;
}

/** Asked for by the asker, or handed on because whoever was asked has ended. */
async function reachedOperator(tx: Tx, { id, seq, threadId, fromAgent }: Message): Promise<boolean> {
  if ((await tx.deliveries.get(seq, "operator")) !== undefined) return true;
  for (const copy of await tx.messages.thread(threadId)) {
    const handedOn = copy.replyTo === id && copy.fromAgent === fromAgent;
    if (handedOn && (await tx.deliveries.get(copy.seq, "operator")) !== undefined) return true;
  }
  return false;
}
