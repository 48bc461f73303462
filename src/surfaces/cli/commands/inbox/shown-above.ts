import { mergeRef } from "../../../../domain/merge/entry.ts";
import { mergeAsked } from "../../../../domain/merge/outcome-mail.ts";
import type { MessageView } from "../../../../usecases/mail/view.ts";
import type { OpenDecision } from "../../../../usecases/operator/decisions.ts";

/**
 * Is this the message behind one of these decisions or questions, or about one of these agents in trouble? Each is shown once, where it can be made: the question of the merge
 * queue is the same as the approval of the merge that it asks about, and of no other.
 */
export function isShownAbove(
  view: MessageView,
  decisions: readonly Pick<OpenDecision, "id">[],
  troubled: readonly string[] = [],
): boolean {
  if (view.type === "worker_died") return troubled.includes(view.from);
  if (view.type === "question") return decisions.some(({ id }) => id === view.id || id === view.replyTo);
  if (view.type !== "decision_gate") return false;
  const merge = mergeAsked({ payload: view.payload, fromAgent: view.from });
  const asks = merge === undefined ? view.id : mergeRef(merge);
  return decisions.some(({ id }) => id === asks);
}
