import type { EventData } from "../../domain/event/event-kinds.ts";
import type { ToolEnd, ToolStart, TurnEvent } from "../../domain/turn/turn-event.ts";

/** What the end of a call is put on record with besides its own words. */
export type EndedCall = Pick<EventData<"tool_end">, "tool" | "summary" | "durationMs">;

interface Moment {
  /** By the runtime's own word, ms UTC. */
  readonly stated: number | null;
  /** When the line was read, ms UTC; null when an earlier supervisor read it and did not store when. */
  readonly read: number | null;
}

/** The calls of tools in one turn that have begun and not ended. The end of a call names only the id of the call. */
export class ToolCalls {
  readonly #open = new Map<string, ToolStart & { readonly began: Moment }>();

  /** To be given every event of the turn in order. Answers for the end of a call. */
  see(event: TurnEvent, readAt: number | null): EndedCall | undefined {
    if (event.kind === "tool-start") {
      this.#open.set(event.id, { ...event, began: { stated: event.at, read: readAt } });
      return undefined;
    }
    return event.kind === "tool-end" ? this.#end(event, readAt) : undefined;
  }

  #end({ id, at }: ToolEnd, readAt: number | null): EndedCall {
    const call = this.#open.get(id);
    this.#open.delete(id);
    if (call === undefined) return { tool: null, summary: null, durationMs: null };
    return { tool: call.name, summary: call.summary, durationMs: between(call.began, { stated: at, read: readAt }) };
  }
}

/** Two clocks are never mixed: a line is read up to a second after it was written. */
function between(began: Moment, ended: Moment): number | null {
  const stated = difference(began.stated, ended.stated);
  return stated ?? difference(began.read, ended.read);
}

const difference = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : Math.max(0, to - from);
