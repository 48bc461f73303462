import { type Agent, hasEnded } from "../agent/agent.ts";
import { failures } from "../turn/failure.ts";
import type { Turn } from "../turn/turn.ts";

/**
 * queued    its turn waits for a place
 * starting  a supervisor has taken the turn, and its program has not begun
 * turn      its program works
 * waiting   it is between two turns, for mail or for others
 * parked    nothing may start: a rate limit, a budget or a person holds it
 */
export const spanKinds = ["queued", "starting", "turn", "waiting", "parked"] as const;
export type SpanKind = (typeof spanKinds)[number];

/** One part of an agent's time. */
export interface AgentSpan {
  readonly kind: SpanKind;
  readonly from: number;
  /** Null while it goes on. */
  readonly to: number | null;
  readonly turnId: string | null;
  /** The cause in words: of a turn its trigger and its failure, of a wait its object. */
  readonly words: string;
  readonly failed: boolean;
  readonly costMicros: number | null;
}

/** A time in which nothing was to start for an agent. */
export interface Hold {
  readonly from: number;
  readonly to: number | null;
  readonly words: string;
}

export interface AgentTime {
  readonly agent: Pick<Agent, "state" | "startedAt" | "endedAt" | "lastActivityAt">;
  /** In the order in which they were queued. */
  readonly turns: readonly SpanTurn[];
  readonly holds: readonly Hold[];
  /** When the program of a turn began, by the turn's id. */
  readonly begun: ReadonlyMap<string, number>;
  /** The object of its wait now; empty when none is stored. */
  readonly waitsFor: string;
}

type SpanTurn = Pick<
  Turn,
  "id" | "trigger" | "status" | "failure" | "notBefore" | "queuedAt" | "startedAt" | "endedAt" | "costMicros"
>;

/** The whole time of one incarnation as parts that follow each other without a gap. */
export function agentSpans({ agent, turns, holds, begun, waitsFor }: AgentTime): readonly AgentSpan[] {
  const spans: AgentSpan[] = [];
  let at = agent.startedAt;
  let before: SpanTurn | undefined;
  const add = (kind: SpanKind, to: number | null, more: Partial<AgentSpan> = {}): void => {
    if (to !== null && to <= at) return;
    const span = { kind, from: at, to, turnId: null, words: "", failed: false, costMicros: null, ...more };
    spans.push(...(kind === "waiting" || kind === "queued" ? parkedParts(span, holds) : [span]));
    at = to ?? at;
  };
  for (const turn of turns.filter(({ status }) => status !== "cancelled")) {
    const { id: turnId, startedAt, endedAt, notBefore, queuedAt } = turn;
    add("waiting", queuedAt, { words: "for mail or others" });
    const heldUntil = Math.min(notBefore, startedAt ?? notBefore);
    if (notBefore > queuedAt) add("parked", heldUntil, { words: pauseWords(before), turnId });
    before = turn;
    if (startedAt === null) {
      add("queued", null, { turnId, words: "for a place" });
      return spans;
    }
    add("queued", startedAt, { turnId, words: "for a place" });
    add("starting", begun.get(turnId) ?? startedAt, { turnId, words: `by ${turn.trigger}` });
    const failed = turn.status === "failed" || turn.status === "lost";
    add("turn", endedAt, { turnId, words: turnWords(turn), failed, costMicros: turn.costMicros });
    if (endedAt === null) return spans;
  }
  if (hasEnded(agent)) add("waiting", agent.endedAt ?? agent.lastActivityAt, { words: "for mail or others" });
  else add("waiting", null, { words: waitsFor === "" ? "for mail or others" : waitsFor });
  return spans;
}

function turnWords({ trigger, status, failure }: SpanTurn): string {
  if (status === "failed" && failure !== null) return `by ${trigger}; ${failures[failure].words}`;
  return status === "lost" ? `by ${trigger}; its process was lost` : `by ${trigger}`;
}

const pauseWords = (before: SpanTurn | undefined): string =>
  before?.failure == null ? "until it is due" : failures[before.failure].words;

/** Splits a span: the parts that holds cover are parked, the others keep their kind. */
function parkedParts(span: AgentSpan, holds: readonly Hold[]): readonly AgentSpan[] {
  const parts: AgentSpan[] = [];
  let at = span.from;
  const end = span.to ?? Number.POSITIVE_INFINITY;
  for (const hold of holds) {
    const from = Math.max(at, hold.from);
    const to = Math.min(end, hold.to ?? Number.POSITIVE_INFINITY);
    if (from >= to) continue;
    if (from > at) parts.push({ ...span, from: at, to: from });
    parts.push({ ...span, kind: "parked", words: hold.words, from, to: Number.isFinite(to) ? to : null });
    at = to;
  }
  if (at < end) parts.push({ ...span, from: at });
  return parts;
}

export interface Period {
  readonly from: number;
  readonly to: number;
}

/** Times of a range in which nothing was done, where they are longer than a part of the range. */
export function idlePeriods(range: Period, busy: readonly Period[], leastPart: number): readonly Period[] {
  const least = (range.to - range.from) * leastPart;
  const idle: Period[] = [];
  let at = range.from;
  const see = (from: number): void => {
    if (from - at > least) idle.push({ from: at, to: from });
  };
  for (const { from, to } of busy.toSorted((a, b) => a.from - b.from)) {
    see(Math.min(from, range.to));
    at = Math.max(at, to);
  }
  see(range.to);
  return idle;
}
