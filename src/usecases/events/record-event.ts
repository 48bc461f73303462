import type { EventFact } from "../../domain/event/event.ts";
import { type HookEventKind, hookEventTypes } from "../../domain/hook/hook-event.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import type { UseCase } from "../usecase.ts";
import { byCaller, record } from "./record.ts";

export type RecordEventRequest = EventFact<HookEventKind> & {
  /** Whom it is about; an agent's own events are always about itself. */
  readonly agent?: string;
};

/** One event from a hook of an agent's runtime: what it sees at every tool call, so it costs one insert. */
export const recordHookEvent: UseCase<RecordEventRequest, { readonly type: string }> = {
  kind: "write",
  run: async (tx, { caller, now }, { agent, ...fact }) => {
    const allowed = Object.values(hookEventTypes);
    if (!allowed.includes(fact.type))
      return no(invalid("type", "is no event of a hook", { value: fact.type, allowed }));
    const about = caller.kind === "agent" ? byCaller(caller) : { agentName: agent ?? null };
    await record(tx, now, { ...about, ...fact, source: "hook" });
    if (caller.kind === "agent") await tx.agents.sawActivity(caller.agentId, now);
    return ok({ type: fact.type });
  },
};
