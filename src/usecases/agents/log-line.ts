import type { Event } from "../../domain/event/event.ts";
import { subjectOf } from "../../domain/hook/hook-input.ts";
import { payloadFields } from "../../domain/mail/payload.ts";

export interface LogLine {
  readonly seq: number;
  readonly at: number;
  readonly turnId: string | null;
  readonly type: string;
  /** One line as the agent wrote it: whoever shows it makes control bytes visible. */
  readonly text: string;
}

/** What an event adds to the readable log of its agent; nothing for those that only machines need. */
export function logLines(event: Event): readonly LogLine[] {
  const { seq, createdAt: at, turnId, type } = event;
  const write = writers[type];
  if (write === undefined) return [];
  const texts = write(payloadFields(event.data)).filter((text) => text !== "");
  return texts.map((text) => ({ seq, at, turnId, type, text }));
}

type Fields = Readonly<Record<string, unknown>>;

const writers: Readonly<Record<string, (fields: Fields) => readonly string[]>> = {
  turn_start: ({ trigger, attempt, messages }) => [
    `== turn begins: ${said(trigger)}${attempt === 1 ? "" : `, attempt ${said(attempt)}`}, ${said(messages)} messages ==`,
  ],
  progress: ({ text }) => linesOf(text),
  tool_start: ({ tool, input, subject }) => [
    `> ${said(tool)}: ${subjectOf(input) ?? said(subject)}`.replace(/: $/, ""),
  ],
  tool_end: ({ failed }) => (failed === true ? ["! the tool failed"] : []),
  retry: ({ attempt, cause }) => [`! retry ${said(attempt)}: ${said(cause)}`],
  guard_denied: ({ tool, rule }) => [`! ${said(tool)} was denied (${said(rule)})`],
  // What a turn says at its end it has said before, unless it failed.
  result: ({ cause, text }) =>
    cause === "completed" || cause === undefined ? [] : linesOf(text).map((line) => `! ${line}`),
  hopeless: ({ text }) => linesOf(text).map((line) => `! ${line}`),
  turn_end: ({ end, state, outcome }) => [
    `== turn ended: ${said(payloadOf(end).kind)}${reasonOf(end)}; ${said(state)}${outcome == null ? "" : ` (${said(outcome)})`} ==`,
  ],
  mail_sent: ({ to, type, subject }) => [`< mail to ${said(to)} (${said(type)}): ${said(subject)}`],
  attach: ({ by }) => [`== taken over by ${said(by)} ==`],
  detach: () => ["== handed back =="],
};

const said = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? `${value}` : "");

const payloadOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? { ...value } : {});

function reasonOf(end: unknown): string {
  const { reason } = payloadOf(end);
  return typeof reason === "string" ? `, ${linesOf(reason)[0] ?? ""}` : "";
}

const linesOf = (text: unknown): readonly string[] =>
  typeof text === "string" && text.trim() !== "" ? text.trimEnd().split("\n") : [];
