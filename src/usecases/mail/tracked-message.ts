import type { Letter } from "../../domain/mail/letter.ts";
import type { Delivery, DeliveryState, Message } from "../../domain/mail/types.ts";

/** A message together with how far it has come; for one recipient, or for all of them. */
export interface TrackedMessage
  extends Pick<
    Message,
    "id" | "subject" | "body" | "type" | "priority" | "threadId" | "replyTo" | "payload" | "blobPath"
  > {
  readonly from: string;
  /** The sender's, when it was looked up; null for the operator, the engine and strangers. */
  readonly capability?: string | null;
  /** The recipient that was asked about, else the address as written. */
  readonly to: string;
  readonly read: boolean;
  readonly redelivered: boolean;
  readonly verified: boolean;
  readonly state: DeliveryState;
  readonly createdAt: number;
  /** The work behind an unverified report, when it was looked up. */
  readonly unverified?: string;
}

/** `to` names the recipient when only one of them was asked about. */
export function trackedMessage(
  message: Message,
  deliveries: readonly Delivery[],
  to = message.address,
): TrackedMessage {
  const counted = deliveries.filter(({ state }) => state !== "cancelled");
  return {
    ...wordsOf(message),
    to,
    read: counted.length > 0 && counted.every(({ state }) => isRead(state)),
    redelivered: counted.some(({ redelivered }) => redelivered),
    state: leastAdvanced(deliveries),
  };
}

/** A message in the moment it is taken out of an inbox: handed out, and not read before that. */
export const handedOutMessage = (
  { message, capability, redelivered, state, unverified }: Letter & { readonly state: DeliveryState },
  to: string,
): TrackedMessage => ({
  ...wordsOf(message),
  capability,
  to,
  read: false,
  redelivered,
  state,
  ...(unverified === undefined ? {} : { unverified }),
});

function wordsOf(message: Message): Omit<TrackedMessage, "to" | "read" | "redelivered" | "state"> {
  const { id, subject, body, type, priority, threadId, replyTo, payload, blobPath, verified, createdAt } = message;
  return {
    id,
    from: message.fromAgent,
    subject,
    body,
    type,
    priority,
    threadId,
    replyTo,
    payload,
    blobPath,
    verified,
    createdAt,
  };
}

export const isRead = (state: DeliveryState): boolean => state === "delivered" || state === "acked";

const order: readonly DeliveryState[] = ["dead", "queued", "claimed", "delivered", "acked", "cancelled"];

/** The state of a message with several deliveries: that of the delivery that most needs attention. */
const leastAdvanced = (deliveries: readonly Delivery[]): DeliveryState =>
  order.find((state) => deliveries.some((delivery) => delivery.state === state)) ?? "cancelled";
