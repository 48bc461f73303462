import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { isAttachHold } from "../../domain/agent/wait.ts";
import type { Tx } from "../../ports/store.ts";
import { endAgent } from "../agents/end-agent.ts";
import { release } from "../agents/release-agent.ts";
import type { Context } from "../usecase.ts";

/**
 * Ends a coordinator when its run is over and nothing is left for it to read or to do; returns it as it is
 * then. To be called when its run has ended, when a turn of it was settled, and before its name is taken again.
 */
export async function retireIfOver(tx: Tx, context: Pick<Context, "ids" | "now">, agent: Agent): Promise<Agent> {
  if (hasEnded(agent) || !(await isOver(tx, agent))) return agent;
  const reason = `${agent.runId} is over`;
  const end = { state: "completed", outcome: "done", actor: "engine", reason } as const;
  await endAgent(tx, context, agent, { ...end, death: null, turnId: null });
  const ended = (await tx.agents.get(agent.id)) ?? agent;
  await release(tx, context, ended, reason);
  return (await tx.agents.get(agent.id)) ?? ended;
}

/**
 * Is the coordinator's run over, with nothing left to do for it? While a person has it open at a terminal, it is not
 * over.
 */
export async function isOver(tx: Tx, { id, name, runId }: Agent): Promise<boolean> {
  const run = await tx.runs.get(runId);
  if (run === undefined || run.status === "active" || run.coordinatorName !== name) return false;
  if ((await tx.waits.of(name)).some(isAttachHold)) return false;
  const turn = (await tx.turns.runningFor(id)) ?? (await tx.turns.queuedFor(id));
  return turn === undefined && !(await tx.deliveries.hasWaking(name));
}
