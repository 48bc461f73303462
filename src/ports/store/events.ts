import type { Event, EventLevel, UnstoredEvent } from "../../domain/event/event.ts";
import type { EventKind } from "../../domain/event/event-kinds.ts";

/** Which events to list. Every field that is given narrows the list. */
export interface EventFilter {
  /** What one of these agents did, or what happened to it. */
  readonly agents?: readonly string[];
  /** Null: events that belong to no run. */
  readonly runId?: string | null;
  /** Only this turn. */
  readonly turnId?: string;
  readonly types?: readonly string[];
  /** Leaves out events that were read from the output of an agent. */
  readonly factsOnly?: boolean;
  /** At least this serious. */
  readonly level?: EventLevel;
  /** Both moments included. */
  readonly since?: number;
  readonly until?: number;
  /** Numbers between these, which are not included themselves. */
  readonly after?: number;
  readonly before?: number;
}

/** The log of events. Rows are added and never changed. */
export interface EventRows {
  /** Appends; an event whose (turn, line, part) is already stored is skipped. */
  append(events: readonly UnstoredEvent[]): Promise<void>;
  /** Events numbered above the cursor, in order. A reader that goes on from the last number it saw misses none. */
  after(cursor: number, limit: number): Promise<Event[]>;
  last(): Promise<number>;
  get(seq: number): Promise<Event | undefined>;
  /** The newest `limit` matching events, oldest first. Reads no more rows than necessary, however long the log is. */
  newest(filter: EventFilter, limit: number): Promise<Event[]>;
  /** The first so many events that fit, in order. */
  first(filter: EventFilter, limit: number): Promise<Event[]>;
  /** The time of the oldest of the newest so many events; undefined while there are no more than these. */
  newestBut(count: number): Promise<number | undefined>;
  /** The events of one kind that were read from a turn's output, in the order of its lines. */
  ofTurn(turnId: string, type: EventKind): Promise<Event[]>;
  /** The newest events that were read from a turn's output, newest first. */
  newestOfTurn(turnId: string, limit: number): Promise<Event[]>;
}

/** Guards a notice: true the first time (agent, kind, key) is seen, false ever after. */
export interface NoticeRows {
  once(agentId: string, kind: string, key: string, messageSeq: number | null): Promise<boolean>;
}

/** The audit: who asked for what, and whether it was refused. */
export interface AuditRows {
  record(entry: { caller: string; action: string; refused: boolean; detail: string; now: number }): Promise<void>;
  /** The newest so many that fit, newest first. */
  list(limit: number, filter?: AuditFilter): Promise<AuditEntry[]>;
}

export interface AuditEntry {
  readonly seq: number;
  readonly caller: string;
  readonly action: string;
  readonly refused: boolean;
  readonly detail: string;
  readonly createdAt: number;
}

/** Which entries to list. Every field that is given narrows the list. */
export interface AuditFilter {
  /** Only entries with smaller numbers. */
  readonly before?: number | undefined;
  readonly refused?: boolean | undefined;
  /** Rows whose caller, action or detail contain this text, in upper or lower case. */
  readonly text?: string | undefined;
}
