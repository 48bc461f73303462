import type { Event, UnstoredEvent } from "../../domain/event/event.ts";
import type { EventKind } from "../../domain/event/event-kinds.ts";

/** The log of events. Rows are added and never changed. */
export interface EventRows {
  /** Appends; an event whose (turn, line, part) is already stored is skipped. */
  append(events: readonly UnstoredEvent[]): Promise<void>;
  /** Events numbered above the cursor, in order. A reader that goes on from the last number it saw misses none. */
  after(cursor: number, limit: number): Promise<Event[]>;
  last(): Promise<number>;
  /** The events of one kind that were read from a turn's output, in the order of its lines. */
  ofTurn(turnId: string, type: EventKind): Promise<Event[]>;
}

/** Guards a notice: true the first time (agent, kind, key) is seen, false ever after. */
export interface NoticeRows {
  once(agentId: string, kind: string, key: string, messageSeq: number | null): Promise<boolean>;
}

/** The audit: who asked for what, and whether it was refused. */
export interface AuditRows {
  record(entry: { caller: string; action: string; refused: boolean; detail: string; now: number }): Promise<void>;
  list(
    limit: number,
  ): Promise<{ seq: number; caller: string; action: string; refused: boolean; detail: string; createdAt: number }[]>;
}
