import type { MergePorts } from "./ports.ts";

/** A gate has no work of its own to save. */
const graceMs = 500;

/**
 * Ends the gates of an engine that is no more. What one of them was about to install is not believed either: the
 * places of the pool are emptied.
 */
export async function endLostGates(ports: MergePorts): Promise<void> {
  const { store, merging, processes, clock, rules } = ports;
  const lost = await store.read((tx) => tx.processes.liveInRole("gate"));
  if (lost.length === 0) return;
  for (const gate of lost) {
    await processes.endTree(gate, graceMs);
    await store.transaction((tx) => tx.processes.end(gate.id, "its engine is gone", clock.now()));
  }
  const head = await merging.commitOf("HEAD");
  if (head === undefined) return;
  for (let slot = 0; slot < rules.merge.parallelGates; slot++) await merging.checkOut(slot, head, []);
}
