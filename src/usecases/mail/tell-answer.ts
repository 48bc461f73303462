import type { Message } from "../../domain/mail/types.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";
import { nearestLiveAncestor } from "./hand-on.ts";
import { fromEngine, post } from "./post.ts";

/**
 * Tells the operator's answer also to the agent above the one that asked. Agents ask the operator directly about taste
 * and scope, and the agent that answers for their work has to know the answer. It starts no turn.
 */
export async function tellAnswerAbove(tx: Tx, context: Context, question: Message, answer: string): Promise<void> {
  const asker = await tx.agents.byName(question.fromAgent);
  if (asker === undefined || asker.runId !== question.runId) return;
  const above = await tx.agents.byName(await nearestLiveAncestor(tx, asker.parentName));
  if (above === undefined || above.runId !== asker.runId || above.name === asker.name) return;
  await post(tx, context, {
    ...fromEngine,
    runId: asker.runId,
    address: above.name,
    recipients: [{ name: above.name, wake: false }],
    subject: `the operator answered ${asker.name}: ${question.subject}`.slice(0, 200),
    body: `${asker.name} asked the operator "${question.subject}" (${question.id}) and was answered:\n${answer}`,
    type: "status",
    priority: "normal",
    payload: JSON.stringify({ answerTo: question.id }),
  });
}
