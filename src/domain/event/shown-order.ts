import { payloadFields } from "../mail/payload.ts";
import type { Event } from "./event.ts";

/** Events as a reader understands them: what a tool call caused stands behind the call, though it was stored before it. */
export const inShownOrder = (events: readonly Event[]): readonly Event[] => inOrder(afterTheirCalls(events));

/**
 * A command of ours records its mail before the supervisor reads the tool call that ran the command. So the log shows
 * the mail after that call. A mail without a later call stays where it is.
 */
function afterTheirCalls(events: readonly Event[]): readonly Event[] {
  const shown: Event[] = [];
  const waiting: Event[] = [];
  const calls = events.filter(sendsMail);
  for (const event of events) {
    const isLate = event.type === "mail_sent" && calls.some((call) => isLaterInTurn(call, event));
    if (isLate) waiting.push(event);
    else shown.push(event);
    if (sendsMail(event)) shown.push(...waiting.splice(0, 1));
    if (event.type === "turn_end") shown.push(...waiting.splice(0));
  }
  return [...shown, ...waiting];
}

const isLaterInTurn = (call: Event, mail: Event): boolean => call.turnId === mail.turnId && call.seq > mail.seq;

const sendsMail = ({ type, data }: Event): boolean =>
  type === "tool_start" && /\bov (mail|done|nudge|coordinator)\b|overstory/.test(JSON.stringify(payloadFields(data)));

/** A guard's word is on record before the call that it denied has been read from the output: it is shown after it. */
function inOrder(events: readonly Event[]): readonly Event[] {
  const idOf = ({ data }: Event): unknown => payloadFields(data).id;
  const denied = events.filter(
    ({ type, data }) => type === "guard_denied" && typeof payloadFields(data).id === "string",
  );
  const late = new Set(
    denied.filter((denial) =>
      events.some((event) => event.type === "tool_start" && event.seq > denial.seq && idOf(event) === idOf(denial)),
    ),
  );
  if (late.size === 0) return events;
  return events.flatMap((event) => {
    if (late.has(event)) return [];
    if (event.type !== "tool_start") return [event];
    return [event, ...[...late].filter((denial) => idOf(denial) === idOf(event))];
  });
}
