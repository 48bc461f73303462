import { hasEnded } from "../../domain/agent/agent.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { freshDelivery } from "../../domain/mail/delivery.ts";
import { type Delivery, type MailType, type Message, type Priority, priorityRank } from "../../domain/mail/types.ts";
import { wakeWords } from "../../domain/mail/wake.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";

export interface Recipient {
  readonly name: string;
  readonly wake: boolean;
  /** Why it starts a turn; the words of its type when absent. */
  readonly reason?: string | null;
  /** No turn is started for it before this moment; 0 for at once. A turn that starts for another reason carries it. */
  readonly notBefore?: number;
}

/** A message that every rule has already let through. */
export interface Draft {
  readonly from: string;
  readonly fromAgentId: string | null;
  readonly runId: string | null;
  readonly verified: boolean;
  readonly address: string;
  readonly recipients: readonly Recipient[];
  readonly subject: string;
  readonly body: string;
  readonly type: MailType;
  readonly priority: Priority;
  readonly id?: string;
  readonly threadId?: string;
  readonly replyTo?: string;
  readonly hop?: number;
  readonly payload?: string | null;
  readonly dedupeKey?: string | null;
  readonly expectsReply?: boolean;
  readonly blobPath?: string | null;
  /** The engine writes it, possibly in the name of an agent that ended. */
  readonly byEngine?: boolean;
}

/** The sender of mail that the engine writes in its own name. */
export const fromEngine = { from: "system", fromAgentId: null, byEngine: true, verified: true } as const;

/** The sender of mail in a transaction that the caller asked for. */
export const fromCaller = (caller: Caller) =>
  ({
    from: caller.name,
    fromAgentId: caller.kind === "agent" ? caller.agentId : null,
    verified: true,
  }) as const;

type EngineLetter = Omit<Draft, "from" | "fromAgentId" | "byEngine" | "verified" | "address" | "recipients">;

/** Mail of the engine to the operator's inbox. It wakes no agent. */
export const tellOperator = (tx: Tx, context: { ids: Ids; now: number }, letter: EngineLetter): Promise<Message> =>
  post(tx, context, {
    ...letter,
    ...fromEngine,
    address: "operator",
    recipients: [{ name: "operator", wake: false }],
  });

/**
 * Stores one message with a delivery per recipient, and queues a turn for each agent it wakes. The message carries the
 * turn its sender is running at this moment, so that a terminal message belongs to a turn by cause and not by clock.
 */
export async function post(tx: Tx, { ids, now }: { ids: Ids; now: number }, draft: Draft): Promise<Message> {
  const id = draft.id ?? ids.next("msg");
  const turn = draft.fromAgentId === null ? undefined : await tx.turns.runningFor(draft.fromAgentId);
  const message: Omit<Message, "seq"> = {
    id,
    runId: draft.runId,
    fromAgent: draft.from,
    fromAgentId: draft.fromAgentId,
    turnId: turn?.id ?? null,
    address: draft.address,
    subject: draft.subject,
    body: draft.body,
    type: draft.type,
    priority: draft.priority,
    threadId: draft.threadId ?? id,
    replyTo: draft.replyTo ?? null,
    hop: draft.hop ?? 0,
    payload: draft.payload ?? null,
    dedupeKey: draft.dedupeKey ?? null,
    expectsReply: draft.expectsReply ?? false,
    verified: draft.verified,
    blobPath: draft.blobPath ?? null,
    createdAt: now,
  };
  const seq = await tx.messages.insert(message);
  const rank = priorityRank[draft.priority];
  const queued = draft.recipients.map(
    ({ name, wake, reason }): Delivery => ({
      ...freshDelivery,
      messageSeq: seq,
      toAgent: name,
      priorityRank: rank,
      wake,
      wakeReason: wake ? (reason ?? wakeWords[draft.type]) : null,
      updatedAt: now,
    }),
  );
  await tx.deliveries.insert(queued);
  for (const recipient of draft.recipients) {
    if (recipient.wake) await wakeUp(tx, ids, recipient.name, recipient.notBefore ?? 0, now);
  }
  await record(tx, now, {
    source: draft.fromAgentId === null ? (draft.byEngine === true ? "engine" : "operator") : "agent",
    runId: draft.runId,
    agentName: draft.from,
    agentId: draft.fromAgentId,
    turnId: message.turnId,
    type: "mail_sent",
    data: {
      to: draft.address,
      subject: draft.subject,
      type: draft.type,
      priority: draft.priority,
      messageId: id,
      ...(draft.address.startsWith("@") ? { broadcast: true, recipients: draft.recipients.length } : {}),
    },
  });
  return { ...message, seq };
}

/** Puts on record that the addressee had ended, so that `status` and `why` can tell where its mail went. */
export const noteForward = (tx: Tx, message: Message, addressee: string, heir: string): Promise<void> =>
  noteUndelivered(tx, message, addressee, `forwarded to ${heir}`);

/** Puts on record why the addressee does not get a message. */
export async function noteUndelivered(tx: Tx, message: Message, addressee: string, why: string): Promise<void> {
  await tx.deliveries.insert([
    {
      ...freshDelivery,
      messageSeq: message.seq,
      toAgent: addressee,
      state: "cancelled",
      priorityRank: priorityRank[message.priority],
      wake: false,
      lastError: why,
      updatedAt: message.createdAt,
    },
  ]);
}

/** Queues a turn for a live per-turn agent; any other reader fetches mail by itself. */
export async function wakeUp(tx: Tx, ids: Ids, name: string, notBefore: number, now: number): Promise<void> {
  const agent = await tx.agents.byName(name);
  if (agent === undefined || hasEnded(agent) || agent.topology !== "per_turn") return;
  await tx.turns.queue({
    id: ids.next("turn"),
    agentId: agent.id,
    agentName: agent.name,
    runId: agent.runId,
    trigger: "mail",
    attempt: 1,
    notBefore,
    now,
  });
}
