import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import type { Delivery } from "../../domain/mail/types.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text, whole } from "../../domain/schema/schema.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import type { Context, UseCase } from "../usecase.ts";
import { messageInSight, namesInSight } from "./find-message.ts";
import { handOn } from "./hand-on.ts";
import { fromEngine, post, type Recipient, wakeUp } from "./post.ts";
import { type TrackedMessage, trackedMessage } from "./tracked-message.ts";

export interface RetryReply {
  readonly id: string;
  readonly requeued: readonly string[];
}

/** Gives dead mail another round of attempts. Only the operator and the parent of the reader may ask for it. */
export const retryMail: UseCase<{ readonly id: string }, RetryReply> = {
  kind: "write",
  request: fields({ id: text }),
  run: async (tx, { caller, now, ids }, { id }) => {
    const message = await messageInSight(tx, caller, id);
    if (!message.ok) return message;
    const deliveries = await tx.deliveries.ofMessage(message.value.seq);
    const requeued: string[] = [];
    let refused: Refusal | undefined;
    for (const delivery of deliveries.filter(({ state }) => state === "dead")) {
      const reader = await tx.agents.byName(delivery.toAgent);
      const obstacle = obstacleTo(caller, delivery.toAgent, reader);
      refused ??= obstacle;
      const next = nextDelivery(delivery, { kind: "retry" }, now);
      if (obstacle !== undefined || !next.ok) continue;
      await tx.deliveries.update(next.value);
      if (next.value.wake) await wakeUp(tx, ids, delivery.toAgent, 0, now);
      requeued.push(delivery.toAgent);
    }
    if (requeued.length > 0) return ok({ id, requeued });
    const { state } = trackedMessage(message.value, deliveries);
    return no(refused ?? { kind: "delivery-state", id, state, wanted: "dead" });
  },
};

function obstacleTo(caller: Caller, name: string, reader: Agent | undefined): Refusal | undefined {
  if (caller.kind === "agent" && reader?.parentName !== caller.name) {
    const why = `only the operator and the parent of ${name} may`;
    return { kind: "not-allowed", action: `retry mail to ${name}`, caller: caller.name, why };
  }
  if (reader === undefined || !hasEnded(reader)) return undefined;
  return { kind: "recipient-ended", name, state: reader.state, reopening: [] };
}

export interface RedirectReply {
  readonly id: string;
  readonly to: string;
  /** The readers that it was given up for. */
  readonly instead: readonly string[];
}

/** Gives dead mail to another reader. Its first reader gets it no more; the sender's words and its thread stay. */
export const redirectMail: UseCase<{ readonly id: string; readonly to: string }, RedirectReply> = {
  kind: "write",
  request: fields({ id: text, to: text }),
  operatorOnly: true,
  run: async (tx, context, { id, to }) => {
    const { caller, now } = context;
    const message = await messageInSight(tx, caller, id);
    if (!message.ok) return message;
    const reader = await tx.agents.byName(to);
    if (to !== "operator" && reader === undefined) {
      const live = (await tx.agents.list({ live: true })).map(({ name }) => name);
      return no(notFound("agent", to, nearest(to, live)));
    }
    if (reader !== undefined && hasEnded(reader)) {
      return no({ kind: "recipient-ended", name: to, state: reader.state, reopening: [] });
    }
    if (message.value.fromAgent === to) return no(invalid("to", "wrote this message", { value: to }));
    const deliveries = await tx.deliveries.ofMessage(message.value.seq);
    const instead: string[] = [];
    for (const delivery of deliveries.filter(({ state }) => state === "dead")) {
      const next = nextDelivery(delivery, { kind: "retry" }, now);
      const mail = next.ok ? { message: message.value, delivery: next.value } : undefined;
      if (mail === undefined || !(await handOn(tx, context, mail, to, { wake: delivery.wake }))) continue;
      instead.push(delivery.toAgent);
    }
    if (instead.length > 0) return ok({ id, to, instead });
    const { state } = trackedMessage(message.value, deliveries);
    return no({ kind: "delivery-state", id, state, wanted: "dead" });
  },
};

export interface DeadReply {
  readonly dead: readonly { readonly message: TrackedMessage; readonly delivery: Delivery }[];
}

const defaultLimit = 1_000;

/** Mail that was given up, newest first, one entry per recipient. Agents see their own mail and that of agents below. */
export const deadMail: UseCase<{ readonly limit?: number | undefined }, DeadReply> = {
  kind: "read",
  request: fields({}, { limit: whole }),
  run: async (tx, { caller }, { limit }) => {
    const found = await tx.deliveries.dead(limit ?? defaultLimit);
    const inSight = await namesInSight(tx, caller);
    const shown = found.filter(
      ({ message, delivery }) =>
        inSight?.some((name) => name === message.fromAgent || name === delivery.toAgent) ?? true,
    );
    return ok({
      dead: shown.map(({ message, delivery }) => ({
        message: trackedMessage(message, [delivery], delivery.toAgent),
        delivery,
      })),
    });
  },
};

/**
 * Tells the operator and the sender, once, that a message was given up. To be called in the transaction that made the
 * delivery dead. Dead mail of the engine itself is only an event: a notice about a notice would never end.
 */
export async function reportDead(
  tx: Tx,
  context: Pick<Context, "ids" | "now">,
  mail: Mail,
  { readerEnds }: { readonly readerEnds: boolean },
): Promise<void> {
  const { message, delivery } = mail;
  const { attempts, lastError, toAgent } = delivery;
  const facts = {
    messageId: message.id,
    from: message.fromAgent,
    to: toAgent,
    type: message.type,
    attempts,
    lastError,
  };
  const about = { source: "engine", runId: message.runId, agentName: toAgent } as const;
  await record(tx, context.now, { ...about, type: "mail_dead", level: "error", data: facts });
  if (message.fromAgent === "system") return;
  const tries = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  // An ended agent reads no mail, however often it is sent. When it is recovered, it gets all the mail it missed.
  const next = readerEnds
    ? `${toAgent} has ended with it. When the cause is mended, let it go on with: ov recover ${toAgent} (it then gets this message)`
    : `Try again with: ov mail retry ${message.id}`;
  await post(tx, context, {
    ...fromEngine,
    runId: message.runId,
    address: "operator",
    recipients: await recipientsOf(tx, mail),
    subject: `Not delivered: ${message.id} to ${toAgent}`,
    body: `The message "${message.subject}" from ${message.fromAgent} to ${toAgent} was given up after ${tries}: ${lastError ?? "no error was recorded"}. ${next}`,
    type: "error",
    priority: "high",
    payload: JSON.stringify(facts),
  });
}

async function recipientsOf(tx: Tx, { message }: Mail): Promise<readonly Recipient[]> {
  const operator = { name: "operator", wake: false };
  const sender = await tx.agents.byName(message.fromAgent);
  if (sender === undefined || hasEnded(sender)) return [operator];
  return [operator, { name: sender.name, wake: true }];
}
