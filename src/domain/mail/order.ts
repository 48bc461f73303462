import { type Delivery, type Message, priorityRank } from "./types.ts";

/** Urgent first, then in the order of sending. Times never decide: many messages share a millisecond. */
export function byUrgency(a: Pick<Message, "priority" | "seq">, b: Pick<Message, "priority" | "seq">): number {
  return priorityRank[a.priority] - priorityRank[b.priority] || a.seq - b.seq;
}

/** The same order over deliveries. */
export function deliveriesByUrgency(
  a: Pick<Delivery, "priorityRank" | "messageSeq">,
  b: Pick<Delivery, "priorityRank" | "messageSeq">,
): number {
  return a.priorityRank - b.priorityRank || a.messageSeq - b.messageSeq;
}
