import type { Message } from "../../domain/mail/types.ts";
import type { Tx } from "../../ports/store.ts";

/**
 * Only the word of somebody who was asked is an answer; a stranger who learned the id of a question must not be able to
 * settle it. What people and the engine say, they may say in any thread.
 */
export async function mayAnswer(
  tx: Tx,
  question: Pick<Message, "seq">,
  { fromAgent, fromAgentId }: Pick<Message, "fromAgent" | "fromAgentId">,
): Promise<boolean> {
  return fromAgentId === null || (await tx.deliveries.get(question.seq, fromAgent)) !== undefined;
}
