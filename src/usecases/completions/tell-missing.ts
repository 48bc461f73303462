import { hasEnded } from "../../domain/agent/agent.ts";
import type { StoredCheck } from "../../domain/completion/check.ts";
import type { Missing } from "../../domain/completion/missing.ts";
import type { Tx } from "../../ports/store.ts";
import { notify } from "../merge/notify.ts";
import type { Context } from "../usecase.ts";

/**
 * A refused completion is told by mail where nobody waits for the answer any more: the agent's turn ended before its
 * gates did, so it must be woken to mend what is missing.
 */
export async function tellMissing(
  tx: Tx,
  context: Context,
  { kind, agentId, id }: StoredCheck,
  missing: readonly Missing[],
): Promise<void> {
  const agent = kind !== "completion" || agentId === null ? undefined : await tx.agents.get(agentId);
  if (agent === undefined || hasEnded(agent) || (await tx.turns.runningFor(agent.id)) !== undefined) return;
  const lines = missing.flatMap(({ message, fix, logTail, logPath }) => [
    `- ${message}`,
    `  ${fix}`,
    ...(logPath === undefined ? [] : [`  whole output: ${logPath}`]),
    ...(logTail === undefined ? [] : [logTail]),
  ]);
  await notify(tx, context, [agent.name], {
    type: "error",
    priority: "high",
    runId: agent.runId,
    subject: "Your work is not complete yet",
    body: ["ov done was refused after your turn had ended. What is missing:", ...lines].join("\n"),
    payload: JSON.stringify({ checkId: id, missing }),
    wake: [agent.name],
  });
}
