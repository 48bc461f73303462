import type { Delivery } from "../../domain/mail/types.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import { visibleLine } from "../../domain/text/visible.ts";
import type { TurnReasons } from "../../usecases/agents/turn-reasons.ts";
import type { Letter, Thread } from "../../usecases/mail/read-threads.ts";
import type { SendReply } from "../../usecases/mail/submit.ts";
import type { TrackedMessage } from "../../usecases/mail/tracked-message.ts";
import type { DecideReply } from "../../usecases/operator/decide.ts";
import type { OpenDecision, OpenQuestion } from "../../usecases/operator/decisions.ts";
import { iso, isoUnlessZero } from "../values.ts";

/**
 * A message. Two keys are present only where the caller looked them up: `capability` of the sender, and `unverified`.
 */
export const messageView = (message: TrackedMessage) => ({
  id: message.id,
  from: message.from,
  ...(message.capability === undefined ? {} : { capability: message.capability }),
  to: message.to,
  subject: message.subject,
  body: message.body,
  type: message.type,
  priority: message.priority,
  threadId: message.threadId,
  replyTo: message.replyTo,
  payload: message.payload,
  read: message.read,
  createdAt: iso(message.createdAt),
  redelivered: message.redelivered,
  // Whether the identity of the sender is known. Only gates verify anything.
  senderConfirmed: message.verified,
  state: message.state,
  // Both names have readers: `blobPath` those of `ov mail`, `wholeText` those of the tool `inbox`.
  blobPath: message.blobPath,
  wholeText: message.blobPath,
  ...(message.unverified === undefined ? {} : { unverified: message.unverified }),
});

/** What a look into an inbox hands out. */
export const inboxView = ({
  messages,
  remaining,
}: {
  readonly messages: readonly TrackedMessage[];
  readonly remaining: number;
}) => ({ messages: messages.map(messageView), ...(remaining === 0 ? {} : { remaining }) });

/** Why turns of an agent start, newest first. */
export const turnReasonsView = ({ agentName, turns }: TurnReasons) => ({
  agentName,
  turns: turns.map(({ id, status, trigger, queuedAt, startedAt, because }) => ({
    id,
    status,
    trigger,
    because,
    queuedAt: iso(queuedAt),
    startedAt: iso(startedAt),
  })),
});

/** A message on its way to one recipient. */
export const deliveryView = (delivery: Delivery) => ({
  to: delivery.toAgent,
  state: delivery.state,
  wake: delivery.wake,
  wakeReason: delivery.wakeReason,
  attempts: delivery.attempts,
  redelivered: delivery.redelivered,
  claimedBy: delivery.claimedBy,
  claimExpires: isoUnlessZero(delivery.claimExpires),
  turnId: delivery.turnId,
  channel: delivery.channel,
  notBefore: isoUnlessZero(delivery.notBefore),
  deliveredAt: isoUnlessZero(delivery.deliveredAt),
  ackedAt: isoUnlessZero(delivery.ackedAt),
  lastError: delivery.lastError,
});

export const deadLetterView = ({
  message,
  delivery,
}: {
  readonly message: TrackedMessage;
  readonly delivery: Delivery;
}) => ({ ...messageView(message), delivery: deliveryView(delivery) });

/** A thread in a list of the operator's. */
export const threadView = ({ id, subject, newest, messages, asks, dead, seen, away }: Thread) => ({
  id,
  subject,
  from: newest.from,
  to: newest.to,
  type: newest.type,
  priority: newest.priority,
  state: newest.state,
  newestId: newest.id,
  newestAt: iso(newest.createdAt),
  messages,
  asks,
  dead,
  seen,
  away,
});

/** A message as the operator reads it: with its deliveries, and with its question to the operator. */
export const letterView = ({ message, deliveries, seen, asks }: Letter) => ({
  ...messageView(message),
  deliveries: deliveries.map(deliveryView),
  seen,
  asks,
});

/** When readers get a message that starts no turn, a clause for each sort of readers. */
export function noTurnWords({ startsNoTurn, shownAtFinish, queued }: SendReply): readonly string[] {
  // The queue goes on by itself: the reader of such a message has nothing to do.
  if (queued !== null) return [];
  const clause = (names: readonly string[], one: string, several: string): readonly string[] =>
    names.length === 0 ? [] : [`${names.map(visibleLine).join(", ")} ${names.length === 1 ? one : several}`];
  const later = startsNoTurn.filter((name) => !shownAtFinish.includes(name));
  return [
    ...clause(
      shownAtFinish,
      "works, and is shown it before it can finish",
      "work, and are shown it before they can finish",
    ),
    ...clause(later, "gets it with the next one", "get it with the next one"),
  ];
}

/** What sending answers. A message to a group is counted as well. */
export const sentView = ({
  id,
  group,
  recipients,
  woken,
  startsNoTurn,
  shownAtFinish,
  duplicate,
  warnings,
}: SendReply) => ({
  id,
  ...(group ? { messageIds: id === null ? [] : [id], recipientCount: recipients.length } : {}),
  recipients,
  woken,
  startsNoTurn,
  shownAtFinish,
  ...(duplicate ? { duplicate } : {}),
  ...(warnings.length > 0 ? { warnings } : {}),
});

/** A question with options that waits for the operator. */
export const decisionView = (decision: OpenDecision) => ({
  id: decision.id,
  kind: decision.kind,
  from: decision.from,
  subject: decision.subject,
  context: decision.context,
  options: decision.options,
  deadline: decision.deadline,
  runId: decision.runId,
  createdAt: iso(decision.createdAt),
});

/** A question without options, with the command that answers it. */
export const questionView = (question: OpenQuestion) => ({
  id: question.id,
  from: question.from,
  subject: question.subject,
  body: question.body,
  runId: question.runId,
  createdAt: iso(question.createdAt),
  command: replyCommand(question),
});

export const replyCommand = ({ id }: Pick<OpenQuestion, "id">): string =>
  `ov mail reply ${shellWord(id)} --body "<answer>"`;

/** What became of a decision. `gone`: the agent that has ended and will not act on it. `ended`: the run that
 * ended with it. */
export const decidedView = (decided: DecideReply) => ({
  id: decided.id,
  kind: decided.kind,
  option: decided.option,
  messageId: decided.messageId,
  to: decided.to,
  woken: decided.woken,
  ...(decided.gone === undefined ? {} : { gone: decided.gone }),
  ...(decided.ended === undefined ? {} : { ended: decided.ended }),
  ...(decided.noLongerLanded === undefined || decided.noLongerLanded.length === 0
    ? {}
    : { noLongerLanded: decided.noLongerLanded }),
});
