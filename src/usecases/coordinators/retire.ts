import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import type { Tx } from "../../ports/store.ts";
import { endAgent } from "../agents/end-agent.ts";
import { release } from "../agents/release-agent.ts";
import type { Context } from "../usecase.ts";

/**
 * Ends the one that leads a run when its run is over and nothing is left for it to read or to do; answers it as it is
 * then. To be called when a turn of it was settled, and before its name is taken again.
 */
export async function retireIfOver(tx: Tx, context: Pick<Context, "ids" | "now">, agent: Agent): Promise<Agent> {
  if (hasEnded(agent)) return agent;
  const run = await tx.runs.get(agent.runId);
  if (run === undefined || run.status === "active" || run.coordinatorName !== agent.name) return agent;
  if ((await tx.turns.runningFor(agent.id)) !== undefined) return agent;
  if ((await tx.turns.queuedFor(agent.id)) !== undefined || (await tx.deliveries.hasWaking(agent.name))) return agent;
  const end = { state: "completed", outcome: "done", actor: "engine", reason: `${run.id} is over` } as const;
  await endAgent(tx, context, agent, { ...end, death: null, turnId: null });
  const ended = (await tx.agents.get(agent.id)) ?? agent;
  await release(tx, context, ended, `${run.id} is over`);
  return (await tx.agents.get(agent.id)) ?? ended;
}
