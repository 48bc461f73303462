import type { MailType, Message, Priority } from "./types.ts";

export interface ReplyOptions {
  readonly replier: string;
  readonly type?: MailType;
  readonly priority?: Priority;
}

/** Everything of a reply that follows from the message it answers. */
export interface ReplyPlan {
  readonly address: string;
  readonly subject: string;
  readonly type: MailType;
  readonly priority: Priority;
  readonly threadId: string;
  readonly replyTo: string;
  readonly hop: number;
  /** It settles what the author of the original waits for. */
  readonly answers: boolean;
}

const awaited: readonly MailType[] = ["question", "decision_gate"];

/**
 * Plans a reply. A reply to one's own message goes to its recipients; any other reply goes to its author alone. The
 * type is never copied: answering a `worker_done` must not complete the agent that answers.
 */
export function planReply(original: Message, options: ReplyOptions): ReplyPlan {
  const own = options.replier === original.fromAgent;
  return {
    address: own ? original.address : original.fromAgent,
    subject: replySubject(original.subject),
    type: options.type ?? "status",
    priority: options.priority ?? original.priority,
    threadId: original.threadId,
    replyTo: original.id,
    hop: original.hop + 1,
    answers: !own && (original.expectsReply || awaited.includes(original.type)),
  };
}

/** One `Re:` however long the conversation. */
export function replySubject(subject: string): string {
  return `Re: ${subject.replace(/^(?:\s*re:)+\s*/i, "")}`;
}
