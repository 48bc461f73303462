import type { Agent } from "../../domain/agent/agent.ts";
import type { TokenCounts } from "../../domain/budget/usage.ts";
import { noTokens } from "../../domain/budget/usage.ts";
import type { Event } from "../../domain/event/event.ts";
import { type TurnStory, turnStory } from "../../domain/event/turn-story.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, text, whole, withValues } from "../../domain/schema/schema.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { EventFilter } from "../../ports/store/events.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";
import { type EventsRead, newestPage, pageOf } from "./read-events.ts";

export interface TraceRequest {
  /** The name of an agent, or the id of a task or of a run. */
  readonly target: string;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** The newest so many events, or turns. */
  readonly limit: number;
  readonly before?: number | undefined;
}

const traceRequest = () =>
  fields<TraceRequest>({ target: text, limit: whole }, { since: whole, until: whole, before: whole });

/** What the name or id of a trace stands for. */
export type TraceSubject =
  | { readonly kind: "agent"; readonly id: string; readonly agents: readonly Agent[] }
  | { readonly kind: "task"; readonly id: string; readonly agents: readonly Agent[]; readonly runs: readonly string[] }
  | { readonly kind: "run"; readonly id: string; readonly agents: readonly Agent[] };

export interface Trace extends EventsRead {
  readonly target: string;
  readonly kind: TraceSubject["kind"];
}

/** What happened to an agent, for a task or in a run, in order. */
export const traceEvents: UseCase<TraceRequest, Trace> = {
  kind: "read",
  request: traceRequest(),
  run: async (tx, _context, { target, limit, ...bounds }) => {
    const found = await subjectOf(tx, target);
    if (!found.ok) return found;
    const { kind, id } = found.value;
    return ok({ target: id, kind, ...(await eventsOf(tx, found.value, withValues(bounds), limit)) });
  },
};

/** A turn with its events. */
export interface TracedTurn {
  readonly turn: Turn;
  readonly story: TurnStory;
  readonly tokens: TokenCounts;
  /** It has more events than were read: its last steps are missing. */
  readonly isCut: boolean;
}

export interface TurnTrace {
  readonly target: string;
  readonly kind: TraceSubject["kind"];
  readonly turns: readonly TracedTurn[];
  /** There are turns before these, which are not shown. */
  readonly hasOlder: boolean;
}

/** The newest turns of an agent, a task or a run, oldest first, each with its tool calls, its mail and its end. */
export const traceTurns: UseCase<Omit<TraceRequest, "before">, TurnTrace> = {
  kind: "read",
  request: fields({ target: text, limit: whole }, { since: whole, until: whole }),
  run: async (tx, _context, { target, limit, since, until }) => {
    const found = await subjectOf(tx, target);
    if (!found.ok) return found;
    const { kind, id, agents } = found.value;
    const ids = agents.map(({ id: agentId }) => agentId);
    // Turns of another time are left out only after they were read: few people ask for a time of the past.
    const isBounded = since !== undefined || until !== undefined;
    const newest = await tx.turns.newestOf(ids, isBounded ? mostTurns : limit + 1);
    const fitting = newest.filter(
      ({ startedAt, endedAt }) =>
        (startedAt ?? 0) <= (until ?? Number.POSITIVE_INFINITY) &&
        (endedAt ?? Number.POSITIVE_INFINITY) >= (since ?? 0),
    );
    const shown = fitting.slice(Math.max(0, fitting.length - limit));
    const turns: TracedTurn[] = [];
    for (const turn of shown) turns.push(await tracedTurn(tx, turn));
    return ok({ target: id, kind, turns, hasOlder: fitting.length > shown.length });
  },
};

/** The most turns of one agent that are looked at for a time of the past. */
const mostTurns = 10_000;

/** The most events of one turn that are read. */
const mostOfTurn = 5_000;

export async function tracedTurn(tx: Tx, turn: Turn): Promise<TracedTurn> {
  const events = await tx.events.first({ turnId: turn.id, types: storyTypes }, mostOfTurn);
  const tokens = { ...noTokens };
  for (const { input, output, cacheRead, cacheWrite } of await tx.usage.ofTurn(turn.id)) {
    tokens.input += input;
    tokens.output += output;
    tokens.cacheRead += cacheRead;
    tokens.cacheWrite += cacheWrite;
  }
  return { turn, story: turnStory(events), tokens, isCut: events.length === mostOfTurn };
}

const storyTypes = ["turn_start", "tool_start", "tool_end", "guard_denied", "mail_sent", "turn_end"] as const;

/** An agent comes before a task, and a task before a run. An agent whose name was typed in capitals comes last. */
async function subjectOf(tx: Tx, target: string): Promise<Result<TraceSubject, Refusal>> {
  const typed = target.trim();
  const exact = await agentSubject(tx, typed);
  if (exact !== undefined) return ok(exact);
  const agents = await tx.agents.list({ taskId: typed });
  const task = await tx.tasks.get(typed);
  if (task !== undefined || agents.length > 0) {
    const runs = [...agents.map(({ runId }) => runId), ...(task?.runId == null ? [] : [task.runId])];
    return ok({ kind: "task", id: typed, agents, runs: [...new Set(runs)] });
  }
  if ((await tx.runs.get(typed)) !== undefined)
    return ok({ kind: "run", id: typed, agents: await tx.agents.list({ runId: typed }) });
  const lower = await agentSubject(tx, typed.toLowerCase());
  if (lower !== undefined) return ok(lower);
  const names = [...(await tx.agents.names()), ...(await tx.tasks.ids())];
  const advice = "name an agent, a task or a run: ov status --all, ov task list, ov run list";
  return no({ ...notFound("agent", target, nearest(typed.toLowerCase(), names)), advice });
}

async function agentSubject(tx: Tx, name: string): Promise<TraceSubject | undefined> {
  if ((await tx.agents.byName(name)) === undefined) return undefined;
  return { kind: "agent", id: name, agents: await tx.agents.list({ name }) };
}

async function eventsOf(tx: Tx, subject: TraceSubject, bounds: EventFilter, limit: number): Promise<EventsRead> {
  switch (subject.kind) {
    case "agent":
      return newestPage(tx, { ...bounds, agents: [subject.id] }, limit);
    case "run":
      return newestPage(tx, { ...bounds, runId: subject.id }, limit);
    case "task":
      return taskPage(tx, subject, bounds, limit);
  }
}

/** What the agents of a task did, and what others recorded about the task. */
async function taskPage(
  tx: Tx,
  { id, agents, runs }: Extract<TraceSubject, { kind: "task" }>,
  bounds: EventFilter,
  limit: number,
): Promise<EventsRead> {
  const ids = new Set(agents.map(({ id: agentId }) => agentId));
  const names = [...new Set(agents.map(({ name }) => name))];
  const ofAgents = (event: Event): boolean => event.agentId !== null && ids.has(event.agentId);
  const aboutTask = (event: Event): boolean => payloadFields(event.data).taskId === id;
  const found = new Map<number, Event>();
  const collect = async (filter: EventFilter, fits: (event: Event) => boolean): Promise<void> => {
    for (const event of await newestThat(tx, { ...bounds, ...filter }, fits, limit + 1)) found.set(event.seq, event);
  };
  if (names.length > 0) await collect({ agents: names }, ofAgents);
  // A task may be older than its run.
  for (const runId of [...runs, null]) await collect({ runId, factsOnly: true, types: taskTypes }, aboutTask);
  const inOrder = [...found.values()].toSorted((a, b) => a.seq - b.seq);
  return { ...pageOf(inOrder.slice(Math.max(0, inOrder.length - limit - 1)), limit), cursor: await tx.events.last() };
}

/** The kinds whose data names a task. */
const taskTypes = [
  "spawn",
  "completion_accepted",
  "learned",
  "merge_queued",
  "merge_approved",
  "merge_waits",
  "merge_moved",
  "merge_superseded",
  "merge_cancelled",
  "merge_landed",
  "merge_failed",
  "merge_blocked",
  "merge_undone",
  "task_created",
  "task_claimed",
  "task_updated",
  "task_closed",
  "task_dropped",
  "task_reopened",
  "task_returned",
  "task_unblocked",
  "task_dependency_added",
  "task_dependency_removed",
  "spec_written",
] as const;

/** Backwards in pages until enough events fit, or until so many were looked at. */
async function newestThat(
  tx: Tx,
  filter: EventFilter,
  fits: (event: Event) => boolean,
  limit: number,
): Promise<readonly Event[]> {
  let found: readonly Event[] = [];
  let before = filter.before;
  for (let looked = 0; looked < mostLooked; ) {
    const page = await tx.events.newest({ ...filter, ...withValues({ before }) }, Math.max(limit, 500));
    looked += page.length;
    found = [...page.filter(fits), ...found];
    if (page.length < Math.max(limit, 500) || found.length >= limit) break;
    before = page[0]?.seq;
  }
  return found.slice(-limit);
}

const mostLooked = 200_000;
