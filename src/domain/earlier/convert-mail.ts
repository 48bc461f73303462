import { freshDelivery } from "../mail/delivery.ts";
import { type Delivery, type Message, mailTypes, priorities, priorityRank } from "../mail/types.ts";
import { oneOf, textIn, textOf, timeOf } from "./columns.ts";
import type { EarlierValues } from "./earlier-project.ts";

export interface EarlierMail {
  readonly message: Omit<Message, "seq">;
  readonly delivery: Omit<Delivery, "messageSeq">;
  /** The part of the message that this version does not know, and what became of it. */
  readonly remark: string | undefined;
}

/** A message and its delivery. A read message is acknowledged; an unread message waits and starts no turn. */
export function mailOf(values: EarlierValues, runId: string | null): EarlierMail {
  const id = textOf(values, "id");
  const from = textOf(values, "from_agent");
  const to = textOf(values, "to_agent");
  const written = textOf(values, "type");
  const type = oneOf(mailTypes, written);
  const priority = oneOf(priorities, textOf(values, "priority")) ?? "normal";
  const createdAt = timeOf(values, "created_at");
  const threadId = textIn(values, "thread_id");
  const isRead = values.read === 1 || values.read === 1n || values.read === true;
  return {
    remark: type === undefined ? `was of the type ${JSON.stringify(written)}, and is a status now` : undefined,
    message: {
      id,
      runId,
      fromAgent: from,
      fromAgentId: null,
      turnId: null,
      address: to,
      subject: textIn(values, "subject") ?? "",
      body: textIn(values, "body") ?? "",
      type: type ?? "status",
      priority,
      threadId: threadId ?? id,
      replyTo: threadId,
      hop: 0,
      payload: textIn(values, "payload"),
      dedupeKey: null,
      expectsReply: false,
      verified: false,
      blobPath: null,
      createdAt,
    },
    delivery: {
      ...freshDelivery,
      // A person's own session had this name.
      toAgent: to === "orchestrator" ? "operator" : to,
      priorityRank: priorityRank[priority],
      wake: false,
      updatedAt: createdAt,
      ...(isRead ? { state: "acked", channel: "inbox", deliveredAt: createdAt, ackedAt: createdAt } : {}),
    },
  };
}
