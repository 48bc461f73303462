import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { agentText, personText } from "./render.ts";

export const prime: Handler = async ({ app, flags }) => {
  const compact = flags.compact === true;
  const agent = typeof flags.agent === "string" ? flags.agent : undefined;
  const found = await app.call("status.prime", agent === undefined ? {} : { agent });
  if (!found.ok) return found;
  const brief = found.value;
  if (brief.kind === "agent") {
    const context = agentText(brief, { compact });
    return ok({ json: { agent: brief.agent.name, compact, context }, text: context });
  }
  const current = await app.call("project.currentBranch", {});
  if (!current.ok) return current;
  const context = personText(brief, { compact, currentBranch: current.value });
  return ok({ json: { agent: agent ?? null, compact, context }, text: context });
};
