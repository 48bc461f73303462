import { agentOutcomes } from "../../../../domain/agent/agent.ts";
import { statusOf } from "../../../../domain/agent/status.ts";
import { payloadFields } from "../../../../domain/mail/payload.ts";
import { quoted } from "../../../../domain/mail/quoted.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { InboxLetter } from "../../../../usecases/mail/check.ts";
import { type MessageView, viewOfLetter } from "../../../../usecases/mail/view.ts";
import type { Paint } from "../../command.ts";
import { shortTime } from "../../format.ts";

/** A message as scripts know it. */
export function messageJson(view: MessageView) {
  const { id, from, to, subject, body, type, priority, threadId, payload, read, redelivered, verified, state } = view;
  return {
    id,
    from,
    to,
    subject,
    body,
    type,
    priority,
    threadId,
    replyTo: view.replyTo,
    payload,
    read,
    createdAt: new Date(view.createdAt).toISOString(),
    redelivered,
    verified,
    state,
    blobPath: view.blobPath,
    ...(view.unverified === undefined ? {} : { unverified: view.unverified }),
  };
}

export const lettersAsViews = (letters: readonly InboxLetter[], inbox: string): readonly MessageView[] =>
  letters.map((letter) => viewOfLetter(letter, inbox));

/** A message for a person. Text of others stands behind a bar or on one line, so it cannot imitate the rest. */
export function messageLines(paint: Paint, view: MessageView): readonly string[] {
  const tags = [
    ...(view.priority === "normal" ? [] : [paint.yellow(`[${view.priority.toUpperCase()}]`)]),
    ...(view.verified ? [] : ["(unverified)"]),
    ...(view.redelivered ? ["(redelivered)"] : []),
  ];
  const parties = `${visibleLine(view.from)} → ${visibleLine(view.to)}`;
  const head = [view.read ? " " : "*", paint.accent(visibleLine(view.id)), parties, ...tags].join(" ");
  return [
    head,
    `  ${fieldLine("Subject", view.subject)} ${paint.dim(`(${view.type})`)}`,
    ...(view.unverified === undefined ? [] : [`  ${fieldLine("Unverified", view.unverified)}`]),
    ...quoted(view.body).map((line) => `  ${line}`),
    ...payloadLines(view).map((line) => `  ${line}`),
    ...(view.blobPath === null ? [] : [`  ${fieldLine("Whole text", view.blobPath)}`]),
    `  ${paint.muted(shortTime(view.createdAt, Date.now()))}`,
  ];
}

/** A field on one line. Agents choose the names in payloads, so both sides are foreign text. */
const fieldLine = (name: string, value: string): string => `${visibleLine(name)}: ${visibleLine(value)}`.trimEnd();

/** The data beside the text, a line each: names as words, what is empty left out, what the text says already too. */
function payloadLines({
  payload,
  body,
  subject,
}: Pick<MessageView, "payload" | "body" | "subject">): readonly string[] {
  return Object.entries(payloadFields(payload)).flatMap(([name, value]) => {
    const words = name === "outcome" ? outcomeWords(value) : valueWords(value);
    const isSaid = words.length > 3 && [body, subject].some((text) => text.includes(words));
    return words === "" || isSaid || forMachines.has(name) ? [] : [fieldLine(nameWords(name), words)];
  });
}

/** Payload fields that say nothing to a person, or that the text of the mail says in other words. */
const forMachines = new Set(["turnId", "generation", "terminatedBy", "tier", "strategy", "queueId", "opId"]);

function outcomeWords(value: unknown): string {
  const outcome = agentOutcomes.find((one) => one === value);
  return outcome === undefined ? valueWords(value) : statusOf({ state: "completed", outcome, releasedAt: null }).words;
}

/** `taskId` is read as `Task id`. */
function nameWords(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function valueWords(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return filled(value).join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") return filled(Object.values(value)).join(" ");
  const text = String(value);
  return isoTime.test(text) ? shortTime(Date.parse(text), Date.now()) : text;
}

const filled = (values: readonly unknown[]): readonly string[] => values.map(valueWords).filter((word) => word !== "");

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
