import { type Agent, agentOutcomes, agentStates, hasEnded } from "../../domain/agent/agent.ts";
import { statusOf } from "../../domain/agent/status.ts";
import type { Event } from "../../domain/event/event.ts";
import { type EventKind, isKnownKind } from "../../domain/event/event-kinds.ts";
import { toolSummary } from "../../domain/event/tool-call.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, text, whole } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import type { Listener, Stream, World } from "../operation.ts";
import type { UseCase } from "../usecase.ts";
import { findAgent } from "./find-agent.ts";

export interface LogsRequest {
  readonly name: string;
  /** The newest so many lines. */
  readonly lines: number;
  /** Only what was said after this place. */
  readonly after?: number | undefined;
  /** Only this turn: its id, or its place among the turns of the newest incarnation, from 1. */
  readonly turn?: string | undefined;
}

const logsRequest = () => fields<LogsRequest>({ name: text, lines: whole }, { after: whole, turn: text });

/** What an agent did and said, as text, over all its turns and incarnations. */
export const readLogs: UseCase<LogsRequest, LinesRead<LogLine>> = {
  kind: "read",
  request: logsRequest(),
  run: async (tx, _context, { name, lines, after, turn }) => {
    const found = await findAgent(tx, name);
    if (!found.ok) return found;
    const agent = found.value;
    const turnId = await turnOf(tx, agent, turn);
    if (!turnId.ok) return turnId;
    const cursor = await tx.events.last();
    const isWanted = (event: Event): boolean =>
      event.agentName === agent.name && (turnId.value === undefined || event.turnId === turnId.value);
    const linesOf = (events: readonly Event[]): readonly LogLine[] =>
      inOrder(afterTheirCalls(events.filter(isWanted))).flatMap(logLines);
    const written = await newestLines(tx, { after: after ?? 0, cursor, lines, linesOf });
    return ok({ agentName: agent.name, lines: written, cursor, ended: hasEnded(agent) });
  },
};

/** Tells what an agent does and says from a place on, until the agent has ended or nobody listens any more. */
export const followLogs: Stream<LogsRequest, Pick<LinesRead<LogLine>, "agentName" | "ended">, readonly LogLine[]> = {
  kind: "stream",
  request: logsRequest(),
  place: "engine",
  run: (world, request, listener) =>
    followLines(world, listener, request.after, (after) => world.call("agent.logs", { ...request, after })),
};

/** Lines of an agent from a place on. */
export interface LinesRead<Line> {
  readonly agentName: string;
  readonly lines: readonly Line[];
  /** The place to go on from. */
  readonly cursor: number;
  /** Nothing more will come. */
  readonly ended: boolean;
}

/** Reads lines from a place on and tells them, until the agent has ended or the listener has left. */
export function followLines<Line>(
  world: World,
  { onItem, signal }: Listener<readonly Line[]>,
  from: number | undefined,
  read: (after: number | undefined) => Promise<Result<LinesRead<Line>, Refusal>>,
): Promise<Result<Pick<LinesRead<Line>, "agentName" | "ended">, Refusal>> {
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

async function turnOf(tx: Tx, agent: Agent, given: string | undefined): Promise<Result<string | undefined, Refusal>> {
  if (given === undefined) return ok(undefined);
  const ran = (await tx.turns.listFor(agent.id)).filter(({ startedAt }) => startedAt !== null);
  const place = /^\d+$/.test(given) ? ran[Number(given) - 1]?.id : undefined;
  const id = place ?? (await tx.turns.get(given))?.id;
  if (id !== undefined) return ok(id);
  const known = ran.map(({ id: one }, at) => `${at + 1} (${one})`);
  return no(invalid("turn", `is no turn of ${agent.name}`, { value: given, allowed: known }));
}

interface LinesWanted<Line> {
  /** The places between which lines are looked for. */
  readonly after: number;
  readonly cursor: number;
  /** How many, the newest ones. */
  readonly lines: number;
  /** Nothing older is looked at. */
  readonly since?: number;
  /** The lines of some events in their order. */
  readonly linesOf: (events: readonly Event[]) => readonly Line[];
}

const page = 500;

/** Backwards in pages, until there are enough lines. */
export async function newestLines<Line>(tx: Tx, wanted: LinesWanted<Line>): Promise<readonly Line[]> {
  const { after, cursor, lines, since = 0, linesOf } = wanted;
  let found: readonly Line[] = [];
  for (let end = cursor; end > after && found.length < lines; end -= page) {
    const start = Math.max(after, end - page);
    const events = (await tx.events.after(start, page)).filter(({ seq }) => seq <= end);
    found = [...linesOf(events), ...found];
    const oldest = events[0];
    if (oldest !== undefined && oldest.createdAt < since) break;
  }
  return found.slice(-lines);
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

export interface LogLine {
  readonly seq: number;
  readonly at: number;
  readonly turnId: string | null;
  readonly type: string;
  /** One line as the agent wrote it. Surfaces make its control bytes visible. */
  readonly text: string;
}

/**
 * What an event adds to the readable log of its agent; nothing for those that only machines need. An event of a kind
 * that this version does not know was written by a newer one: it is shown as it is.
 */
function logLines(event: Event): readonly LogLine[] {
  const { seq, createdAt: at, turnId, type } = event;
  const written = isKnownKind(type) ? writers[type]?.(payloadFields(event.data)) : [unknownLine(event)];
  const texts = (written ?? []).filter((text) => text !== "");
  return texts.map((text) => ({ seq, at, turnId, type, text }));
}

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
  guard_denied: ({ tool, rule, of }) => [
    `! ${said(tool)} was denied (${said(rule)}${said(of) === "" ? "" : `: ${said(of)}`})`,
  ],
  // The last words of a turn were shown before, unless the turn failed.
  result: ({ cause, text }) =>
    cause === "completed" || cause === undefined ? [] : linesOf(text).map((line) => `! ${line}`),
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
const reasonLines = 20;

const payloadOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? { ...value } : {});

function reasonOf(end: unknown): string {
  const { reason } = payloadOf(end);
  return typeof reason === "string" ? `, ${linesOf(reason)[0] ?? ""}` : "";
}

const linesOf = (text: unknown): readonly string[] =>
  typeof text === "string" && text.trim() !== "" ? text.trimEnd().split("\n") : [];
