import { inboxView } from "../../../contract/views/mail.ts";
import { renderInject } from "../../../domain/mail/render.ts";
import { mailTypes } from "../../../domain/mail/types.ts";
import { ok } from "../../../domain/result.ts";
import type { CheckReply } from "../../../usecases/mail/check.ts";
import { viewOfLetter } from "../../../usecases/mail/view.ts";
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

const nothing: ToolAnswer = { text: "No new messages.", data: inboxView({ messages: [], remaining: 0 }) };

function handedOut(app: McpApp, { inbox: owner, by, letters, remaining }: CheckReply): ToolAnswer {
  const more = remaining === 0 ? [] : [`${remaining} more in the inbox: call inbox again.`];
  return {
    text: [renderInject(letters).trimEnd(), ...more].join("\n\n"),
    data: inboxView({ messages: letters.map((letter) => viewOfLetter(letter, owner)), remaining }),
    // A refusal is no loss: what cannot be confirmed any more is offered again, marked as redelivered.
    afterSent: async () => {
      await app.call("mail.delivered", { agent: owner, by, messages: letters.map(({ message }) => message.seq) });
    },
  };
}
