import { type Caller, operator } from "../../domain/caller/caller.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Tx } from "../../ports/store.ts";

/**
 * Who speaks. A token names exactly one incarnation; one that is unknown, revoked or of an ended turn speaks for nobody.
 * No token is the operator.
 */
export async function identify(tx: Tx, ids: Ids, token: string | undefined): Promise<Result<Caller, Refusal>> {
  if (token === undefined || token === "") return ok(operator);
  const known = await tx.tokens.get(ids.digest(token));
  if (known === undefined || known.revokedAt !== null) return no({ kind: "unknown-token" });
  const agent = await tx.agents.get(known.agentId);
  if (agent === undefined) return no({ kind: "unknown-token" });
  return ok({
    kind: "agent",
    name: agent.name,
    agentId: agent.id,
    capability: agent.capability,
    runId: agent.runId,
    taskId: agent.taskId,
    turnId: known.turnId,
  });
}
