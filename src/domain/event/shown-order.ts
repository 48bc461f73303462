import { payloadFields } from "../mail/payload.ts";
import type { Event } from "./event.ts";

/** Events as a reader understands them: what a tool call caused stands behind the call, though it was stored before it. */
export const inShownOrder = (events: readonly Event[]): readonly Event[] => inOrder(afterTheirCalls(events));

/**
 * A command of ours records its mail before the supervisor reads the tool call that ran the command. So the log shows
 * the mail after that call. A mail without a later call stays where it is.
 */
function afterTheirCalls(events: readonly Event[]): readonly Event[] {
  const calls = new Set(events.filter(sendsMail));
  const lastCalls = new Map<string | null, number>();
  for (const { turnId, seq } of calls) lastCalls.set(turnId, Math.max(seq, lastCalls.get(turnId) ?? seq));
  const shown: Event[] = [];
  const waiting: Event[] = [];
  for (const event of events) {
    const isLate = event.type === "mail_sent" && (lastCalls.get(event.turnId) ?? 0) > event.seq;
    if (isLate) waiting.push(event);
    else shown.push(event);
    if (calls.has(event)) shown.push(...waiting.splice(0, 1));
    if (event.type === "turn_end") shown.push(...waiting.splice(0));
  }
  return [...shown, ...waiting];
}

const sendsMail = ({ type, data }: Event): boolean =>
  type === "tool_start" && data !== null && /\bov (mail|done|nudge|coordinator)\b|overstory/.test(data);

/** A guard's word is on record before the call that it denied has been read from the output: it is shown after it. */
function inOrder(events: readonly Event[]): readonly Event[] {
  const denials = Map.groupBy(
    events.filter(({ type }) => type === "guard_denied"),
    callId,
  );
  denials.delete(undefined);
  if (denials.size === 0) return events;
  const starts = new Map(events.flatMap((event) => (event.type === "tool_start" ? [[event, callId(event)]] : [])));
  const lastStarts = new Map<string | undefined, number>();
  for (const [{ seq }, id] of starts) lastStarts.set(id, Math.max(seq, lastStarts.get(id) ?? seq));
  const late = new Map<string | undefined, readonly Event[]>();
  for (const [id, of] of denials) {
    late.set(
      id,
      of.filter(({ seq }) => (lastStarts.get(id) ?? 0) > seq),
    );
  }
  const moved = new Set([...late.values()].flat());
  return events.flatMap((event) => {
    if (moved.has(event)) return [];
    return starts.has(event) ? [event, ...(late.get(starts.get(event)) ?? [])] : [event];
  });
}

const callId = ({ data }: Event): string | undefined => {
  const { id } = payloadFields(data);
  return typeof id === "string" ? id : undefined;
};
