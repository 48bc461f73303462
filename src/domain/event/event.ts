import type { EventData, EventKind } from "./event-kinds.ts";

/** Who caused an event. Only `agent` and `hook` count as an agent's own activity. */
export const eventSources = ["agent", "hook", "engine", "supervisor", "watchdog", "operator"] as const;
export type EventSource = (typeof eventSources)[number];

export const eventLevels = ["debug", "info", "warn", "error"] as const;
export type EventLevel = (typeof eventLevels)[number];

/** What happened: a kind of the table in `event-kinds.ts` and its data. */
export type EventFact<Kind extends EventKind = EventKind> = Kind extends EventKind
  ? { readonly type: Kind; readonly level?: EventLevel; readonly data: EventData<Kind> }
  : never;

/** An immutable, numbered record of what happened. `turnId`, `line` and `part` make re-reading an output file harmless. */
export interface Event {
  readonly seq: number;
  readonly runId: string | null;
  readonly agentName: string | null;
  readonly agentId: string | null;
  readonly turnId: string | null;
  readonly line: number | null;
  readonly part: number | null;
  readonly source: EventSource;
  readonly level: EventLevel;
  readonly type: string;
  readonly data: string | null;
  readonly createdAt: number;
}

/** An event as the store takes it. It stores any kind: a database may hold kinds of another version. */
export type UnstoredEvent = Omit<
  Event,
  "seq" | "runId" | "agentName" | "agentId" | "turnId" | "line" | "part" | "level" | "data"
> &
  Partial<Pick<Event, "runId" | "agentName" | "agentId" | "turnId" | "line" | "part" | "level">> & {
    readonly data?: unknown;
  };
