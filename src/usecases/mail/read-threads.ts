import { type Delivery, type Message, parseType } from "../../domain/mail/types.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, oneOf, text, whole } from "../../domain/schema/schema.ts";
import type { MessageFilter } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import { openDecisions, openQuestions } from "../operator/decisions.ts";
import type { UseCase } from "../usecase.ts";
import { messageInSight } from "./find-message.ts";
import { ownerOf } from "./inbox.ts";
import { type TrackedMessage, trackedMessage } from "./tracked-message.ts";

/** `reply`: the operator got mail in it. `dead`: a message of it was given up. */
export const threadBoxes = ["reply", "all", "sent", "dead"] as const;
export type ThreadBox = (typeof threadBoxes)[number];

export interface ThreadsRequest {
  readonly box: ThreadBox;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly type?: string | undefined;
  /** Id of a run. */
  readonly run?: string | undefined;
  /** Words that a message of the thread must have, each of them. */
  readonly q?: string | undefined;
  readonly limit?: number | undefined;
}

/** The operator's own view of one thread. */
export interface Thread {
  readonly id: string;
  /** The subject of its first message. */
  readonly subject: string;
  readonly newest: TrackedMessage;
  readonly messages: number;
  /** The kind of its unanswered question to the operator. */
  readonly asks: "decision" | "question" | null;
  readonly dead: readonly DeadLetter[];
  /** The operator has looked at its newest message, or wrote it. */
  readonly seen: boolean;
  /** The operator put it away; a later message brings it back. */
  readonly away: boolean;
}

export interface DeadLetter {
  readonly messageId: string;
  readonly to: string;
  readonly attempts: number;
  readonly error: string | null;
}

const operatorName = "operator";
/** How many messages a list of threads looks at: nobody scrolls further. */
const mostLookedAt = 1_000;
const mostThreads = 200;
/** As the operator's mark says it: put off until something new comes. */
const untilItChanges = -1;

/** Threads of mail, the newest first. Looking changes no delivery: what the operator has seen is a mark of its own. */
export const listThreads: UseCase<ThreadsRequest, { readonly threads: readonly Thread[] }> = {
  kind: "read",
  request: fields({ box: oneOf(threadBoxes) }, { from: text, to: text, type: text, run: text, q: text, limit: whole }),
  operatorOnly: true,
  run: async (tx, _context, request) => {
    const filter = await filterOf(tx, request);
    if (!filter.ok) return filter;
    const given = await givenUp(tx);
    const found = await tx.messages.list({ ...filter.value, limit: mostLookedAt });
    const words = (request.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = found.filter(
      (message) =>
        words.every((word) => textOf(message).includes(word)) && (request.box !== "dead" || given.has(message.id)),
    );
    const open = await openAsks(tx);
    const marks = await marksOf(tx);
    const threads: Thread[] = [];
    for (const id of new Set(wanted.map(({ threadId }) => threadId))) {
      const thread = await threadOf(tx, id, { given, open, marks });
      if (thread === undefined || (thread.away && request.box !== "all")) continue;
      threads.push(thread);
      if (threads.length === (request.limit ?? mostThreads)) break;
    }
    return ok({ threads });
  },
};

async function filterOf(tx: Tx, { box, from, to, type, run }: ThreadsRequest) {
  const parsed = type === undefined ? undefined : parseType(type);
  if (parsed?.ok === false) return parsed;
  const sender = box === "sent" ? operatorName : from;
  const reader = box === "reply" ? operatorName : to;
  const filter: MessageFilter = {
    ...(sender === undefined ? {} : { from: await ownerOf(tx, sender) }),
    ...(reader === undefined ? {} : { to: await ownerOf(tx, reader) }),
    ...(parsed === undefined ? {} : { type: parsed.value }),
    ...(run === undefined ? {} : { runId: run }),
  };
  return ok(filter);
}

const textOf = ({ subject, body, fromAgent, address, type }: Message): string =>
  `${subject} ${body} ${fromAgent} ${address} ${type}`.toLowerCase();

/** Dead deliveries by the id of their message. */
async function givenUp(tx: Tx): Promise<ReadonlyMap<string, readonly DeadLetter[]>> {
  const dead = await tx.deliveries.dead(mostLookedAt);
  const letters = dead.map(({ message, delivery }) => ({
    messageId: message.id,
    to: delivery.toAgent,
    attempts: delivery.attempts,
    error: delivery.lastError,
  }));
  return Map.groupBy(letters, ({ messageId }) => messageId);
}

type Asks = NonNullable<Letter["asks"]>;
type OpenAsks = ReadonlyMap<string, Asks>;

/** What waits for the operator's answer, by the id of the message that asks. */
async function openAsks(tx: Tx): Promise<OpenAsks> {
  const decisions = (await openDecisions(tx)).filter(({ kind }) => kind === "decision");
  return new Map<string, Asks>([
    ...decisions.map(({ id, options }): [string, Asks] => [id, { kind: "decision", options }]),
    ...(await openQuestions(tx)).map(({ id }): [string, Asks] => [id, { kind: "question", options: [] }]),
  ]);
}

async function marksOf(tx: Tx) {
  const marks = await tx.web.marks("mail:");
  return new Map(marks.map((mark) => [mark.subject.slice("mail:".length), mark]));
}

interface Known {
  readonly given: ReadonlyMap<string, readonly DeadLetter[]>;
  readonly open: OpenAsks;
  readonly marks: Awaited<ReturnType<typeof marksOf>>;
}

async function threadOf(tx: Tx, id: string, { given, open, marks }: Known): Promise<Thread | undefined> {
  const messages = await tx.messages.thread(id);
  const [first, newest] = [messages[0], messages.at(-1)];
  if (first === undefined || newest === undefined) return undefined;
  const mark = marks.get(newest.id);
  const asked = messages.flatMap((message) => open.get(message.id)?.kind ?? []);
  return {
    id,
    subject: first.subject,
    newest: trackedMessage(newest, await tx.deliveries.ofMessage(newest.seq)),
    messages: messages.length,
    asks: asked.includes("decision") ? "decision" : (asked[0] ?? null),
    dead: messages.flatMap((message) => given.get(message.id) ?? []),
    seen: newest.fromAgent === operatorName || (mark?.seenAt ?? null) !== null,
    away: mark?.snoozedUntil === untilItChanges,
  };
}

/** A message as the operator reads it: with the state of its deliveries, and its question to the operator. */
export interface Letter {
  readonly message: TrackedMessage;
  readonly deliveries: readonly Delivery[];
  readonly seen: boolean;
  readonly asks: { readonly kind: "decision" | "question"; readonly options: readonly string[] } | null;
}

export interface Letters {
  readonly letters: readonly Letter[];
}

/** The thread of a message, oldest first. Looking changes nothing. */
export const readThread: UseCase<{ readonly thread: string }, Letters> = {
  kind: "read",
  request: fields({ thread: text }),
  operatorOnly: true,
  run: async (tx, { caller }, { thread }) => {
    const found = await messageInSight(tx, caller, thread);
    return found.ok ? ok({ letters: await lettersOf(tx, await tx.messages.thread(found.value.threadId)) }) : found;
  },
};

/** One message and its thread, oldest first. Looking changes nothing. */
export const readLetter: UseCase<
  { readonly id: string },
  { readonly letter: Letter; readonly thread: readonly Letter[] }
> = {
  kind: "read",
  request: fields({ id: text }),
  operatorOnly: true,
  run: async (tx, { caller }, { id }) => {
    const found = await messageInSight(tx, caller, id);
    if (!found.ok) return found;
    const thread = await lettersOf(tx, await tx.messages.thread(found.value.threadId));
    const letter = thread.find(({ message }) => message.id === found.value.id);
    return letter === undefined ? no(notFound("message", id)) : ok({ letter, thread });
  },
};

export interface ConversationRequest {
  /** The name of an agent. */
  readonly with: string;
  /** Id of a run: another run may have had an agent of the same name. */
  readonly run?: string | undefined;
  /** The newest so many of each side. */
  readonly limit?: number | undefined;
}

/** What the operator and one agent wrote to each other, oldest first. */
export const readConversation: UseCase<ConversationRequest, Letters> = {
  kind: "read",
  request: fields({ with: text }, { run: text, limit: whole }),
  operatorOnly: true,
  run: async (tx, _context, { with: name, run, limit = mostThreads }) => {
    const ofRun = run === undefined ? {} : { runId: run };
    const sent = await tx.messages.list({ from: operatorName, to: name, limit, ...ofRun });
    const got = await tx.messages.list({ from: name, to: operatorName, limit, ...ofRun });
    return ok({
      letters: await lettersOf(
        tx,
        [...sent, ...got].toSorted((a, b) => a.seq - b.seq),
      ),
    });
  },
};

async function lettersOf(tx: Tx, messages: readonly Message[]): Promise<readonly Letter[]> {
  const open = await openAsks(tx);
  const marks = await marksOf(tx);
  const letters: Letter[] = [];
  for (const message of messages) {
    const deliveries = await tx.deliveries.ofMessage(message.seq);
    letters.push({
      message: trackedMessage(message, deliveries),
      deliveries,
      seen: message.fromAgent === operatorName || (marks.get(message.id)?.seenAt ?? null) !== null,
      asks: open.get(message.id) ?? null,
    });
  }
  return letters;
}
