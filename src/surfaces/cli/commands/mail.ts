import {
  deadLetterView,
  deliveryView,
  messageView,
  noTurnWords,
  sentView,
  turnReasonsView,
} from "../../../contract/views/mail.ts";
import { agentOutcomes } from "../../../domain/agent/agent.ts";
import { statusOf } from "../../../domain/agent/status.ts";
import { payloadFields } from "../../../domain/mail/payload.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { quoted, visibleLine } from "../../../domain/text/visible.ts";
import type { TurnReasons } from "../../../usecases/agents/turn-reasons.ts";
import type { InboxLetter } from "../../../usecases/mail/check.ts";
import type { SendReply } from "../../../usecases/mail/submit.ts";
import { handedOutMessage, type TrackedMessage } from "../../../usecases/mail/tracked-message.ts";
import { counted, iso, moment, shortTime } from "../../shared/format.ts";
import type { App } from "../app.ts";
import type { Call, Handler, Io, Outcome, Paint, Rows } from "../command.ts";
import { integer, isOn, text, word } from "../given.ts";
import { hintLine, successLine } from "../marks.ts";
import { table } from "../table.ts";

/** The flags that `send` and `reply` share. */
const envelopeOf = (flags: Call["flags"]) => ({
  from: text(flags.agent) ?? text(flags.from),
  type: text(flags.type),
  priority: text(flags.priority),
  payload: text(flags.payload),
});

export const send: Handler = async (call) => {
  const { app, flags, io } = call;
  const body = await givenBody(call);
  if (!body.ok) return body;
  const sent = await app.call("mail.send", {
    to: word(flags.to),
    subject: word(flags.subject),
    body: body.value,
    ...envelopeOf(flags),
    wake: typeof flags.wake === "boolean" ? flags.wake : undefined,
    strict: isOn(flags.strict),
    allowEmpty: isOn(flags["allow-empty"]),
    expectsReply: isOn(flags["expects-reply"]),
    dedupeKey: text(flags["dedupe-key"]),
  });
  return sent.ok ? sentOutcome(app, io, sent.value, "; --wake starts one") : sent;
};

export const reply: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const body = await givenBody(call);
  if (!body.ok) return body;
  const sent = await app.call("mail.reply", {
    id: word(args.id),
    body: body.value,
    ...envelopeOf(flags),
  });
  // A reply has no such flag: the type of the answered message decides whether it starts a turn.
  return sent.ok ? sentOutcome(app, io, sent.value, "") : sent;
};

/** What `send` and `reply` answer. Mail that says that its sender is done is answered as `ov done` is. */
async function sentOutcome(app: App, io: Io, reply: SendReply, advice: string): Promise<Result<Outcome, Refusal>> {
  for (const warning of reply.warnings) io.warn(visibleLine(warning));
  if (reply.finish !== null) return (await import("./done.ts")).finishOutcome(app, io, reply.finish, reply);
  return ok({ json: sentView(reply), text: textOf(io, reply, advice), quietText: reply.id ?? "" });
}

/** `advice`: what to type where the message starts no turn. */
function textOf({ paint }: Io, reply: SendReply, advice: string): string {
  const { id, address, group, recipients, duplicate, woken, queued } = reply;
  if (id === null) return `No agent is in ${visibleLine(address)}; nothing was sent.`;
  if (duplicate) return `Already sent as ${paint.accent(id)}; nothing was sent again.`;
  const to = group
    ? `${visibleLine(address)} (${recipients.length} ${recipients.length === 1 ? "recipient" : "recipients"})`
    : recipients.map(visibleLine).join(", ");
  return [
    successLine(paint, `Sent to ${to}:`, id),
    ...(group ? recipients.map((name) => hintLine(paint, visibleLine(name))) : []),
    ...(woken.length === 0 ? [] : [hintLine(paint, `a turn is queued for ${woken.map(visibleLine).join(", ")}`)]),
    ...(queued === null
      ? []
      : [hintLine(paint, `in the merge queue as merge ${queued}; its sender is told what becomes of it`)]),
    ...noTurnWords(reply).map((words) => hintLine(paint, `starts no turn: ${words}${advice}`)),
  ].join("\n");
}

/** The text of a message: the typed words, or standard input for `-`. */
export async function givenBody({ flags, io }: Call): Promise<Result<string, Refusal>> {
  const typed = word(flags.body);
  if (typed !== "-") return ok(typed);
  const piped = await io.stdin();
  return piped === undefined ? no(invalid("body", "is -, but nothing was piped in")) : ok(piped);
}

export const list: Handler = async ({ app, flags, io }) => {
  const found = await app.call("mail.list", {
    from: text(flags.from),
    to: text(flags.to) ?? text(flags.agent),
    unread: isOn(flags.unread),
    type: text(flags.type),
    run: text(flags.run),
    thread: text(flags.thread),
    limit: integer(flags.limit),
  });
  if (!found.ok) return found;
  const { messages, more } = found.value;
  const total = more ? `The newest ${messages.length}; --limit shows more.` : `${counted(messages.length, "message")}.`;
  const blocks = messages.map((view) => messageLines(io.paint, view).join("\n"));
  return ok({
    json: { messages: messages.map(messageView), more },
    text: messages.length === 0 ? "No messages." : [...blocks, total].join("\n\n"),
    wraps: true,
    rows: rowsOf(messages),
  });
};

const rowsOf = (messages: readonly TrackedMessage[]): Rows => ({
  columns: ["ID", "FROM", "TO", "TYPE", "PRIORITY", "STATE", "SENT", "SUBJECT"],
  cells: messages.map(({ id, from, to, type, priority, state, createdAt, subject }) => [
    id,
    from,
    to,
    type,
    priority,
    state,
    iso(createdAt),
    subject,
  ]),
  objects: messages.map(messageView),
});

export const read: Handler = async ({ app, args, io }) => {
  const marked = await app.call("mail.read", { id: word(args.id) });
  if (!marked.ok) return marked;
  const { id, alreadyRead, message } = marked.value;
  const answer = message.type === "question" || message.type === "decision_gate";
  return ok({
    json: { id, alreadyRead, message: messageView(message) },
    text: [
      ...messageLines(io.paint, message),
      ...(answer ? [hintLine(io.paint, `answer it: ov mail reply ${id} --body "<answer>"`)] : []),
    ].join("\n"),
    wraps: true,
    quietText: "",
  });
};

export const status: Handler = async ({ app, args, io }) => {
  const found = await app.call("mail.status", { id: word(args.id) });
  if (!found.ok) return found;
  const { message, deliveries } = found.value;
  const rows: Rows = {
    columns: ["TO", "STATE", "ATTEMPTS", "WAKES", "DELIVERED", "ACKED", "NOT BEFORE", "LAST ERROR"],
    cells: deliveries.map((delivery) => [
      delivery.toAgent,
      delivery.redelivered ? `${delivery.state} (redelivered)` : delivery.state,
      String(delivery.attempts),
      delivery.wake ? "yes" : "no",
      moment(delivery.deliveredAt),
      moment(delivery.ackedAt),
      moment(delivery.notBefore),
      delivery.lastError ?? "-",
    ]),
    objects: deliveries.map(deliveryView),
  };
  const head = `${io.paint.accent(message.id)} ${visibleLine(`${message.from} → ${message.to}: ${message.subject}`)}`;
  return ok({
    json: { message: messageView(message), deliveries: deliveries.map(deliveryView) },
    text: `${head}\n${table(rows, io.paint)}`,
    rows,
  });
};

export const why: Handler = async ({ app, args, io }) => {
  const engineRunning = app.engine.status() !== undefined;
  const explained = await app.call("mail.why", { id: word(args.id), engineRunning });
  if (!explained.ok && explained.refusal.kind === "not-found") {
    const turns = await app.call("turn.readReasons", { name: word(args.id) });
    if (turns.ok) return ok(turnReasons(turns.value, io.paint));
  }
  if (!explained.ok) return explained;
  const { id, recipients } = explained.value;
  const lines = recipients.flatMap(({ to, code, sentence, next, wake }) => [
    `${io.paint.bold(visibleLine(to))}: ${visibleLine(sentence)}`,
    ...(wake === null || code === "does-not-wake" ? [] : [hintLine(io.paint, visibleLine(wake))]),
    ...(next === null ? [] : [hintLine(io.paint, visibleLine(next))]),
  ]);
  return ok({ json: { id, recipients }, text: lines.join("\n") });
};

function turnReasons({ agentName, turns }: TurnReasons, paint: Paint) {
  const lines = turns.flatMap(({ id, status, because }) => [
    `${paint.bold(visibleLine(agentName))}: turn ${id} (${status}) ${because.length === 0 ? "has no reason on record." : "starts because"}`,
    ...because.map((reason) => hintLine(paint, visibleLine(reason))),
  ]);
  const text = lines.length === 0 ? `${visibleLine(agentName)} has had no turn.` : lines.join("\n");
  return { json: turnReasonsView({ agentName, turns }), text };
}

export const dead: Handler = async ({ app, flags, io }) => {
  const found = await app.call("mail.dead", { limit: integer(flags.limit) });
  if (!found.ok) return found;
  const messages = found.value.dead.map(deadLetterView);
  const rows: Rows = {
    columns: ["ID", "FROM", "TO", "TYPE", "ATTEMPTS", "LAST ERROR", "SUBJECT"],
    optional: ["ATTEMPTS", "TYPE"],
    cells: messages.map(({ id, from, to, type, delivery, subject }) => [
      id,
      from,
      to,
      type,
      String(delivery.attempts),
      delivery.lastError ?? "-",
      subject,
    ]),
    objects: messages,
  };
  return ok({ json: { messages }, text: messages.length === 0 ? "No dead messages." : table(rows, io.paint), rows });
};

export const retry: Handler = async ({ app, args, io }) => {
  const retried = await app.call("mail.retry", { id: word(args.id) });
  if (!retried.ok) return retried;
  const { id, requeued } = retried.value;
  const line = successLine(io.paint, `Queued again for ${requeued.map(visibleLine).join(", ")}:`, id);
  return ok({ json: { id, requeued }, text: line, quietText: "" });
};

export const purge: Handler = async ({ app, flags, io }) => {
  const purged = await app.call("mail.purge", {
    all: isOn(flags.all),
    days: integer(flags.days),
    agent: text(flags.agent),
  });
  if (!purged.ok) return purged;
  const { purged: count } = purged.value;
  return ok({
    json: { purged: count },
    text: successLine(io.paint, `Deleted ${counted(count, "message")}`),
    quietText: "",
  });
};

export const lettersAsViews = (letters: readonly InboxLetter[], inbox: string): readonly TrackedMessage[] =>
  letters.map((letter) => handedOutMessage(letter, inbox));

/** A message for a person. Text of others stands behind a bar or on one line, so it cannot imitate the rest. */
export function messageLines(paint: Paint, view: TrackedMessage): readonly string[] {
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

/**
 * The data beside the text, a line each, with names as words. Empty values are left out, and values that the text
 * repeats.
 */
function payloadLines({
  payload,
  body,
  subject,
}: Pick<TrackedMessage, "payload" | "body" | "subject">): readonly string[] {
  return Object.entries(payloadFields(payload)).flatMap(([name, value]) => {
    const words = name === "outcome" ? outcomeWords(value) : valueWords(value);
    const isSaid = words.length > 3 && [body, subject].some((text) => text.includes(words));
    return words === "" || isSaid || forMachines.has(name) ? [] : [fieldLine(nameWords(name), words)];
  });
}

/** Payload fields that say nothing to a person, or that the text of the mail says in other words. */
const forMachines = new Set([
  "turnId",
  "generation",
  "terminatedBy",
  "tier",
  "strategy",
  "queueId",
  "opId",
  "findingsOf",
]);

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
