import type { Agent } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";

/**
 * When the first turn of a new agent may start, so that `agents.staggerDelayMs` lies between it and the newest one before
 * it; 0 for at once. Taken in the transaction that reserves the agent, so slings at the same moment get different slots.
 */
export async function firstTurnSlot(
  tx: Tx,
  { now, settings }: Pick<Context, "now" | "settings">,
  agent: Agent,
): Promise<number> {
  const stagger = settings.agents.staggerDelayMs;
  if (stagger === 0 || isIn("persistent", agent.capability)) return 0;
  let slot = now;
  for (const other of await tx.agents.list({ live: true })) {
    if (other.id === agent.id || isIn("persistent", other.capability)) continue;
    const [first] = await tx.turns.listFor(other.id);
    if (first !== undefined) slot = Math.max(slot, Math.max(first.queuedAt, first.notBefore) + stagger);
  }
  return slot > now ? slot : 0;
}
