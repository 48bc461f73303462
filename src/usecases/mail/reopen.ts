import type { Agent } from "../../domain/agent/agent.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import { reopenAgent } from "../agents/reopen-agent.ts";
import type { Context } from "../usecase.ts";

/** Brings a submitted agent back to work for mail that asks for it; answers the incarnation that will read the mail. */
export async function reopen(
  tx: Tx,
  context: Pick<Context, "ids" | "now" | "settings">,
  name: string,
): Promise<Result<Agent, Refusal>> {
  const agent = await tx.agents.byName(name);
  return agent === undefined ? no(notFound("agent", name)) : reopenAgent(tx, context, agent);
}
