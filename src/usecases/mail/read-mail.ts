import { hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import { type Delivery, type Message, parseType } from "../../domain/mail/types.ts";
import { countsBeforeFinish } from "../../domain/mail/wake.ts";
import { type Explanation, explainDelivery, explainWake, type WhyRecipient } from "../../domain/mail/why.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, text, whole } from "../../domain/schema/schema.ts";
import type { MessageFilter } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import { parkedOf } from "../agents/parked.ts";
import type { Context, UseCase } from "../usecase.ts";
import { mayList, messageInSight, namesInSight } from "./find-message.ts";
import { openInbox, ownerOf } from "./inbox.ts";
import { isRead, type TrackedMessage, trackedMessage } from "./tracked-message.ts";

export interface ListRequest {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** From or to this agent. */
  readonly agent?: string | undefined;
  readonly unread?: boolean | undefined;
  readonly type?: string | undefined;
  /** Id of a run. */
  readonly run?: string | undefined;
  /** Id of any message of the thread. */
  readonly thread?: string | undefined;
  readonly limit?: number | undefined;
  /** Only messages with smaller numbers, or with larger ones: then the oldest so many of them. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

export interface ListReply {
  readonly messages: readonly TrackedMessage[];
  /** There are more than these, in the direction that was asked for. */
  readonly more: boolean;
  /** Older messages fit too: the `before` that brings them. Null when there are none. */
  readonly older: number | null;
  /** The number of the newest of these, to ask for newer ones. */
  readonly newest: number | null;
}

/** More than a person reads and a script needs at once. */
const defaultLimit = 1_000;

/** Messages, newest first: of the whole project for a person, else those in the caller's sight. Looking changes nothing. */
export const listMail: UseCase<ListRequest, ListReply> = {
  kind: "read",
  request: fields(
    {},
    {
      from: text,
      to: text,
      agent: text,
      unread: flag,
      type: text,
      run: text,
      thread: text,
      limit: whole,
      before: whole,
      after: whole,
    },
  ),
  guarded: true,
  run: async (tx, { caller }, request) => {
    const filter = await filterOf(tx, caller, request);
    if (!filter.ok) return filter;
    const { from, to } = filter.value;
    const involving = await namesInSight(tx, caller);
    const allowed = mayList(
      caller,
      involving,
      [to, from, request.agent].filter((name) => name !== undefined),
    );
    if (!allowed.ok) return allowed;
    const messages: TrackedMessage[] = [];
    const names = request.agent === undefined ? involving : [await ownerOf(tx, request.agent)];
    const shown = { ...filter.value, ...(names === undefined ? {} : { involving: names }) };
    const limit = shown.limit ?? defaultLimit;
    const { before, after } = request;
    const place = { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
    const found = await tx.messages.list({ ...shown, ...place, limit: limit + 1 });
    const more = found.length > limit;
    // Newest first. The one too many is the furthest from where the page begins.
    const page = after === undefined ? found.slice(0, limit) : found.slice(more ? 1 : 0);
    for (const message of page) messages.push(await seenBy(tx, message, to));
    const oldest = page.at(-1)?.seq ?? null;
    const newest = page[0]?.seq ?? null;
    return ok({ messages, more, older: more || after !== undefined ? oldest : null, newest });
  },
};

async function filterOf(tx: Tx, caller: Caller, request: ListRequest): Promise<Result<MessageFilter, Refusal>> {
  const { from, to, unread, limit, run, thread } = request;
  const type = request.type === undefined ? undefined : parseType(request.type);
  if (type?.ok === false) return type;
  if (run !== undefined && (await tx.runs.get(run)) === undefined) {
    const runs = await tx.runs.list(100);
    return no(
      notFound(
        "run",
        run,
        nearest(
          run,
          runs.map(({ id }) => id),
        ),
      ),
    );
  }
  const inThread = thread === undefined ? undefined : await messageInSight(tx, caller, thread);
  if (inThread?.ok === false) return inThread;
  return ok({
    ...(from === undefined ? {} : { from: await ownerOf(tx, from) }),
    ...(to === undefined ? {} : { to: await ownerOf(tx, to) }),
    ...(type === undefined ? {} : { type: type.value }),
    ...(unread === true ? { unread } : {}),
    ...(run === undefined ? {} : { runId: run }),
    ...(inThread === undefined ? {} : { threadId: inThread.value.threadId }),
    ...(limit === undefined ? {} : { limit }),
  });
}

async function seenBy(tx: Tx, message: Message, to: string | undefined): Promise<TrackedMessage> {
  if (to === undefined) return trackedMessage(message, await tx.deliveries.ofMessage(message.seq));
  const delivery = await tx.deliveries.get(message.seq, to);
  return trackedMessage(message, delivery === undefined ? [] : [delivery], to);
}

export interface ReadReply {
  readonly id: string;
  readonly alreadyRead: boolean;
  readonly message: TrackedMessage;
}

/** Shows one message of the caller's own inbox, which counts as read from then on. */
export const readMail: UseCase<{ readonly id: string }, ReadReply> = {
  kind: "write",
  request: fields({ id: text }),
  run: async (tx, { caller, now }, { id }) => {
    const message = await messageInSight(tx, caller, id);
    if (!message.ok) return message;
    const inbox = await openInbox(tx, caller);
    if (!inbox.ok) return inbox;
    const delivery = await tx.deliveries.get(message.value.seq, inbox.value.name);
    if (delivery === undefined) {
      const why = "it is not in your inbox";
      return no({ kind: "not-allowed", action: `mark ${id} as read`, caller: caller.name, why });
    }
    const tracked = trackedMessage(message.value, [delivery], inbox.value.name);
    // A message that was handed on is read by its heir. Its first addressee may read it too, and settles nothing.
    if (delivery.state === "acked" || delivery.state === "cancelled")
      return ok({ id, alreadyRead: true, message: tracked });
    // The holder of the claim reads for the owner of the inbox, so the owner's word settles it.
    const acked = nextDelivery(delivery, { kind: "ack", by: delivery.claimedBy ?? inbox.value.name }, now);
    if (!acked.ok) {
      const wanted = "queued, claimed or delivered";
      return no({ kind: "delivery-state", id, state: delivery.state, wanted });
    }
    await tx.deliveries.update(acked.value);
    return ok({ id, alreadyRead: isRead(delivery.state), message: tracked });
  },
};

export interface StatusReply {
  readonly message: TrackedMessage;
  readonly deliveries: readonly Delivery[];
}

/** How far a message has come with each of its recipients. */
export const mailStatus: UseCase<{ readonly id: string }, StatusReply> = {
  kind: "read",
  request: fields({ id: text }),
  guarded: true,
  run: async (tx, { caller }, { id }) => {
    const message = await messageInSight(tx, caller, id);
    if (!message.ok) return message;
    const deliveries = await tx.deliveries.ofMessage(message.value.seq);
    return ok({ message: trackedMessage(message.value, deliveries), deliveries });
  },
};

export interface WhyRequest {
  readonly id: string;
  /** Known to the surface that asks; taken as running when absent. */
  readonly engineRunning?: boolean | undefined;
}

export interface WhyReply {
  readonly id: string;
  readonly recipients: readonly ({
    readonly to: string;
    readonly state: Delivery["state"];
    /** Why it starts a turn, or that it starts none. */
    readonly wake: string | null;
  } & Explanation)[];
}

/** Why a message has or has not been seen, for each recipient, and what to type about it. */
export const whyMail: UseCase<WhyRequest, WhyReply> = {
  kind: "read",
  request: fields({ id: text }, { engineRunning: flag }),
  guarded: true,
  run: async (tx, context, { id, engineRunning = true }) => {
    const { caller, now } = context;
    const found = await messageInSight(tx, caller, id);
    if (!found.ok) return found;
    const deliveries = await tx.deliveries.ofMessage(found.value.seq);
    const recipients: WhyReply["recipients"][number][] = [];
    for (const delivery of deliveries) {
      const recipient = await recipientOf(tx, context, delivery.toAgent);
      const forwardedTo = heirOf(found.value, delivery, deliveries);
      const beforeFinish = await isShownBeforeFinish(tx, found.value, delivery);
      const facts = { messageId: id, delivery, recipient, forwardedTo, beforeFinish, engineRunning, now };
      const wake = explainWake(delivery, recipient);
      recipients.push({ to: delivery.toAgent, state: delivery.state, ...explainDelivery(facts), wake });
    }
    return ok({ id, recipients });
  },
};

async function isShownBeforeFinish(tx: Tx, message: Message, delivery: Delivery): Promise<boolean> {
  const agent = await tx.agents.byName(delivery.toAgent);
  if (agent === undefined || isIn("persistent", agent.capability)) return false;
  return countsBeforeFinish(message, delivery, agent);
}

async function recipientOf(tx: Tx, context: Context, name: string): Promise<WhyRecipient | null> {
  const agent = await tx.agents.byName(name);
  if (agent === undefined) return null;
  if (hasEnded(agent)) {
    return { ended: isSubmitted(agent) ? "submitted" : agent.state, runningTurn: null, parked: null };
  }
  if (agent.topology !== "per_turn") return null;
  const running = await tx.turns.runningFor(agent.id);
  return { ended: null, runningTurn: running?.id ?? null, parked: await parkedOf(tx, context, agent) };
}

/** The agent that reads the mail of an addressee that had ended. */
function heirOf(message: Message, delivery: Delivery, all: readonly Delivery[]): string | null {
  if (delivery.state !== "cancelled" || delivery.toAgent !== message.address) return null;
  return all.find(({ state }) => state !== "cancelled")?.toAgent ?? null;
}
