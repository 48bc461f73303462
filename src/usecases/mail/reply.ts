import { planReply } from "../../domain/mail/reply.ts";
import { parsePriority, parseType } from "../../domain/mail/types.ts";
import { invalid } from "../../domain/refusal.ts";
import { no } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import { doWithout } from "../runs/end-after-review.ts";
import { doneWithout } from "../runs/review-question.ts";
import { waiveByAnswer, waiverIn } from "../runs/waive-by-answer.ts";
import type { UseCase } from "../usecase.ts";
import { checkWritten, prepareWritten, type WrittenRequest, writtenFields, writtenParts } from "./compose.ts";
import { isAuthorReplaced, messageInSight } from "./find-message.ts";
import { markRead } from "./inbox.ts";
import { findSender } from "./sender.ts";
import { type SendReply, submit } from "./submit.ts";
import { tellAnswerAbove } from "./tell-answer.ts";
import { asks } from "./waits.ts";

export interface ReplyRequest extends WrittenRequest {
  /** The message that is answered. */
  readonly id: string;
}

/**
 * Answers a message in its thread. A reply to a question or decision ends its author's wait. It stands apart from sending,
 * which agents do often: an answer may decide about a run, and loads the rules for that.
 */
export const replyToMail: UseCase<ReplyRequest, SendReply> = {
  kind: "write",
  request: fields({ id: text, body: text }, writtenFields),
  prepare: prepareWritten,
  run: async (tx, context, request) => {
    const written = checkWritten({ body: request.body }, request.dedupeKey);
    if (!written.ok) return written;
    const type = parseType(request.type ?? "status");
    if (!type.ok) return type;
    const priority = request.priority === undefined ? undefined : parsePriority(request.priority);
    if (priority?.ok === false) return priority;
    const original = await messageInSight(tx, context.caller, request.id);
    if (!original.ok) return original;
    const sender = await findSender(tx, context.caller, request.from);
    if (!sender.ok) return sender;
    const plan = planReply(original.value, {
      replier: sender.value.name,
      type: type.value,
      ...(priority === undefined ? {} : { priority: priority.value }),
    });
    if (plan.address === original.value.fromAgent && (await isAuthorReplaced(tx, original.value))) {
      const { fromAgent, runId } = original.value;
      const problem = `was written by ${fromAgent} of ${runId}, which has ended; ${fromAgent} is an agent of another run now. Nothing was sent; write to it anew: ov mail send --to ${fromAgent}`;
      return no(invalid("id", problem, { value: request.id }));
    }
    const { threadId, replyTo, hop } = plan;
    const isDecision = sender.value.name === "operator" && plan.answers;
    const word = { body: request.body, payload: request.payload ?? null };
    const review = isDecision ? await doneWithout(tx, original.value, word) : undefined;
    const waiver = isDecision ? await waiverIn(tx, original.value, word) : undefined;
    const sent = await submit(tx, context, sender.value, {
      // As with `ov decide`: no coordinator has to act on an answer that ends the run.
      to: review?.endsNow === true ? "system" : plan.address,
      subject: plan.subject,
      ...writtenParts(request),
      type: plan.type,
      priority: plan.priority,
      expectsReply: asks(plan.type),
      wake: undefined,
      strict: false,
      allowEmpty: false,
      answer: { threadId, replyTo, hop, awaitedBy: plan.answers ? original.value.fromAgent : null },
    });
    if (sent.ok && isDecision && !sent.value.duplicate) {
      await tellAnswerAbove(tx, context, original.value, request.body);
      if (review !== undefined) await doWithout(tx, context, review);
      await waiveByAnswer(tx, context, waiver);
    }
    // A person who answers has read it. An agent's mail is settled with its turn.
    if (sent.ok && context.caller.kind !== "agent") await markRead(tx, context.now, original.value, sender.value.name);
    return sent;
  },
};
