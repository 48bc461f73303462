import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import type { Event } from "../../domain/event/event.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, text, whole } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";
import { type LogLine, logLines } from "./log-line.ts";
import { findAgent } from "./subordinate.ts";

export interface LogsRequest {
  readonly name: string;
  /** The newest so many lines. */
  readonly lines: number;
  /** Only what was said after this place. */
  readonly after?: number | undefined;
  /** Only this turn: its id, or its place among the turns of the newest incarnation, from 1. */
  readonly turn?: string | undefined;
}

export interface LogsReply {
  readonly agentName: string;
  readonly lines: readonly LogLine[];
  /** The place to go on from. */
  readonly cursor: number;
  /** Nothing more will come. */
  readonly ended: boolean;
}

/** What an agent did and said, as text, over all its turns and incarnations. */
export const readLogs: UseCase<LogsRequest, LogsReply> = {
  kind: "read",
  request: fields({ name: text, lines: whole }, { after: whole, turn: text }),
  run: async (tx, _context, { name, lines, after, turn }) => {
    const found = await findAgent(tx, name);
    if (!found.ok) return found;
    const agent = found.value;
    const turnId = await turnOf(tx, agent, turn);
    if (!turnId.ok) return turnId;
    const cursor = await tx.events.last();
    const wanted = (event: Event): boolean =>
      event.agentName === agent.name && (turnId.value === undefined || event.turnId === turnId.value);
    const written = await newest(tx, { after: after ?? 0, cursor, lines, wanted });
    return ok({ agentName: agent.name, lines: written.slice(-lines), cursor, ended: hasEnded(agent) });
  },
};

async function turnOf(tx: Tx, agent: Agent, given: string | undefined): Promise<Result<string | undefined, Refusal>> {
  if (given === undefined) return ok(undefined);
  const ran = (await tx.turns.listFor(agent.id)).filter(({ startedAt }) => startedAt !== null);
  const place = /^\d+$/.test(given) ? ran[Number(given) - 1]?.id : undefined;
  const id = place ?? (await tx.turns.get(given))?.id;
  if (id !== undefined) return ok(id);
  const known = ran.map(({ id: one }, at) => `${at + 1} (${one})`);
  return no(invalid("turn", `is no turn of ${agent.name}`, { value: given, allowed: known }));
}

const page = 500;

/** Backwards in pages, until there are enough lines. */
async function newest(
  tx: Tx,
  from: {
    readonly after: number;
    readonly cursor: number;
    readonly lines: number;
    readonly wanted: (event: Event) => boolean;
  },
): Promise<readonly LogLine[]> {
  let found: readonly LogLine[] = [];
  for (let end = from.cursor; end > from.after && found.length < from.lines; end -= page) {
    const start = Math.max(from.after, end - page);
    const events = (await tx.events.after(start, page)).filter(({ seq }) => seq <= end);
    found = [...inOrder(afterTheirCalls(events.filter(from.wanted))).flatMap(logLines), ...found];
  }
  return found;
}

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
