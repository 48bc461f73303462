import { runOf } from "./checks.ts";
import type { MergePorts } from "./ports.ts";

/** A gate has no work of its own to save. */
const graceMs = 500;

/** Ends the gates of an engine that is no more. What one of them was about to install was not kept, and is not used. */
export async function endLostGates(ports: MergePorts): Promise<void> {
  const { store, processes, clock } = ports;
  const lost = await store.read((tx) => tx.processes.liveInRole("gate"));
  for (const gate of lost) {
    const { id: gateRun, mark } = runOf(ports, gate.id);
    await processes.endTree(gate, graceMs, { gateRun, mark });
    await store.transaction((tx) => tx.processes.end(gate.id, "its engine is gone", clock.now()));
  }
}
