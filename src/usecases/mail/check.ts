import type { Agent } from "../../domain/agent/agent.ts";
import { type DeliveryPolicy, defaultDeliveryPolicy, nextDelivery } from "../../domain/mail/delivery.ts";
import { isUnverified, type Letter, type WorkBehind, workLine } from "../../domain/mail/letter.ts";
import { type Delivery, type DeliveryState, type MailType, type Message, mailTypes } from "../../domain/mail/types.ts";
import { ok } from "../../domain/result.ts";
import { fields, list, oneOf, text, whole } from "../../domain/schema/schema.ts";
import type { Settings } from "../../ports/settings.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context, UseCase } from "../usecase.ts";
import { reportDead } from "./dead-mail.ts";
import { hasRunOut, type Inbox, inboxChannel, isDebounced, openInbox, wasHandedOver } from "./inbox.ts";
import { wakeUp } from "./post.ts";

export interface CheckRequest {
  /** The owner of the inbox; the caller when absent. */
  readonly agent?: string | undefined;
  readonly limit?: number | undefined;
  /** Only these; mail of other types stays where it is. */
  readonly types?: readonly MailType[] | undefined;
  /** Answer nothing when mail was handed out less than so many milliseconds ago. */
  readonly debounceMs?: number | undefined;
}

export interface InboxLetter extends Letter {
  readonly state: DeliveryState;
}

export interface CheckReply {
  readonly inbox: string;
  /** The reader that holds the claim. `mail.delivered` asks for it. */
  readonly by: string;
  readonly letters: readonly InboxLetter[];
  /** Mail that did not fit and waits for the next look. */
  readonly remaining: number;
}

const defaultLimit = 100;
/** About as much as a model should be shown at once. At least one message is always handed out. */
const maxChars = 65_536;

/**
 * Takes the mail of an inbox, most urgent first. A reader that asks again thereby acknowledges the mail it was given
 * before. Mail that a reader took and never showed is offered again. The caller confirms shown mail with
 * `mail.delivered`.
 */
export const checkMail: UseCase<CheckRequest, CheckReply> = {
  kind: "write",
  request: fields({}, { agent: text, limit: whole, types: list(oneOf(mailTypes)), debounceMs: whole }),
  run: async (tx, context, request) => {
    const { caller, now, ids } = context;
    const opened = await openInbox(tx, caller, request.agent);
    if (!opened.ok) return opened;
    const inbox = opened.value;
    const by = inbox.turnId ?? `inbox:${inbox.name}:${ids.next("reader", 8)}`;
    if (await isDebounced(tx, inbox, now, request.debounceMs)) {
      return ok({ inbox: inbox.name, by, letters: [], remaining: 0 });
    }
    await settleEarlier(tx, context, inbox);
    const limit = request.limit ?? defaultLimit;
    const due = await wanted(tx, inbox, now, { limit, types: request.types });
    const letters = await claim(tx, context, { inbox, by, mail: fitting(due) });
    if (letters.length > 0 && request.debounceMs !== undefined) await tx.inboxChecks.record(inbox.name, now);
    const full = letters.length < due.length || due.length === limit;
    const remaining = full ? await tx.deliveries.countQueued(inbox.name) : 0;
    return ok({ inbox: inbox.name, by, letters, remaining });
  },
};

async function wanted(
  tx: Tx,
  inbox: Inbox,
  now: number,
  { limit, types }: { readonly limit: number; readonly types: readonly MailType[] | undefined },
): Promise<readonly Mail[]> {
  if (types === undefined) return tx.deliveries.queued(inbox.name, now, limit);
  const due = await tx.deliveries.queued(inbox.name, now, Number.MAX_SAFE_INTEGER);
  return due.filter(({ message }) => types.includes(message.type)).slice(0, limit);
}

async function settleEarlier(tx: Tx, context: Context, inbox: Inbox): Promise<void> {
  const { now } = context;
  for (const mail of await tx.deliveries.inState(inbox.name, ["claimed", "delivered"])) {
    const { delivery } = mail;
    if (wasHandedOver(inbox, delivery)) {
      const acked = nextDelivery(delivery, { kind: "ack", by: delivery.claimedBy ?? inbox.name }, now);
      if (acked.ok) await tx.deliveries.update(acked.value);
    } else if (hasRunOut(delivery, now)) await expireClaim(tx, context, mail);
  }
}

function fitting(due: readonly Mail[]): readonly Mail[] {
  let chars = 0;
  const end = due.findIndex(({ message }, index) => {
    chars += message.subject.length + message.body.length + (message.payload?.length ?? 0);
    return index > 0 && chars > maxChars;
  });
  return end < 0 ? due : due.slice(0, end);
}

async function claim(
  tx: Tx,
  { now, settings }: Context,
  { inbox, by, mail }: { readonly inbox: Inbox; readonly by: string; readonly mail: readonly Mail[] },
): Promise<readonly InboxLetter[]> {
  const policy = deliveryPolicyOf(settings);
  const letters: InboxLetter[] = [];
  const capabilities = new Map<string, string | null>();
  for (const { message, delivery } of mail) {
    const claimed = nextDelivery(
      delivery,
      { kind: "claim", by, channel: inboxChannel, turnId: inbox.turnId },
      now,
      policy,
    );
    if (!claimed.ok) continue;
    await tx.deliveries.update(claimed.value);
    const { fromAgentId } = message;
    if (fromAgentId !== null && !capabilities.has(fromAgentId)) {
      capabilities.set(fromAgentId, (await tx.agents.get(fromAgentId))?.capability ?? null);
    }
    const capability = fromAgentId === null ? null : (capabilities.get(fromAgentId) ?? null);
    const whole = delivery.wake || message.fromAgent === "operator";
    letters.push({ message, capability, whole, ...stateOf(claimed.value), ...(await factsOf(tx, message)) });
  }
  return letters;
}

const factsOf = async (tx: Tx, message: Message): Promise<Pick<InboxLetter, "unverified">> =>
  isUnverified(message) ? { unverified: workLine((await reporterOf(tx, message)).work) } : {};

const stateOf = ({ redelivered, state }: Delivery): Pick<InboxLetter, "redelivered" | "state"> => ({
  redelivered,
  state,
});

export interface DeliveredRequest {
  readonly agent?: string | undefined;
  /** The holder that `mail.check` named. */
  readonly by: string;
  /** Numbers of the messages that were shown. */
  readonly messages: readonly number[];
}

export interface DeliveredReply {
  /** How many were still held by this reader. */
  readonly delivered: number;
}

/** Confirms that mail was really shown. Mail that another reader has taken meanwhile is left to that reader. */
export const confirmDelivered: UseCase<DeliveredRequest, DeliveredReply> = {
  kind: "write",
  request: fields({ by: text, messages: list(whole) }, { agent: text }),
  run: async (tx, { caller, now, settings }, { agent, by, messages }) => {
    const inbox = await openInbox(tx, caller, agent);
    if (!inbox.ok) return inbox;
    let delivered = 0;
    for (const seq of messages) {
      const delivery = await tx.deliveries.get(seq, inbox.value.name);
      if (delivery === undefined) continue;
      const next = nextDelivery(delivery, { kind: "deliver", by }, now, deliveryPolicyOf(settings));
      if (!next.ok) continue;
      await tx.deliveries.update(next.value);
      delivered++;
    }
    return ok({ delivered });
  },
};

/**
 * Takes mail back from a reader whose lease ran out. The attempt failed at the end of the lease, not when that was
 * noticed, so the back-off counts from there. Mail that used up its attempts is given up and reported.
 */
export async function expireClaim(
  tx: Tx,
  context: Pick<Context, "ids" | "now" | "settings">,
  { message, delivery }: Mail,
): Promise<void> {
  const { ids, now, settings } = context;
  const failedAt = Math.min(delivery.claimExpires ?? now, now);
  const next = nextDelivery(delivery, { kind: "expire" }, failedAt, deliveryPolicyOf(settings));
  if (!next.ok) return;
  const expired = { ...next.value, updatedAt: now };
  await tx.deliveries.update(expired);
  if (expired.state === "dead") await reportDead(tx, context, { message, delivery: expired }, { readerEnds: false });
  else if (expired.wake) await wakeUp(tx, ids, expired.toAgent, expired.notBefore, now);
}

export interface Reporter {
  readonly agent: Agent | undefined;
  /** The stored facts about its work. They are read when a turn ends, so during a turn they are out of date. */
  readonly work: WorkBehind;
}

/** The sender of an unverified report, and the facts that were last read from its worktree. */
export async function reporterOf(tx: Tx, message: Message): Promise<Reporter> {
  const { fromAgentId, fromAgent } = message;
  // Mail that was handed on no longer names its incarnation. The latest agent of the name sent the report.
  const agent = fromAgentId === null ? await tx.agents.byName(fromAgent) : await tx.agents.get(fromAgentId);
  if (agent === undefined || agent.worktreePath === null || agent.worktreeKind === "root") {
    return { agent: undefined, work: { kind: "none" } };
  }
  if ((await tx.turns.runningFor(agent.id)) !== undefined) {
    const why = "its turn is still running, and nobody has looked at its worktree yet";
    return { agent, work: { kind: "unknown", why } };
  }
  const { headCommit: head, baseCommit: base, ahead, dirty } = agent;
  if (head === null) return { agent, work: { kind: "unknown", why: "its worktree could not be read" } };
  return { agent, work: { kind: "seen", when: "turn-ended", facts: { head, base, ahead, dirty } } };
}

/** Leases and attempts as this project sets them. */
const deliveryPolicyOf = ({ mail }: Settings): DeliveryPolicy => ({
  ...defaultDeliveryPolicy,
  leaseMs: mail.leaseMs,
  maxAttempts: mail.maxAttempts,
});
