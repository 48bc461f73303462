import type { Usage } from "../../domain/budget/usage.ts";
import type { EventFact } from "../../domain/event/event.ts";
import { keptInput } from "../../domain/event/tool-call.ts";
import { shortened } from "../../domain/text/sizes.ts";
import { mailPollWarning } from "../../domain/turn/mail-poll.ts";
import type { TurnEvent } from "../../domain/turn/turn-event.ts";
import { changeState } from "../../usecases/agents/change-state.ts";
import { recordUsage } from "../../usecases/budgets/record-usage.ts";
import { type NewEvent, record } from "../../usecases/events/record.ts";
import { type OwnedTurn, turnLease } from "./begin.ts";
import type { PlacedEvent } from "./output-log.ts";
import type { SupervisorPorts } from "./ports.ts";

/** What was read of the output since the last time, and up to where. */
interface Seen {
  readonly batch: readonly PlacedEvent[];
  readonly grew: boolean;
  readonly place: { readonly offset: number; readonly lines: number };
}

/** Stores a batch with everything that follows from it, beating the lease. False when the turn is no longer ours. */
export async function storeEvents(
  ports: SupervisorPorts,
  owned: OwnedTurn,
  { batch, grew, place }: Seen,
): Promise<boolean> {
  const { turn, agent, fence } = owned;
  const now = ports.clock.now();
  return ports.store.transaction(async (tx) => {
    if (!(await tx.turns.progress(turn.id, fence, place.offset, place.lines))) return false;
    await tx.leases.beat(turnLease(turn.id), fence);
    // Any bytes are a sign of life, also of a line that is not complete.
    if (batch.length > 0 || grew) await tx.agents.sawActivity(agent.id, now);
    if (batch.length === 0) return true;
    const current = await tx.agents.get(agent.id);
    if (current !== undefined && current.state !== "in_turn") {
      await changeState(tx, current, { to: "in_turn", actor: "supervisor", reason: "first output" }, now);
    }
    for (const { event } of batch) {
      if (event.kind !== "session") continue;
      await tx.agents.sawProviderSession(agent.id, event.providerSessionId, event.version);
      await tx.turns.sawProviderSession(turn.id, event.providerSessionId);
    }
    await recordUsage(
      tx,
      batch.flatMap(({ event }) => (event.kind === "usage" ? [usageOf(owned, event, now)] : [])),
    );
    await record(tx, now, ...batch.flatMap((placed) => describe(ports, owned, placed)));
    return true;
  });
}

function describe({ ids }: SupervisorPorts, { turn, agent }: OwnedTurn, placed: PlacedEvent): NewEvent[] {
  const { line, part, event } = placed;
  const shape = shapeOf(placed, turn.resumeRequested, ids.digest);
  if (shape === undefined) return [];
  const warning = event.kind === "tool-start" ? mailPollWarning(event.input) : undefined;
  const place = { agent, turnId: turn.id, line, part };
  const own: NewEvent = { ...place, source: "agent", ...shape };
  // Its own place in the stream: re-reading the file must not store it twice.
  return warning === undefined
    ? [own]
    : [{ ...place, part: part + warningParts, source: "supervisor", ...warning }, own];
}

function usageOf({ turn, agent }: OwnedTurn, event: Extract<TurnEvent, { kind: "usage" }>, now: number): Usage {
  const { kind: _, ...counts } = event;
  return {
    ...counts,
    turnId: turn.id,
    agentName: agent.name,
    runId: agent.runId,
    taskId: agent.taskId,
    createdAt: now,
  };
}

/** What an agent says is kept as events up to this length; its raw output has the whole. */
const mostTextChars = 64_000;
/** The beginning of a thought, or of a failed tool's answer, tells what it is about. */
const mostAnswerChars = 4_000;

/** No line has as many events. */
const warningParts = 1_000;

function shapeOf(
  { event, call }: PlacedEvent,
  resumed: string | null,
  digest: (text: string) => string,
): EventFact | undefined {
  switch (event.kind) {
    case "session":
      if (resumed !== null && resumed !== event.providerSessionId) {
        const data = { requestedSessionId: resumed, observedSessionId: event.providerSessionId };
        return { type: "resume_mismatch", level: "warn", data };
      }
      return { type: "session_start", data: { providerSessionId: event.providerSessionId, model: event.model } };
    case "text":
      return { type: "progress", data: { text: shortened(event.text, mostTextChars) } };
    case "thinking":
      return { type: "thinking", level: "debug", data: { text: shortened(event.text, mostAnswerChars) } };
    case "tool-start": {
      const { id, name: tool, summary, input } = event;
      return { type: "tool_start", data: { id, tool, summary, ...keptInput(input, digest) } };
    }
    case "tool-end":
      return {
        type: "tool_end",
        level: event.failed ? "warn" : "info",
        data: {
          id: event.id,
          ...(call ?? { tool: null, summary: null, durationMs: null }),
          failed: event.failed,
          ...(event.said === undefined ? {} : { said: shortened(event.said, mostAnswerChars) }),
        },
      };
    case "retry":
      return {
        type: "retry",
        level: "warn",
        data: { attempt: event.attempt, delayMs: event.delayMs, cause: event.cause },
      };
    case "usage": {
      const { kind: _, ...data } = event;
      return { type: "usage", level: "debug", data };
    }
    case "turn-ended":
      return {
        type: "result",
        level: event.failure === null ? "info" : "error",
        data: {
          cause: event.failure ?? "completed",
          text: shortened(event.text, mostTextChars),
          costUsd: event.costUsd,
        },
      };
    case "hopeless":
      return {
        type: "hopeless",
        level: "error",
        data: { cause: event.failure, text: shortened(event.text, mostTextChars) },
      };
    case "denied": {
      const { kind: _, ...data } = event;
      return { type: "guard_denied", level: "warn", data };
    }
    case "malformed":
      return { type: "malformed_output", level: "warn", data: { bytes: event.bytes } };
    case "other":
      return undefined;
  }
}
