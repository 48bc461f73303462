import { nearest } from "../name/nearest.ts";
import { type InvalidInput, invalid } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";

/** The first fourteen are the protocol other tools know; the last four are ours and are stored like any other. */
export const mailTypes = [
  "status",
  "question",
  "result",
  "error",
  "worker_done",
  "worker_died",
  "merge_ready",
  "merged",
  "merge_failed",
  "escalation",
  "health_check",
  "dispatch",
  "assign",
  "decision_gate",
  "review",
  "decision",
  "shutdown",
  "spec_ready",
] as const;
export type MailType = (typeof mailTypes)[number];

export const isMailType = (text: string): text is MailType => mailTypes.some((known) => known === text);

/** Most urgent last, as a person would list them; `priorityRank` is what orders. */
export const priorities = ["low", "normal", "high", "urgent"] as const;
export type Priority = (typeof priorities)[number];

export const isPriority = (text: string): text is Priority => priorities.some((known) => known === text);

/** Stored with each delivery so that an index can sort by it: smaller comes first. */
export const priorityRank: Readonly<Record<Priority, number>> = { urgent: 0, high: 1, normal: 2, low: 3 };

/** Mail of every type wakes when its priority is high or urgent, and is announced in a banner. */
export const isPressing = (priority: Priority): boolean => priorityRank[priority] <= priorityRank.high;

/** One piece of mail as it was sent. Immutable: everything that happens to it afterwards happens to its deliveries. */
export interface Message {
  /** Order of commits; threads and inboxes sort by it, never by time. */
  readonly seq: number;
  readonly id: string;
  readonly runId: string | null;
  readonly fromAgent: string;
  readonly fromAgentId: string | null;
  /** The sender's turn that was running when the message was stored. */
  readonly turnId: string | null;
  /** As written by the sender: a name or a group. */
  readonly address: string;
  readonly subject: string;
  readonly body: string;
  readonly type: MailType;
  readonly priority: Priority;
  /** Id of the first message of the thread; its own id on the first one. */
  readonly threadId: string;
  readonly replyTo: string | null;
  readonly hop: number;
  readonly payload: string | null;
  readonly dedupeKey: string | null;
  readonly expectsReply: boolean;
  readonly verified: boolean;
  /** Where the whole body is kept when it was too long to send. */
  readonly blobPath: string | null;
  readonly createdAt: number;
}

/** `delivery.ts` has the moves between them. */
export const deliveryStates = ["queued", "claimed", "delivered", "acked", "dead", "cancelled"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** Nothing more happens to a delivery in one of these by itself. */
export const settledDeliveries = ["acked", "dead", "cancelled"] as const satisfies readonly DeliveryState[];

/** One message on its way to one recipient. */
export interface Delivery {
  readonly messageSeq: number;
  readonly toAgent: string;
  readonly state: DeliveryState;
  readonly priorityRank: number;
  readonly wake: boolean;
  /** Why it starts a turn; null where it starts none. */
  readonly wakeReason: string | null;
  /** Failed attempts so far. */
  readonly attempts: number;
  readonly notBefore: number;
  readonly claimedBy: string | null;
  /** Null for a turn's claim: only the turn's settling frees it. */
  readonly claimExpires: number | null;
  readonly turnId: string | null;
  readonly channel: string | null;
  /** The recipient may have seen it before. */
  readonly redelivered: boolean;
  readonly deliveredAt: number | null;
  readonly ackedAt: number | null;
  readonly lastError: string | null;
  readonly updatedAt: number;
}

/** A mail type as typed. */
export function parseType(text: string): Result<MailType, InvalidInput> {
  if (isMailType(text)) return ok(text);
  return no(unknownWord("type", "is not a mail type", text, mailTypes));
}

/** A priority as typed. */
export function parsePriority(text: string): Result<Priority, InvalidInput> {
  if (isPriority(text)) return ok(text);
  return no(unknownWord("priority", "is not a priority", text, priorities));
}

function unknownWord(field: string, problem: string, value: string, allowed: readonly string[]): InvalidInput {
  const near = nearest(value, allowed);
  return invalid(field, problem, { value, allowed, ...(near === undefined ? {} : { nearest: near }) });
}
