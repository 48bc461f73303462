import type { Agent } from "../domain/agent/agent.ts";
import { stopEnd, watchdog } from "../domain/agent/transition.ts";
import { endAgent } from "../usecases/agents/end-agent.ts";
import type { EnginePorts } from "./ports.ts";

const graceMs = 2_000;

/**
 * Completes stops whose command died half-way, and stops that the watchdog asked for: ends what still runs, and ends the
 * agent when no supervisor is there to do it. Safe to repeat, and harmless beside the command that does the same.
 */
export class UnfinishedStops {
  readonly #seen = new Map<string, number>();

  /** True when somebody ended by it, which others may have to hear of. */
  async finish(ports: EnginePorts): Promise<boolean> {
    const stopping = await ports.store.read((tx) => tx.agents.stopping());
    const now = ports.clock.monotonic();
    for (const id of this.#seen.keys()) if (!stopping.some((agent) => agent.id === id)) this.#seen.delete(id);
    let ended = false;
    for (const agent of stopping) {
      const since = this.#seen.get(agent.id) ?? now;
      this.#seen.set(agent.id, since);
      if (agent.stopRequestedBy !== watchdog && now - since < headStartMs) continue;
      if (await finishStop(ports, agent)) ended = true;
    }
    return ended;
  }
}

/** A command that stops somebody ends the processes itself and tells how that went; it should find them alive. */
const headStartMs = 4_000;

async function finishStop(ports: EnginePorts, agent: Agent): Promise<boolean> {
  const live = await ports.store.read((tx) => tx.processes.liveForAgent(agent.id));
  for (const process of live.filter((record) => record.role === "agent")) {
    await ports.processes.endTree(process, graceMs, { turnId: process.turnId ?? undefined });
  }
  await ports.processes.endStartedFor(agent.id, graceMs);
  ports.reach("stop.after-kill");
  const now = ports.clock.now();
  return ports.store.transaction(async (tx) => {
    const current = await tx.agents.get(agent.id);
    // With a turn running its supervisor, or the one that takes over, settles it the same way.
    if (current === undefined || (await tx.turns.runningFor(agent.id)) !== undefined) return false;
    const end = stopEnd(current.stopRequestedBy ?? "operator");
    const notifyDeaths = ports.settings.watchdog.notifyParentOnDeath;
    const told = { ...end, death: end.reason, turnId: null };
    return endAgent(tx, { ids: ports.ids, now, notifyDeaths }, current, told);
  });
}
