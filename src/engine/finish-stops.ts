import type { Agent } from "../domain/agent/agent.ts";
import { endAgent } from "../usecases/agents/end-agent.ts";
import type { EnginePorts } from "./ports.ts";

const graceMs = 2_000;

/**
 * Completes stops whose command died half-way, and stops that the watchdog asked for: ends what still runs, and ends the
 * agent when no supervisor is there to do it. Safe to repeat, and harmless beside the command that does the same.
 */
export async function finishStops(ports: EnginePorts): Promise<void> {
  const stopping = await ports.store.read((tx) => tx.agents.stopping());
  for (const agent of stopping) await finishStop(ports, agent);
}

async function finishStop(ports: EnginePorts, agent: Agent): Promise<void> {
  const live = await ports.store.read((tx) => tx.processes.liveForAgent(agent.id));
  for (const process of live.filter((record) => record.role === "agent")) {
    await ports.processes.endTree(process, graceMs);
  }
  ports.reach("stop.after-kill");
  const now = ports.clock.now();
  await ports.store.transaction(async (tx) => {
    const current = await tx.agents.get(agent.id);
    // With a turn running its supervisor, or the one that takes over, settles it as stopped.
    if (current === undefined || (await tx.turns.runningFor(agent.id)) !== undefined) return;
    const by = current.stopRequestedBy ?? "operator";
    const byWatchdog = by === "watchdog";
    await endAgent(tx, { ids: ports.ids, now }, current, {
      state: byWatchdog ? "zombie" : "completed",
      outcome: byWatchdog ? "stalled" : "stopped",
      actor: byWatchdog ? "watchdog" : "operator",
      reason: `stopped by ${by}`,
      death: `stopped by ${by}`,
      turnId: null,
    });
  });
}
