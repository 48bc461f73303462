import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { word } from "../../given.ts";
import { successLine } from "../../marks.ts";

export const release: Handler = async ({ app, args, io }) => {
  const reply = await app.call("agent.release", { name: word(args.agent) });
  if (!reply.ok) return reply;
  const { agentName, alreadyReleased, released } = reply.value;
  const text = alreadyReleased
    ? `${agentName} was released before.`
    : successLine(io.paint, "Released", released.join(", "));
  return ok({ json: { ...reply.value }, text });
};
