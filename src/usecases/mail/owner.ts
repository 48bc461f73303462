import { hasEnded } from "../../domain/agent/agent.ts";
import type { Tx } from "../../ports/store.ts";

/**
 * Whose inbox a name means. `orchestrator` is the operator while no agent of that name lives, so that a person's own
 * session gets the mail of those it started.
 */
export async function ownerOf(tx: Tx, name: string): Promise<string> {
  const typed = name.trim().toLowerCase();
  if (typed !== "orchestrator") return typed;
  const agent = await tx.agents.byName(typed);
  return agent === undefined || hasEnded(agent) ? "operator" : typed;
}
