import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import type { CheckReply } from "../../../usecases/mail/check.ts";
import type { App } from "../app.ts";
import type { Handler, Io, Outcome } from "../command.ts";
import { integer, isOn, text } from "../given.ts";

/** Looks first without a writer's lock: a hook asks after every tool call, and mostly there is nothing. */
export const check: Handler = async ({ app, flags, io }) => {
  const request = { agent: text(flags.agent), debounceMs: integer(flags.debounce) };
  const inject = isOn(flags.inject);
  const peeked = await app.call("mail.peek", request);
  if (!peeked.ok) return peeked;
  const { waiting, debounced, inbox, byAgent } = peeked.value;
  if (!waiting) return ok(nothing({ quiet: inject || debounced, inbox }));
  // Hooks, scripts and agents read everything; a person may have typed `| head`.
  const readsAll = inject || io.json || byAgent || isOn(flags.read);
  if (!readsAll && io.isPiped()) return leftUnread(app, io, inbox);
  const checked = await app.call("mail.check", request);
  if (!checked.ok) return checked;
  if (checked.value.letters.length === 0) return ok(nothing({ quiet: inject, inbox }));
  return ok({
    ...(await rendered(io, checked.value, inject)),
    afterPrint: () => confirm(app, checked.value),
  });
};

const nothing = ({ quiet, inbox }: { readonly quiet: boolean; readonly inbox: string }): Outcome => ({
  json: { messages: [] },
  text: quiet ? "" : `No new messages for ${inbox}.`,
  quietText: "",
});

async function leftUnread(app: App, io: Io, inbox: string): Promise<Result<Outcome, Refusal>> {
  const listed = await app.call("mail.list", { to: inbox, unread: true, limit: mostShown });
  if (!listed.ok) return listed;
  const { messages, more } = listed.value;
  const [{ counted }, { messageLines }, { inboxView }] = await renderers();
  io.say("The mail stays unread, because this goes to a pipe; --read counts it as read.");
  return ok({
    json: inboxView({ messages, remaining: 0 }),
    text: [
      `${counted(messages.length, "new message")} for ${inbox}:`,
      ...messages.map((view) => messageLines(io.paint, view).join("\n")),
      ...(more ? [`There is more: ov mail list --to ${inbox} --unread`] : []),
    ].join("\n\n"),
    wraps: true,
  });
}

/** An empty inbox, which hooks meet most often, needs none of them. */
const renderers = () =>
  Promise.all([import("../../shared/format.ts"), import("./mail.ts"), import("../../../contract/views/mail.ts")]);

/** As many as one look takes out of the inbox. */
const mostShown = 100;

async function rendered(io: Io, reply: CheckReply, inject: boolean): Promise<Pick<Outcome, "json" | "text" | "wraps">> {
  const { letters, inbox, remaining } = reply;
  const more = remaining === 0 ? [] : [`${remaining} more in the inbox: run ov mail check again.`];
  if (inject && !io.json) {
    const { renderInject } = await import("../../../domain/mail/render.ts");
    return { json: {}, text: [renderInject(letters), ...more].join("\n") };
  }
  const [{ counted }, { lettersAsViews, messageLines }, { inboxView }] = await renderers();
  const views = lettersAsViews(letters, inbox);
  const blocks = views.map((view) => messageLines(io.paint, view).join("\n"));
  return {
    json: inboxView({ messages: views, remaining }),
    text: [`${counted(letters.length, "new message")} for ${inbox}:`, ...blocks, ...more].join("\n\n"),
    wraps: true,
  };
}

/** A refusal is no loss: mail that cannot be confirmed any more is offered again, marked as redelivered. */
async function confirm(app: App, { inbox, by, letters }: CheckReply): Promise<void> {
  await app.call("mail.delivered", { agent: inbox, by, messages: letters.map(({ message }) => message.seq) });
}
