import type { EnginesAbroad } from "../ports/engine-contact.ts";
import type { Store } from "../ports/store.ts";

interface AbroadPorts {
  readonly store: Store;
  readonly abroad: EnginesAbroad;
}

/**
 * Starts engines of other projects, where an orchestrator of ours gave work. An engine that it started itself would
 * carry its mark and die with its turn. A request counts only while an orchestrator has a turn; any other is deleted.
 */
export async function startEnginesAbroad({ store, abroad }: AbroadPorts): Promise<void> {
  for (const { id, root } of abroad.requests()) {
    try {
      if (await anOrchestratorWorks(store)) await abroad.start(root);
    } finally {
      abroad.forget(id);
    }
  }
}

const anOrchestratorWorks = (store: Store): Promise<boolean> =>
  store.read(async (tx) => {
    for (const { agentId } of await tx.turns.running()) {
      if ((await tx.agents.get(agentId))?.capability === "orchestrator") return true;
    }
    return false;
  });
