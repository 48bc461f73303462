import type { ProcessIdentity } from "../../domain/process/process.ts";
import type { Tx } from "../../ports/store.ts";

/**
 * The agent in whose process tree a caller runs, by the processes the caller descends from: no token means the operator
 * only where this is undefined.
 */
export async function agentAbove(tx: Tx, ancestors: readonly ProcessIdentity[]): Promise<string | undefined> {
  if (ancestors.length === 0) return undefined;
  const recorded = await tx.processes.withPids(ancestors.map((process) => process.pid));
  const above = recorded.find(
    (record) =>
      (record.role === "agent" || record.role === "gate") &&
      ancestors.some(
        (process) =>
          process.pid === record.pid && process.startToken === record.startToken && process.bootId === record.bootId,
      ),
  );
  if (above === undefined) return undefined;
  const agent = above.agentId === null ? undefined : await tx.agents.get(above.agentId);
  return agent?.name ?? "a gate command";
}
