import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { text, word } from "../../given.ts";
import { givenBody } from "./given-body.ts";
import { sentOutcome } from "./sent.ts";

export const reply: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const body = await givenBody(call);
  if (!body.ok) return body;
  const sent = await app.call("mail.reply", {
    id: word(args.id),
    body: body.value,
    from: text(flags.agent) ?? text(flags.from),
    type: text(flags.type),
    priority: text(flags.priority),
    payload: text(flags.payload),
  });
  return sent.ok ? ok(sentOutcome(io, sent.value)) : sent;
};
