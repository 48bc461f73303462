import { type Agent, agentOutcomes, agentStates, hasEnded } from "../../domain/agent/agent.ts";
import { statusOf } from "../../domain/agent/status.ts";
import { type Event, type EventLevel, eventLevels } from "../../domain/event/event.ts";
import { type EventKind, isKnownKind } from "../../domain/event/event-kinds.ts";
import { eventWords } from "../../domain/event/event-words.ts";
import { inShownOrder } from "../../domain/event/shown-order.ts";
import { toolSummary } from "../../domain/event/tool-call.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, oneOf, text, whole, withValues } from "../../domain/schema/schema.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { EventFilter } from "../../ports/store/events.ts";
import type { Tx } from "../../ports/store.ts";
import type { Listener, Stream, World } from "../operation.ts";
import type { UseCase } from "../usecase.ts";
import { findAgent } from "./find-agent.ts";

export interface LogsRequest {
  /** Without a name: what all agents and the engine did. */
  readonly name?: string | undefined;
  /** The newest so many lines. */
  readonly lines: number;
  /** Only output after this place. */
  readonly after?: number | undefined;
  /** Only output before this place. */
  readonly before?: number | undefined;
  /** Only this turn: its id, or its place among the turns of the newest incarnation, from 1. */
  readonly turn?: string | undefined;
  /** Every event that is at least so serious, also those that have no line of their own otherwise. */
  readonly level?: EventLevel | undefined;
  /** Moments in milliseconds since 1970, both included. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

const logsRequest = () =>
  fields<LogsRequest>(
    { lines: whole },
    {
      name: text,
      after: whole,
      before: whole,
      turn: text,
      level: oneOf(eventLevels),
      since: whole,
      until: whole,
    },
  );

/** What an agent did and said, as text, over all its turns and incarnations; or what all of them did. */
export const readLogs: UseCase<LogsRequest, LinesRead<LogLine, string | null> & Pick<NewestLines, "older">> = {
  kind: "read",
  request: logsRequest(),
  run: async (tx, _context, request) => {
    const { name, lines, after, before, turn, level, since, until } = request;
    const found = name === undefined ? ok(undefined) : await findAgent(tx, name);
    if (!found.ok) return found;
    const agent = found.value;
    const wanted = await turnOf(tx, agent, turn);
    if (!wanted.ok) return wanted;
    const cursor = await tx.events.last();
    // The turn is enough: it has one agent.
    const subject =
      wanted.value !== undefined ? { turnId: wanted.value.id } : agent !== undefined ? { agents: [agent.name] } : {};
    const filter = {
      ...subject,
      ...withValues({ after, level, since, until }),
      before: Math.min(before ?? cursor + 1, cursor + 1),
    };
    const linesOf = (events: readonly Event[]): readonly LogLine[] =>
      inShownOrder(events).flatMap((event) => logLines(event, level !== undefined));
    const read = await newestLines(tx, { filter, lines, linesOf, isWhole: before !== undefined });
    return ok({
      agentName: agent?.name ?? null,
      ...read,
      cursor,
      ended: agent !== undefined && hasEnded(agent),
    });
  },
};

/** Tells what an agent does and says from a place on, until the agent has ended or the listener is gone. */
export const followLogs: Stream<
  LogsRequest,
  Pick<LinesRead<LogLine, string | null>, "agentName" | "ended">,
  readonly LogLine[]
> = {
  kind: "stream",
  request: logsRequest(),
  place: "engine",
  run: (world, request, listener) =>
    followLines(world, listener, request.after, (after) => world.call("agent.logs", { ...request, after })),
};

/** Lines of an agent from a place on. */
export interface LinesRead<Line, Name = string> {
  readonly agentName: Name;
  readonly lines: readonly Line[];
  /** The place to go on from. */
  readonly cursor: number;
  /** Nothing more will come. */
  readonly ended: boolean;
}

/** Reads lines from a place on and tells them, until the agent has ended or the listener has left. */
export function followLines<Line, Name>(
  world: World,
  { onItem, signal }: Listener<readonly Line[]>,
  from: number | undefined,
  read: (after: number | undefined) => Promise<Result<LinesRead<Line, Name>, Refusal>>,
): Promise<Result<Pick<LinesRead<Line, Name>, "agentName" | "ended">, Refusal>> {
  let after = from;
  return world.until(async () => {
    const found = await read(after);
    if (!found.ok) return found;
    const { agentName, lines, cursor, ended } = found.value;
    after = cursor;
    if (lines.length > 0) onItem(lines);
    return ended || signal.aborted ? ok({ agentName, ended }) : undefined;
  }, signal);
}

async function turnOf(
  tx: Tx,
  agent: Agent | undefined,
  typed: string | undefined,
): Promise<Result<Turn | undefined, Refusal>> {
  if (typed === undefined) return ok(undefined);
  const turn = await tx.turns.get(typed);
  if (turn !== undefined && (agent === undefined || turn.agentName === agent.name)) return ok(turn);
  if (agent === undefined)
    return no(invalid("turn", "is no id of a turn; name the agent to count its turns", { value: typed }));
  const ran = (await tx.turns.listFor(agent.id)).filter(({ startedAt }) => startedAt !== null);
  const counted = /^\d+$/.test(typed) ? ran[Number(typed) - 1] : undefined;
  if (counted !== undefined) return ok(counted);
  const known = ran.map(({ id }, at) => `${at + 1} (${id})`).slice(-namedTurns);
  return no(invalid("turn", `is no turn of ${agent.name}`, { value: typed, allowed: known }));
}

/** The newest turns, which a refusal names. */
const namedTurns = 10;

interface LinesWanted<Line> {
  readonly filter: EventFilter;
  /** How many, the newest ones. */
  readonly lines: number;
  /** The lines of some events in their order. */
  readonly linesOf: (events: readonly Event[]) => readonly Line[];
  /** All lines of the first event that is shown, also where these are more lines than asked for. */
  readonly isWhole?: boolean;
}

interface NewestLines<Line = LogLine> {
  readonly lines: readonly Line[];
  /** Events before this number have the lines before these; null when there are none. */
  readonly older: number | null;
}

/** The most events that are read at once. */
const largestPage = 500;

/**
 * Backwards in pages, until there are enough lines. Most events have one line or none. Where an event is cut, `older` names
 * the event behind it, so that the next page shows all its lines.
 */
export async function newestLines<Line extends { readonly seq: number }>(
  tx: Tx,
  { filter, lines, linesOf, isWhole = false }: LinesWanted<Line>,
): Promise<NewestLines<Line>> {
  let found: readonly Line[] = [];
  let before = filter.before;
  for (let page = Math.min(largestPage, Math.max(1, lines)); ; page = largestPage) {
    const events = await tx.events.newest({ ...filter, ...withValues({ before }) }, page);
    found = [...linesOf(events), ...found];
    before = events[0]?.seq;
    if (events.length === page && found.length < lines) continue;
    const first = Math.max(0, found.length - lines);
    const from = isWhole ? found.findIndex(({ seq }) => seq === found[first]?.seq) : first;
    const left = found.slice(0, Math.max(0, from));
    if (left.length === 0) return { lines: found, older: events.length === page ? (before ?? null) : null };
    return { lines: found.slice(from), older: Math.max(...left.map(({ seq }) => seq)) + 1 };
  }
}

export interface LogLine {
  readonly seq: number;
  readonly at: number;
  readonly agentName: string | null;
  readonly turnId: string | null;
  readonly level: EventLevel;
  readonly type: string;
  /** One line as the agent wrote it. Surfaces make its control bytes visible. */
  readonly text: string;
}

/**
 * What an event adds to the readable log of its agent; nothing for those that only machines need. An event of a kind
 * that this version does not know was written by a newer one: it is shown as it is.
 */
function logLines(event: Event, withEvery: boolean): readonly LogLine[] {
  const { seq, createdAt: at, agentName, turnId, level, type } = event;
  const written = isKnownKind(type) ? writers[type]?.(payloadFields(event.data)) : [unknownLine(event)];
  const isTrouble = level === "warn" || level === "error";
  const other = withEvery || (agentName === null && isTrouble) ? [otherLine(event, isTrouble)] : [];
  const texts = (written ?? other).filter((text) => text !== "");
  return texts.map((text) => ({ seq, at, agentName, turnId, level, type, text }));
}

/** An event that the log of an agent leaves out: it is shown where a level is asked for, and where it has no agent. */
const otherLine = (event: Event, isTrouble: boolean): string => {
  const { label, text } = eventWords(event);
  return `${isTrouble ? "!" : "-"} ${label.toLowerCase()}: ${text}`;
};

type Fields = Readonly<Record<string, unknown>>;

/** Fields are looked at one by one: rows of earlier versions may lack some. */
const writers: Readonly<Partial<Record<EventKind, (fields: Fields) => readonly string[]>>> = {
  turn_start: ({ trigger, attempt, messages }) => [
    `== turn begins: ${said(trigger)}${attempt === 1 ? "" : `, attempt ${said(attempt)}`}, ${countOf(messages, "message")} ==`,
  ],
  progress: ({ text }) => linesOf(text),
  tool_start: ({ tool, summary, input, subject }) => [
    // Earlier versions stored no summary.
    `> ${said(tool)}: ${said(summary) || toolSummary(input) || said(subject)}`.replace(/: $/, ""),
  ],
  tool_end: ({ failed, said: answer }) => (failed === true ? whyFailed(answer) : []),
  retry: ({ attempt, cause }) => [`! retry ${said(attempt)}: ${said(cause)}`],
  compacted: (fields) => [`- ${eventWords({ type: "compacted", data: JSON.stringify(fields) }).text}`],
  model_changed: (fields) => [`! ${eventWords({ type: "model_changed", data: JSON.stringify(fields) }).text}`],
  guard_denied: ({ tool, rule, of }) => [
    `! ${said(tool)} was denied (${said(rule)}${said(of) === "" ? "" : `: ${said(of)}`})`,
  ],
  // The last words of a turn were shown before, unless the turn failed.
  result: ({ cause, text }) =>
    cause === "completed" || cause === undefined ? [] : linesOf(text).map((line) => `! ${line}`),
  // Words of a program between its events, and on its error output, as a warning or a stack trace.
  malformed_output: ({ text }) => linesOf(text).map((line) => `! ${line}`),
  error_output: ({ text }) =>
    linesOf(text)
      .slice(-errorLines)
      .map((line) => `2> ${line}`),
  hopeless: ({ text }) => linesOf(text).map((line) => `! ${line}`),
  turn_end: ({ end, state, outcome }) => [
    `== turn ended${endWords[said(payloadOf(end).kind)] ?? ""}${reasonOf(end)}; agent: ${agentWords(state, outcome)} ==`,
    ...restOf(linesOf(payloadOf(end).reason).slice(1), reasonLines),
  ],
  mail_sent: ({ to, type, subject }) => [`< mail to ${said(to)} (${said(type)}): ${said(subject)}`],
  start_failed: ({ problem }) => linesOf(problem).map((line) => `! it could not start: ${line}`),
  attach: ({ by }) => [`== taken over by ${said(by)} ==`],
  detach: () => ["== handed back =="],
};

const longestData = 200;

function unknownLine({ type, data }: Event): string {
  if (data === null) return `? ${type}`;
  return `? ${type}: ${data.length <= longestData ? data : `${data.slice(0, longestData)}…`}`;
}

const said = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? `${value}` : "");

const countOf = (count: unknown, noun: string): string => `${said(count)} ${noun}${count === 1 ? "" : "s"}`;

const endWords: Readonly<Record<string, string>> = { failed: " by a failure", stalled: " after a long silence" };

/** The state of an agent in the words of `ov status`. */
function agentWords(state: unknown, outcome: unknown): string {
  const known = agentStates.find((one) => one === state);
  if (known === undefined) return said(state);
  const end = agentOutcomes.find((one) => one === outcome) ?? null;
  return statusOf({ state: known, outcome: end, releasedAt: null }).words;
}

/** The beginning of a failed tool's answer: its first lines mostly say why. */
function whyFailed(answer: unknown): readonly string[] {
  const [first, ...rest] = linesOf(answer).filter((line) => line.trim() !== "");
  return [`! the tool failed${first === undefined ? "" : `: ${first}`}`, ...restOf(rest, failureLines)];
}

/** The lines of a failure after its first, as many as are shown. */
function restOf(lines: readonly string[], most: number): readonly string[] {
  const left = lines.length - most;
  return [
    ...lines.slice(0, most).map((line) => `!   ${line}`),
    ...(left > 0 ? [`!   (${countOf(left, "more line")})`] : []),
  ];
}

const failureLines = 3;
const errorLines = 10;
const reasonLines = 20;

const payloadOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? { ...value } : {});

function reasonOf(end: unknown): string {
  const { reason } = payloadOf(end);
  return typeof reason === "string" ? `, ${linesOf(reason)[0] ?? ""}` : "";
}

const linesOf = (text: unknown): readonly string[] =>
  typeof text === "string" && text.trim() !== "" ? text.trimEnd().split("\n") : [];
