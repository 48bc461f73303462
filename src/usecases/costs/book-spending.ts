import type { Agent } from "../../domain/agent/agent.ts";
import { spendingRows } from "../../domain/cost/spending.ts";
import type { PriceList, TurnCost } from "../../domain/prices/prices.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";

interface SettledTurn {
  readonly turn: Pick<Turn, "id" | "startedAt">;
  readonly agent: Agent;
  readonly cost: TurnCost;
  readonly list: PriceList;
  readonly now: number;
}

/** Books the usage and cost of a turn, of any driver, in the transaction that ends the turn. */
export async function bookTurn(tx: Tx, { turn, agent, cost, list, now }: SettledTurn): Promise<void> {
  const source = {
    ...cost,
    ...ownerOf(agent),
    source: turn.id,
    model: agent.model,
    startedAt: turn.startedAt ?? now,
    endedAt: now,
  };
  await tx.spending.book(spendingRows(source, await tx.usage.ofTurn(turn.id), list));
}

const ownerOf = (agent: Agent) => ({
  agentId: agent.id,
  agentName: agent.name,
  capability: agent.capability,
  runtime: agent.runtime,
  runId: agent.runId,
  taskId: agent.taskId,
});
