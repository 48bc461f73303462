import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { isOn, text, word } from "../../given.ts";
import { givenBody } from "./given-body.ts";
import { sentOutcome } from "./sent.ts";

export const send: Handler = async (call) => {
  const { app, flags, io } = call;
  const body = await givenBody(call);
  if (!body.ok) return body;
  const sent = await app.call("mail.send", {
    to: word(flags.to),
    subject: word(flags.subject),
    body: body.value,
    from: text(flags.agent) ?? text(flags.from),
    type: text(flags.type),
    priority: text(flags.priority),
    payload: text(flags.payload),
    wake: typeof flags.wake === "boolean" ? flags.wake : undefined,
    strict: isOn(flags.strict),
    allowEmpty: isOn(flags["allow-empty"]),
    expectsReply: isOn(flags["expects-reply"]),
    dedupeKey: text(flags["dedupe-key"]),
  });
  return sent.ok ? ok(sentOutcome(io, sent.value)) : sent;
};
