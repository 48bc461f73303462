import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import type { MailType, Message } from "../../domain/mail/types.ts";
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
  await tellAbove(tx, context, asker, {
    subject: `the operator answered ${asker.name}: ${question.subject}`,
    body: `${asker.name} asked the operator "${question.subject}" (${question.id}) and was answered:\n${answer}`,
    payload: JSON.stringify({ answerTo: question.id }),
  });
}

/** The operator's words by which an agent works from then on. */
const directs: readonly MailType[] = ["status", "assign", "dispatch"];

/** Tells what the operator wrote to an agent of its own accord also to the agent above, for the same reason. */
export async function tellWordsAbove(
  tx: Tx,
  context: Context,
  {
    threadId,
    readers,
    type,
    subject,
    body,
  }: Pick<Message, "threadId" | "type" | "subject" | "body"> & { readonly readers: readonly string[] },
): Promise<void> {
  const [name = "", ...more] = readers;
  const agent = more.length > 0 || !directs.includes(type) ? undefined : await tx.agents.byName(name);
  if (agent === undefined || hasEnded(agent)) return;
  await tellAbove(tx, context, agent, {
    subject: `the operator wrote to ${name}: ${subject}`,
    body: `${body}\n\n${name} acts on it; judge its work by it.`,
    threadId,
  });
}

async function tellAbove(
  tx: Tx,
  context: Context,
  agent: Agent,
  words: { readonly subject: string; readonly body: string; readonly payload?: string; readonly threadId?: string },
): Promise<void> {
  const above = await tx.agents.byName(await nearestLiveAncestor(tx, agent.parentName));
  if (above === undefined || above.runId !== agent.runId || above.name === agent.name) return;
  await post(tx, context, {
    ...fromEngine,
    ...words,
    subject: words.subject.slice(0, 200),
    runId: agent.runId,
    address: above.name,
    recipients: [{ name: above.name, wake: false }],
    type: "status",
    priority: "normal",
  });
}
