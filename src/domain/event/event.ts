import type { EventData, EventKind } from "./event-kinds.ts";

/** The source of an event. Only `agent` and `hook` count as an agent's own activity. */
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

/**
 * Every kind of notice: a message of the engine that is sent once. A notice is known by its kind, its subject and its
 * key; the same kind about the same subject is sent again only under another key. The words are stored in users'
 * databases, so a kind is never renamed.
 */
export const noticeKinds = [
  // About an agent, by its id
  "worker_died",
  "hopeless",
  "unsettled_work",
  /** Key: when the wait began. */
  "rate_limit",
  /** Key: the turn that does not start, or the agent that gets no worktree. */
  "turn_late",
  "seat_late",
  /** Key: the turn before which it was found, and the words. */
  "worktree_changed",
  // About a run, by its id. Key: a digest of the agents it covers
  "phase",
  "finished",
  /** About the subject of a budget. Key: the ledger and its limit. */
  "budget_exceeded",
  /** About the subject of a budget. Key: the ledger. */
  "budget_unpriced",
  /** About a branch, and about its entry in the merge queue. Key: the commit. */
  "merge_doubt",
  /** About an agent. Key: what kept its work from being kept. */
  "snapshot_failed",
  /** About a question, by its id. Key: the id of the agent that was asked. */
  "unanswered",
  /** About an agent, by its id. Key: the last of its turns. */
  "stands_still",
] as const;
export type NoticeKind = (typeof noticeKinds)[number];
