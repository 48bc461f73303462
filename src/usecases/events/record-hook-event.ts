import { type HookEvent, type HookSeen, hookEvents, hookFact } from "../../domain/hook/hook.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { anything, decimal, fields, oneOf, orNull, type SchemaOf, text } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";
import { byCaller, record } from "./record.ts";

export interface RecordEventRequest {
  readonly event: HookEvent;
  /** What the hook was told. */
  readonly seen: HookSeen;
  /** Whom it is about; an agent's own events are always about itself. */
  readonly agent?: string;
}

const hookSeen: SchemaOf<HookSeen> = fields(
  {},
  {
    tool: orNull(text),
    toolUseId: orNull(text),
    toolInput: anything,
    summary: orNull(text),
    durationMs: orNull(decimal),
    sessionId: orNull(text),
    source: orNull(text),
    transcript: orNull(text),
  },
);

/** One event from a hook of an agent's runtime: what it sees at every tool call, so it costs one insert. */
export const recordHookEvent: UseCase<RecordEventRequest, { readonly type: string }> = {
  kind: "write",
  request: fields({ event: oneOf(hookEvents), seen: hookSeen }, { agent: text }),
  run: async (tx, { caller, now, ids }, { event, seen, agent }) => {
    if (!hookEvents.includes(event)) {
      return no(invalid("event", "is no event of a hook", { value: event, allowed: hookEvents }));
    }
    const about = caller.kind === "agent" ? byCaller(caller) : { agentName: agent ?? null };
    const fact = hookFact(event, seen, ids.digest);
    await record(tx, now, { ...about, ...fact, source: "hook" });
    if (caller.kind === "agent") await tx.agents.sawActivity(caller.agentId, now);
    return ok({ type: fact.type });
  },
};
