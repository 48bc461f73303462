import { renderInject } from "../../../domain/mail/render.ts";
import { mailTypes } from "../../../domain/mail/types.ts";
import { ok } from "../../../domain/result.ts";
import type { CheckReply, InboxLetter } from "../../../usecases/mail/check.ts";
import type { McpApp } from "../app.ts";
import type { ToolAnswer, ToolContext, ToolHandler } from "../tool-call.ts";

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

/** Returns when there is mail, the time is over, or nobody waits any more. A refusal is told by the look that follows. */
async function arrival({ app, signal, progress }: ToolContext, patienceMs: number): Promise<void> {
  if (patienceMs === 0) return;
  await app.follow("mail.follow", { patienceMs }, { signal, onItem: () => progress("no message yet") });
}

const nothing: ToolAnswer = { text: "No new messages.", data: { messages: [] } };

function handedOut(app: McpApp, { inbox: owner, by, letters, remaining }: CheckReply): ToolAnswer {
  const more = remaining === 0 ? [] : [`${remaining} more in the inbox: call inbox again.`];
  return {
    text: [renderInject(letters).trimEnd(), ...more].join("\n\n"),
    data: { messages: letters.map(dataOf), ...(remaining === 0 ? {} : { remaining }) },
    // A refusal is no loss: what cannot be confirmed any more is offered again, marked as redelivered.
    afterSent: async () => {
      await app.call("mail.delivered", { agent: owner, by, messages: letters.map(({ message }) => message.seq) });
    },
  };
}

function dataOf({ message, capability, redelivered, unverified }: InboxLetter): Record<string, unknown> {
  const { id, type, priority, subject, body, payload, replyTo, blobPath, verified } = message;
  return {
    id,
    from: message.fromAgent,
    ...(capability === null ? {} : { capability }),
    type,
    priority,
    verified,
    ...(redelivered ? { redelivered } : {}),
    subject,
    body,
    ...(payload === null ? {} : { payload }),
    ...(replyTo === null ? {} : { replyTo }),
    ...(blobPath === null ? {} : { wholeText: blobPath }),
    ...(unverified === undefined ? {} : { unverified }),
  };
}
