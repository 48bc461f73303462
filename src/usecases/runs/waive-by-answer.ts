import { payloadFields } from "../../domain/mail/payload.ts";
import type { Message } from "../../domain/mail/types.ts";
import { criterionToWaive } from "../../domain/run/checklist.ts";
import type { Tx } from "../../ports/store.ts";
import { answerTo, closingOf, optionsOf } from "../operator/decisions.ts";
import type { Context } from "../usecase.ts";
import { recordWaiver } from "./criteria.ts";

export interface WaiverByAnswer {
  readonly runId: string;
  readonly number: number;
  readonly reason: string;
}

/**
 * The criterion that the operator waives by this answer to a question of the coordinator, before the answer is stored.
 * Only an offered option counts, word for word, because the operator has read its effect. Undefined for any other
 * answer, and for a question that was answered or taken back before.
 */
export async function waiverIn(
  tx: Tx,
  question: Message,
  answer: Pick<Message, "body" | "payload">,
): Promise<WaiverByAnswer | undefined> {
  const { option, note } = payloadFields(answer.payload);
  const word = typeof option === "string" ? option : answer.body.trim();
  const number = optionsOf(question).includes(word) ? criterionToWaive(word) : undefined;
  const run = number === undefined || question.runId === null ? undefined : await tx.runs.get(question.runId);
  if (number === undefined || run?.status !== "active" || run.coordinatorName !== question.fromAgent) return undefined;
  const criterion = (await tx.criteria.of(run.id)).find((one) => one.number === number);
  if (criterion === undefined || criterion.waivedAt !== null) return undefined;
  if ((await answerTo(tx, question)) !== undefined || (await closingOf(tx, question)) !== undefined) return undefined;
  const why = typeof note === "string" && note.trim() !== "" ? note.trim() : question.subject;
  return { runId: run.id, number, reason: `decided in ${question.id}: ${why}` };
}

/** Acts on such an answer, once it is stored. The answer itself tells the coordinator. */
export async function waiveByAnswer(tx: Tx, context: Context, waiver: WaiverByAnswer | undefined): Promise<void> {
  if (waiver !== undefined) await recordWaiver(tx, context, waiver);
}
