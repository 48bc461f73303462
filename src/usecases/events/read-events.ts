import { type ErrorGroup, errorGroups } from "../../domain/event/error-groups.ts";
import { type Event, type EventLevel, eventLevels } from "../../domain/event/event.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, list, oneOf, text, whole, withValues } from "../../domain/schema/schema.ts";
import type { EventFilter } from "../../ports/store/events.ts";
import type { Tx } from "../../ports/store.ts";
import { findAgent } from "../agents/find-agent.ts";
import type { Stream } from "../operation.ts";
import type { UseCase } from "../usecase.ts";

/** Which events are asked for. Moments are in milliseconds since 1970, both included. */
export interface EventsRequest {
  readonly agents?: readonly string[] | undefined;
  readonly run?: string | undefined;
  readonly level?: EventLevel | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** The newest so many. */
  readonly limit: number;
  /** Only events with smaller numbers: the cursor of an earlier answer. */
  readonly before?: number | undefined;
  /** Only events with larger numbers, and then the oldest so many of them: the way back from `before`. */
  readonly after?: number | undefined;
}

/** Events in the order in which they happened. */
export interface EventsRead {
  readonly events: readonly Event[];
  /** Older events fit too: the `before` that brings them. Null when there are none. */
  readonly older: number | null;
  /** The number of the newest event of all, to follow from. */
  readonly cursor: number;
}

const optional = {
  agents: list(text),
  run: text,
  level: oneOf(eventLevels),
  since: whole,
  until: whole,
  before: whole,
  after: whole,
} as const;

/** The newest events that fit. */
export const listEvents: UseCase<EventsRequest, EventsRead> = {
  kind: "read",
  request: fields({ limit: whole }, optional),
  run: async (tx, _context, { limit, ...question }) => {
    const filter = await eventFilter(tx, question);
    if (!filter.ok) return filter;
    if (question.after === undefined) return ok(await newestPage(tx, filter.value, limit));
    const events = await tx.events.first(filter.value, limit);
    return ok({ events, older: events[0]?.seq ?? null, cursor: await tx.events.last() });
  },
};

export interface FollowEventsRequest extends Omit<EventsRequest, "limit" | "before" | "until" | "after"> {
  /** Only events with larger numbers. */
  readonly after: number;
  /** At most one look in this time, unless more events came than one look takes. */
  readonly intervalMs: number;
}

/** Tells events as they are written, until the listener has left. */
export const followEvents: Stream<FollowEventsRequest, { readonly cursor: number }, readonly Event[]> = {
  kind: "stream",
  request: fields(
    { after: whole, intervalMs: whole },
    { agents: optional.agents, run: text, level: optional.level, since: whole },
  ),
  place: "engine",
  run: async (world, { intervalMs, after, ...question }, { onItem, signal }) => {
    let cursor = after;
    return world.until(async () => {
      const read = await world.call("event.readAfter", { ...question, after: cursor });
      if (!read.ok) return read;
      ({ cursor } = read.value);
      const { length } = read.value.events;
      if (length > 0) onItem(read.value.events);
      // A full page says that others wait: a listener that slept after each would fall behind for ever.
      if (length > 0 && length < followedAtOnce) await world.sleep(intervalMs, signal);
      return signal.aborted ? ok({ cursor }) : undefined;
    }, signal);
  },
};

export interface EventsAfterRequest extends Omit<FollowEventsRequest, "intervalMs"> {
  readonly until?: number | undefined;
  /** The first so many; as many as one step of a follower takes when it is left out. */
  readonly limit?: number | undefined;
}

/** The next events after a number. */
export const readEventsAfter: UseCase<
  EventsAfterRequest,
  { readonly events: readonly Event[]; readonly cursor: number }
> = {
  kind: "read",
  request: fields(
    { after: whole },
    { agents: optional.agents, run: text, level: optional.level, since: whole, until: whole, limit: whole },
  ),
  run: async (tx, _context, { after, limit = followedAtOnce, ...question }) => {
    const filter = await eventFilter(tx, question);
    if (!filter.ok) return filter;
    const last = await tx.events.last();
    const events = await tx.events.first({ ...filter.value, after }, limit);
    return ok({ events, cursor: events.length < limit ? Math.max(after, last) : (events.at(-1)?.seq ?? last) });
  },
};

const followedAtOnce = 500;

/** One page of the newest events that fit, with the cursor of the page before it. */
export async function newestPage(tx: Tx, filter: EventFilter, limit: number): Promise<EventsRead> {
  const cursor = await tx.events.last();
  const found = await tx.events.newest(filter, limit + 1);
  return { ...pageOf(found, limit), cursor };
}

/** The newest `limit` of some events, of which one more was asked for. */
export function pageOf(found: readonly Event[], limit: number): Omit<EventsRead, "cursor"> {
  const events = found.slice(Math.max(0, found.length - limit));
  return { events, older: found.length > limit ? (events[0]?.seq ?? null) : null };
}

/** The filter of a question, refused where it names an agent or a run that never was. */
async function eventFilter(
  tx: Tx,
  { agents, run, ...rest }: Omit<EventsRequest, "limit">,
): Promise<Result<EventFilter, Refusal>> {
  const names: string[] = [];
  for (const agent of agents ?? []) {
    const found = await findAgent(tx, agent);
    if (!found.ok) return found;
    names.push(found.value.name);
  }
  if (run !== undefined && (await tx.runs.get(run)) === undefined) return no(notFound("run", run));
  return ok({ ...(names.length === 0 ? {} : { agents: [...new Set(names)] }), ...withValues({ runId: run, ...rest }) });
}

export interface ErrorsRequest extends Omit<EventsRequest, "level" | "after"> {
  /** Put those together that have one cause. */
  readonly group: boolean;
}

export interface ErrorsRead extends EventsRead {
  /** Null unless groups were asked for. */
  readonly groups: readonly ErrorGroup[] | null;
}

/** What went wrong: warnings and errors, failed tools and denials among them. */
export const listErrors: UseCase<ErrorsRequest, ErrorsRead> = {
  kind: "read",
  request: fields(
    { limit: whole, group: flag },
    { agents: list(text), run: text, since: whole, until: whole, before: whole },
  ),
  run: async (tx, context, { group, ...question }) => {
    const read = await listEvents.run(tx, context, { ...question, level: "warn" });
    if (!read.ok) return read;
    return ok({ ...read.value, groups: group ? errorGroups(read.value.events) : null });
  },
};
