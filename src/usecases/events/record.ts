import type { Agent } from "../../domain/agent/agent.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import type { Event, EventFact, EventSource, NoticeKind } from "../../domain/event/event.ts";
import type { Tx } from "../../ports/store.ts";

/** The owner of the event. `agent` stands for its id, name and run; a field that is given as well counts instead. */
export interface EventOwner extends Partial<Pick<Event, "runId" | "agentName" | "agentId" | "turnId">> {
  readonly source: EventSource;
  readonly agent?: Pick<Agent, "id" | "name" | "runId"> | null | undefined;
}

export type NewEvent = EventOwner & EventFact & Partial<Pick<Event, "line" | "part">>;

/**
 * Puts on record what happened, in the transaction in which it happens. All events are written here. An event whose
 * place in a turn's output (`turnId`, `line`, `part`) is already on record is skipped.
 */
export async function record(tx: Pick<Tx, "events">, now: number, ...events: readonly NewEvent[]): Promise<void> {
  await tx.events.append(
    events.map(({ agent, ...event }) => ({
      ...(agent == null ? {} : { runId: agent.runId, agentName: agent.name, agentId: agent.id }),
      ...event,
      createdAt: now,
    })),
  );
}

/** What a caller did. `runId`: the run of the thing that changed, when it has one; otherwise the caller's. */
export function byCaller(caller: Caller, runId: string | null = null): EventOwner {
  if (caller.kind !== "agent") return { source: caller.kind, runId };
  const { kind: source, name: agentName, agentId, turnId } = caller;
  return { source, runId: runId ?? caller.runId, agentName, agentId, turnId };
}

/**
 * May this be told? True the first time, in the transaction that then tells it; false ever after. If that transaction
 * fails, the next try may tell it.
 */
export const notice = (
  tx: Pick<Tx, "notices">,
  { kind, about, key = "" }: { readonly kind: NoticeKind; readonly about: string; readonly key?: string },
): Promise<boolean> => tx.notices.once(about, kind, key, null);
