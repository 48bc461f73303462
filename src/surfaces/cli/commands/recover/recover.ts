import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { successLine } from "../../marks.ts";
import { isOn, word } from "../task/given.ts";

export const recover: Handler = async ({ app, args, flags, io }) => {
  const environment = await app.environmentFor(undefined);
  const reply = await app.call("agent.recover", { of: word(args.agent), fresh: isOn(flags.fresh), environment });
  if (!reply.ok) return reply;
  const { agentName, generation } = reply.value;
  const text = successLine(io.paint, `Recovered as generation ${generation}:`, agentName);
  return ok({ json: { ...reply.value }, text, quietText: agentName });
};
