import { agentOutcomes, agentStates } from "../../domain/agent/agent.ts";
import { statusOf } from "../../domain/agent/status.ts";
import type { Event } from "../../domain/event/event.ts";
import { type EventKind, isKnownKind } from "../../domain/event/event-kinds.ts";
import { toolSummary } from "../../domain/event/tool-call.ts";
import { payloadFields } from "../../domain/mail/payload.ts";

export interface LogLine {
  readonly seq: number;
  readonly at: number;
  readonly turnId: string | null;
  readonly type: string;
  /** One line as the agent wrote it: whoever shows it makes control bytes visible. */
  readonly text: string;
}

/**
 * What an event adds to the readable log of its agent; nothing for those that only machines need. An event of a kind
 * that this version does not know was written by a newer one: it is shown as it is.
 */
export function logLines(event: Event): readonly LogLine[] {
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
  guard_denied: ({ tool, rule }) => [`! ${said(tool)} was denied (${said(rule)})`],
  // What a turn says at its end it has said before, unless it failed.
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
