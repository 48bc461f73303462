import type { EnginePorts } from "./ports.ts";
import { turnLease } from "./supervisor/begin.ts";

interface Sighting {
  readonly fence: number;
  readonly beat: number;
  readonly since: number;
}

/**
 * Notices supervisors that live but do not beat: stopped by a signal, or stuck. Judged by this engine's own awake time
 * alone: the same (fence, beat) seen for twice the lease. Such a supervisor is killed, itself only; the agent it started
 * goes on and is adopted by the next one.
 */
export class SilentSupervisors {
  readonly #seen = new Map<string, Sighting>();

  async killSilent(ports: EnginePorts): Promise<void> {
    const now = ports.clock.monotonic();
    const running = await ports.store.read(async (tx) => {
      const found = [];
      for (const turn of await tx.turns.running()) {
        const lease = await tx.leases.get(turnLease(turn.id));
        const owners = await tx.processes.liveForTurn(turn.id);
        if (lease !== undefined)
          found.push({ turn, lease, owners: owners.filter((owner) => owner.role === "supervisor") });
      }
      return found;
    });
    for (const id of this.#seen.keys()) if (!running.some(({ turn }) => turn.id === id)) this.#seen.delete(id);
    for (const { turn, lease, owners } of running) {
      const seen = this.#seen.get(turn.id);
      if (seen === undefined || seen.fence !== lease.fence || seen.beat !== lease.beat) {
        this.#seen.set(turn.id, { fence: lease.fence, beat: lease.beat, since: now });
        continue;
      }
      if (now - seen.since < 2 * ports.settings.leaseMs) continue;
      for (const owner of owners) ports.killOne(owner);
      this.#seen.delete(turn.id);
    }
  }
}
