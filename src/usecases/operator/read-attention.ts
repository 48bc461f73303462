import { hasEnded } from "../../domain/agent/agent.ts";
import { refOf } from "../../domain/budget/budget.ts";
import { pauseWords, resumeCommand } from "../../domain/merge/queue-pause.ts";
import { collisionSentence } from "../../domain/merge/radar.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, oneOf, text, whole } from "../../domain/schema/schema.ts";
import type { OperatorMark } from "../../ports/store/web.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";
import { type Foreseen, operatorInbox, type Waiting } from "./inbox.ts";

/** The kinds of items that may need a person, most urgent first. */
export const attentionKinds = [
  "decision",
  "target",
  "budget",
  "risk",
  "merge",
  "approval",
  "stalled",
  "dead_mail",
  "question",
  "budget_soon",
  "radar",
  "review",
] as const;
export type AttentionKind = (typeof attentionKinds)[number];

/** One thing that needs the operator. A fact, derived on reading. */
export interface AttentionItem {
  /** Names the same thing for as long as it needs the operator. */
  readonly id: string;
  readonly kind: AttentionKind;
  readonly rank: number;
  readonly sentence: string;
  readonly details: string | null;
  /** What it is about; of a collision the names of the two agents. */
  readonly subject: {
    readonly type: "agent" | "merge" | "message" | "budget" | "queue" | "radar";
    readonly id: string;
  };
  readonly runId: string | null;
  readonly since: number;
  /** Names of agents that cannot go on. */
  readonly blocks: readonly string[];
  /** Answers that can be given at once, and the command that does the same. */
  readonly options: readonly string[];
  readonly command: string | null;
  readonly seen: boolean;
  readonly snoozedUntil: number | null;
  /** Put off: not counted, and not shown among the others. */
  readonly snoozed: boolean;
}

/** Put off until it says something else. */
const untilItChanges = -1;

/** All items that need the operator, the most urgent first; inside a rank the one whose waiting costs most. */
export const readAttention: UseCase<object, { readonly items: readonly AttentionItem[] }> = {
  kind: "read",
  request: operatorInbox.request,
  operatorOnly: true,
  run: async (tx, context, request) => {
    const waiting = await operatorInbox.run(tx, context, request);
    if (!waiting.ok) return waiting;
    const marks = new Map((await tx.web.marks("attention:")).map((mark) => [mark.subject, mark]));
    const found = [
      ...itemsOf(waiting.value),
      ...foreseenItems(waiting.value),
      ...(await stalledItems(tx)),
      ...(await deadItems(tx)),
    ];
    const items: AttentionItem[] = [];
    for (const item of found) {
      const blocks = await blockedBy(tx, item);
      items.push({ ...item, blocks, ...marked(item, marks.get(`attention:${item.id}`), context.now) });
    }
    const cost = ({ blocks, since }: AttentionItem): number => (blocks.length + 1) * (context.now - since);
    return ok({ items: items.toSorted((a, b) => a.rank - b.rank || cost(b) - cost(a)) });
  },
};

type Unmarked = Omit<AttentionItem, "seen" | "snoozedUntil" | "snoozed" | "blocks">;

function marked(item: Unmarked, mark: OperatorMark | undefined, now: number) {
  const { seenAt = null, snoozedUntil = null, seenAs = null } = mark ?? {};
  const waitsForChange = snoozedUntil === untilItChanges && seenAs === item.sentence;
  const snoozed = waitsForChange || (snoozedUntil !== null && snoozedUntil > now);
  return { seen: seenAt !== null, snoozedUntil: snoozedUntil === untilItChanges ? null : snoozedUntil, snoozed };
}

const rankOf = (kind: AttentionKind): number => attentionKinds.indexOf(kind);

function itemsOf({ decisions, questions, troubled, unhanded, blocked, pauses }: Waiting): readonly Unmarked[] {
  const none = { details: null, options: [], command: null } as const;
  return [
    ...decisions.map(({ id, kind, from, subject, context, options, runId, createdAt }): Unmarked => {
      const isMerge = kind === "merge";
      const sort = isMerge ? "approval" : "decision";
      return {
        id: `${sort}-${id}`,
        kind: sort,
        rank: rankOf(sort),
        sentence: isMerge ? subject : `${from} asks: ${subject}`,
        details: context,
        subject: isMerge ? { type: "merge", id: id.replace(/^merge:/, "") } : { type: "message", id },
        runId,
        since: createdAt,
        options,
        command: `ov decide ${id}`,
      };
    }),
    ...questions.map(
      ({ id, from, subject, body, runId, createdAt }): Unmarked => ({
        id: `question-${id}`,
        kind: "question",
        rank: rankOf("question"),
        sentence: `${from} asks: ${subject}`,
        details: body,
        subject: { type: "message", id },
        runId,
        since: createdAt,
        options: [],
        command: `ov mail reply ${id}`,
      }),
    ),
    ...troubled.map(({ agent, problem, advice, command }): Unmarked => {
      const sort = problem?.includes("budget") === true && !hasEnded(agent) ? "budget" : "risk";
      return {
        id: `agent-${agent.name}-${agent.generation}`,
        kind: sort,
        rank: rankOf(sort),
        sentence: `${agent.name}: ${problem ?? "it ended by a failure"}`,
        details: advice,
        subject: { type: "agent", id: agent.name },
        runId: agent.runId,
        since: agent.lastActivityAt,
        options: [],
        command: command ?? (hasEnded(agent) ? `ov recover ${agent.name}` : null),
      };
    }),
    ...blocked.map(
      ({ id, branch, why, next }): Unmarked => ({
        ...none,
        id: `merge-${id}`,
        kind: "merge",
        rank: rankOf("merge"),
        sentence: `${branch} cannot land: ${why}`,
        details: next,
        subject: { type: "merge", id: String(id) },
        runId: null,
        since: 0,
      }),
    ),
    ...pauses.map((pause): Unmarked => {
      const words = pauseWords(pause);
      return {
        ...none,
        id: "queue-paused",
        kind: "target",
        rank: rankOf("target"),
        sentence: `${words[0]?.toUpperCase()}${words.slice(1)}`,
        details: "Nothing lands before it is resumed.",
        subject: { type: "queue", id: "merge" },
        runId: null,
        since: pause.since,
        command: resumeCommand,
      };
    }),
    ...unhanded.map(
      ({ agentName, branch }): Unmarked => ({
        ...none,
        id: `unhanded-${agentName}`,
        kind: "review",
        rank: rankOf("review"),
        sentence: `${agentName} has finished ${branch}, and nothing takes it to the merge queue`,
        subject: { type: "agent", id: agentName },
        runId: null,
        since: 0,
        command: `ov merge ${branch}`,
      }),
    ),
  ];
}

function foreseenItems({ budgetsSoon, collisions }: Foreseen): readonly Unmarked[] {
  return [
    ...budgetsSoon.map((budget): Unmarked => {
      const ref = refOf(budget);
      return {
        id: `budget-${ref}`,
        kind: "budget_soon",
        rank: rankOf("budget_soon"),
        sentence: budget.sentence,
        details: budget.details,
        subject: { type: "budget", id: ref },
        runId: budget.scope === "run" ? budget.subject : null,
        since: budget.since,
        options: [],
        command: budget.command,
      };
    }),
    ...collisions.map((collision): Unmarked => {
      const names = collision.agents.join("+");
      return {
        id: `radar-${names}`,
        kind: "radar",
        rank: rankOf("radar"),
        sentence: collisionSentence(collision),
        details:
          "Those above them were told, too. Nobody has to stop: they may agree by mail, or one of them lands first.",
        subject: { type: "radar", id: names },
        runId: collision.runId,
        since: collision.since,
        options: [],
        command: "ov merge radar",
      };
    }),
  ];
}

async function stalledItems(tx: Tx): Promise<readonly Unmarked[]> {
  const stalled = (await tx.agents.list({ live: true })).filter(({ stalledSince }) => stalledSince !== null);
  return stalled.map(({ name, generation, stalledSince, runId }) => ({
    id: `stalled-${name}-${generation}`,
    kind: "stalled",
    rank: rankOf("stalled"),
    sentence: `${name} gives no sign of life`,
    details: null,
    subject: { type: "agent", id: name },
    runId,
    since: stalledSince ?? 0,
    options: [],
    command: `ov nudge ${name}`,
  }));
}

/** More dead mail than a person looks at one by one. */
const mostDead = 50;

async function deadItems(tx: Tx): Promise<readonly Unmarked[]> {
  const dead = await tx.deliveries.dead(mostDead);
  return dead.map(({ message, delivery }) => ({
    id: `dead-${message.id}-${delivery.toAgent}`,
    kind: "dead_mail",
    rank: rankOf("dead_mail"),
    sentence: `mail of ${message.fromAgent} never reached ${delivery.toAgent}: ${message.subject}`,
    details: null,
    subject: { type: "message", id: message.id },
    runId: message.runId,
    since: message.createdAt,
    options: [],
    command: `ov mail retry ${message.id}`,
  }));
}

/** Agents that wait for the message or the merge. */
async function blockedBy(tx: Tx, { subject, kind }: Unmarked): Promise<readonly string[]> {
  if (kind !== "decision" && kind !== "question" && subject.type !== "merge") return [];
  const waits = await tx.waits.ofKind(subject.type === "merge" ? "merge" : "reply");
  const ref = subject.type === "merge" ? `merge:${subject.id}` : subject.id;
  return [...new Set(waits.filter((wait) => wait.ref === ref).map(({ agentName }) => agentName))];
}

export interface MarkRequest {
  readonly id: string;
  readonly what: "attention" | "mail";
  readonly mark: "seen" | "unseen" | "snooze" | "unsnooze";
  /** Put off for so many minutes; without it until it changes. */
  readonly minutes?: number | undefined;
}

/** Notes that the operator has seen something or puts it off. What agents see stays as it is. */
export const markForOperator: UseCase<MarkRequest, { readonly mark: OperatorMark }> = {
  kind: "write",
  request: fields(
    { id: text, what: oneOf(["attention", "mail"]), mark: oneOf(["seen", "unseen", "snooze", "unsnooze"]) },
    { minutes: whole },
  ),
  operatorOnly: true,
  run: async (tx, context, { id, what, mark, minutes }) => {
    const subject = `${what}:${id}`;
    const { now } = context;
    const earlier = (await tx.web.marks(subject)).find((one) => one.subject === subject);
    const items = what === "attention" ? await readAttention.run(tx, context, {}) : undefined;
    const item = items?.ok === true ? items.value.items.find((one) => one.id === id) : undefined;
    if (what === "attention" && item === undefined && earlier === undefined) return no(notFound("attention item", id));
    const before = earlier ?? { subject, seenAt: null, snoozedUntil: null, seenAs: null };
    const changed = await changedMark(before);
    await tx.web.setMark(changed);
    return ok({ mark: changed });

    async function changedMark(from: OperatorMark): Promise<OperatorMark> {
      if (mark === "seen") return { ...from, seenAt: now };
      if (mark === "unseen") return { ...from, seenAt: null };
      if (mark === "unsnooze") return { ...from, snoozedUntil: null, seenAs: null };
      if (minutes !== undefined)
        return { ...from, snoozedUntil: now + Math.max(0, Math.min(minutes, mostMinutes)) * 60_000 };
      return { ...from, snoozedUntil: untilItChanges, seenAs: item?.sentence ?? null };
    }
  },
};

const mostMinutes = 7 * 24 * 60;
