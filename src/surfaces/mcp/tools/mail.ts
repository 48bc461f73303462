import { inboxView, noTurnWords, sentView } from "../../../contract/views/mail.ts";
import { renderInject } from "../../../domain/mail/render.ts";
import { mailTypes } from "../../../domain/mail/types.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { CheckReply } from "../../../usecases/mail/check.ts";
import type { SendReply } from "../../../usecases/mail/submit.ts";
import { handedOutMessage } from "../../../usecases/mail/tracked-message.ts";
import { describeRefusal } from "../../shared/refusals.ts";
import type { McpApp, ToolAnswer, ToolContext, ToolHandler } from "../tool-call.ts";
import { finishAnswer } from "./finish.ts";

export const send: ToolHandler = async (given, context) =>
  finishedOrTold(
    context,
    await context.app.call("mail.send", {
      to: given.text("to"),
      type: given.text("type"),
      subject: given.text("subject"),
      body: given.text("body"),
      priority: given.optionalText("priority"),
      payload: given.json("payload"),
      expectsReply: given.isOn("expects_reply"),
    }),
  );

export const reply: ToolHandler = async (given, context) =>
  finishedOrTold(
    context,
    await context.app.call("mail.reply", {
      id: given.text("id"),
      body: given.text("body"),
      type: given.optionalText("type"),
      payload: given.json("payload"),
    }),
  );

/** Mail that says that its sender is done is answered as the tool `finish` is. */
const finishedOrTold = async (
  context: ToolContext,
  sent: Result<SendReply, Refusal>,
): Promise<Result<ToolAnswer, Refusal>> =>
  sent.ok && sent.value.finish !== null ? finishAnswer(context, sent.value.finish, sent.value) : told(sent);

/** Marks each message by itself: a failure of one does not keep the others from being marked. */
export const ack: ToolHandler = async (given, { app }) => {
  const acked: string[] = [];
  const refused: { readonly id: string; readonly problem: string }[] = [];
  for (const id of given.texts("ids") ?? []) {
    const read = await app.call("mail.read", { id });
    if (read.ok) acked.push(id);
    else refused.push({ id, problem: describeRefusal(read.refusal).message });
  }
  const lines = [
    ...(acked.length === 0 ? [] : [`Read: ${acked.map(visibleLine).join(", ")}.`]),
    ...refused.map(({ id, problem }) => `${visibleLine(id)}: ${visibleLine(problem)}`),
  ];
  return ok({ text: lines.join("\n"), data: { acked, refused }, failed: refused.length > 0 });
};

/** An escalation to the agent or person above this agent. */
export const reportBlocked: ToolHandler = async (given, { app, self }) => {
  const context = given.text("context");
  const needs = given.text("needs");
  const sent = await app.call("mail.send", {
    to: self.parentName,
    type: "escalation",
    priority: given.text("severity") === "critical" ? "urgent" : "high",
    subject: `Blocked: ${self.taskId ?? self.name}`,
    body: `${context}\n\nNeeded: ${needs}`,
    payload: JSON.stringify({ severity: given.text("severity"), context, needs }),
    expectsReply: true,
  });
  return told(sent, "End your turn now; the answer wakes you.");
};

/** A decision that a person has to make. */
export const askHuman: ToolHandler = async (given, { app }) => {
  const context = given.optionalText("context")?.trim() ?? "";
  const options = given.texts("options") ?? [];
  const question = given.text("question");
  const sent = await app.call("mail.send", {
    to: "operator",
    type: "decision_gate",
    priority: "high",
    subject: question,
    body: [...(context === "" ? [] : [context, ""]), "Options:", ...options.map((option) => `- ${option}`)].join("\n"),
    payload: JSON.stringify({ options, context: context === "" ? question : context }),
    expectsReply: true,
  });
  return told(sent, "End your turn now; the answer wakes you.");
};

export const decide: ToolHandler = async (given, { app }) => {
  const gateId = given.text("id");
  const option = given.text("option");
  const note = given.optionalText("note")?.trim() ?? "";
  const sent = await app.call("mail.reply", {
    id: gateId,
    type: "decision",
    body: note === "" ? option : `${option}\n\n${note}`,
    payload: JSON.stringify({ gateId, option, ...(note === "" ? {} : { note }) }),
  });
  return told(sent);
};

function told(sent: Result<SendReply, Refusal>, then?: string): Result<ToolAnswer, Refusal> {
  if (!sent.ok) return sent;
  const { id, recipients, woken, startsNoTurn, shownAtFinish, duplicate, queued, warnings } = sent.value;
  const later = queued === null ? startsNoTurn.filter((name) => !shownAtFinish.includes(name)) : [];
  const names = recipients.map(visibleLine).join(", ");
  const first = duplicate ? `Already sent as ${id}; nothing was sent again.` : `Sent to ${names}: ${id}.`;
  const lines = [
    first,
    ...(woken.length === 0 ? [] : [`A turn is queued for ${woken.map(visibleLine).join(", ")}.`]),
    ...(queued === null
      ? []
      : [`The branch is in the merge queue as merge ${queued}; you are told what becomes of it.`]),
    ...noTurnWords(sent.value).map((words) => `It starts no turn: ${words}.`),
    ...(later.length === 0
      ? []
      : ["Where the reader has to know it now, send it with priority high: that starts one."]),
    ...warnings.map((warning) => `Warning: ${visibleLine(warning)}`),
    ...(then === undefined ? [] : [then]),
  ];
  return ok({ text: lines.join("\n"), data: sentView(sent.value) });
}

/** Hands out new mail, fenced as everywhere else where a model reads it. */
export const inbox: ToolHandler = async (given, context) => {
  const { app } = context;
  await arrival(context, (given.number("wait_s") ?? 0) * 1000);
  const types = given.texts("types");
  const checked = await app.call("mail.check", {
    limit: given.number("limit"),
    types: types === undefined ? undefined : mailTypes.filter((type) => types.includes(type)),
  });
  if (!checked.ok) return checked;
  return ok(checked.value.letters.length === 0 ? nothing : handedOut(app, checked.value));
};

/**
 * Returns when there is mail, the time is over, or the caller waits no longer. A refusal is told by the look that
 * follows.
 */
async function arrival({ app, signal, progress }: ToolContext, patienceMs: number): Promise<void> {
  if (patienceMs === 0) return;
  await app.follow("mail.follow", { patienceMs }, { signal, onItem: () => progress("no message yet") });
}

const nothing: ToolAnswer = { text: "No new messages.", data: inboxView({ messages: [], remaining: 0 }) };

function handedOut(app: McpApp, { inbox: owner, by, letters, remaining }: CheckReply): ToolAnswer {
  const more = remaining === 0 ? [] : [`${remaining} more in the inbox: call inbox again.`];
  return {
    text: [renderInject(letters).trimEnd(), ...more].join("\n\n"),
    data: inboxView({ messages: letters.map((letter) => handedOutMessage(letter, owner)), remaining }),
    // A refusal is no loss: what cannot be confirmed any more is offered again, marked as redelivered.
    afterSent: async () => {
      await app.call("mail.delivered", { agent: owner, by, messages: letters.map(({ message }) => message.seq) });
    },
  };
}
