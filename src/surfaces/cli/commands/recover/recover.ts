import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { isOn, word } from "../../given.ts";
import { successLine } from "../../marks.ts";

export const recover: Handler = async ({ app, args, flags, io }) => {
  const environment = await app.environmentFor(undefined);
  // Looked up before the engine takes up the worktree again.
  const unsettled = isOn(flags.fresh) ? undefined : await app.call("agent.listUnsettled", { of: word(args.agent) });
  const warnings = unsettled?.ok === true ? unsettled.value.lines : [];
  const reply = await app.call("agent.recover", { of: word(args.agent), fresh: isOn(flags.fresh), environment });
  if (!reply.ok) return reply;
  const { agentName, generation } = reply.value;
  for (const warning of warnings) io.warn(warning);
  const text = successLine(io.paint, `Recovered as generation ${generation}:`, agentName);
  return ok({ json: { ...reply.value, warnings }, text, quietText: agentName });
};
