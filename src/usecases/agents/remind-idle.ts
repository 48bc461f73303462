import { hasEnded } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Tx } from "../../ports/store.ts";

/**
 * Gives an agent a turn when the last thing it waited for is over and no message will tell it so: a child's report may
 * reach its parent while the child still runs, and the parent that ends its turn then waits for nothing but that end.
 */
export async function remindIdle(
  tx: Tx,
  { ids, now }: { readonly ids: Ids; readonly now: number },
  name: string,
): Promise<void> {
  const agent = await tx.agents.byName(name);
  if (agent === undefined || hasEnded(agent) || agent.state !== "between_turns") return;
  if (agent.topology !== "per_turn" || isIn("persistent", agent.capability) || agent.stopRequestedBy !== null) return;
  if ((await tx.waits.of(name)).length > 0) return;
  if ((await tx.turns.queuedFor(agent.id)) !== undefined || (await tx.turns.runningFor(agent.id)) !== undefined) return;
  const { id: agentId, name: agentName, runId } = agent;
  await tx.turns.queue({
    id: ids.next("turn"),
    agentId,
    agentName,
    runId,
    trigger: "reminder",
    attempt: 1,
    notBefore: 0,
    now,
  });
}
