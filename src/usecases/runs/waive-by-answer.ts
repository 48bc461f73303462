import { payloadFields } from "../../domain/mail/payload.ts";
import type { Message } from "../../domain/mail/types.ts";
import { checklistOf, criteriaToWaive } from "../../domain/run/checklist.ts";
import type { Tx } from "../../ports/store.ts";
import { answerTo, closingOf, optionsOf } from "../operator/decisions.ts";
import type { Context } from "../usecase.ts";
import { recordWaiver } from "./criteria.ts";

export interface WaiverByAnswer {
  readonly runId: string;
  readonly numbers: readonly number[];
  readonly reason: string;
}

/**
 * The criteria that the operator waives by this answer to a question of the coordinator, before the answer is stored.
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
  const named = optionsOf(question).includes(word) ? criteriaToWaive(word) : [];
  const run = named.length === 0 || question.runId === null ? undefined : await tx.runs.get(question.runId);
  if (run?.status !== "active" || run.coordinatorName !== question.fromAgent) return undefined;
  const numbers = checklistOf(run, await tx.criteria.of(run.id))
    .filter(({ number, waivedAt }) => waivedAt === null && named.includes(number))
    .map(({ number }) => number);
  if (numbers.length === 0) return undefined;
  if ((await answerTo(tx, question)) !== undefined || (await closingOf(tx, question)) !== undefined) return undefined;
  const why = typeof note === "string" && note.trim() !== "" ? note.trim() : question.subject;
  return { runId: run.id, numbers, reason: `decided in ${question.id}: ${why}` };
}

/** Acts on such an answer, once it is stored. The answer itself tells the coordinator. */
export async function waiveByAnswer(tx: Tx, context: Context, waiver: WaiverByAnswer | undefined): Promise<void> {
  const { runId = "", numbers = [], reason = "" } = waiver ?? {};
  for (const number of numbers) await recordWaiver(tx, context, { runId, number, reason });
}
