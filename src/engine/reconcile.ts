import type { Turn } from "../domain/turn/turn.ts";
import type { Claimed } from "./dispatch.ts";
import type { EnginePorts } from "./ports.ts";

const firstPauseMs = 200;
const longestPauseMs = 30_000;

/**
 * Gives running turns whose supervisor is gone to new ones, by a higher fence. A turn whose supervisors die one after
 * the other is tried again with growing pauses: what kills them must not take a whole core.
 */
export class LostTurns {
  readonly #tries = new Map<string, { count: number; nextAt: number }>();

  /** `starting` names turns whose supervisor was just started and had no time to record itself. */
  async takeOver(ports: EnginePorts, starting: ReadonlySet<string>): Promise<Claimed[]> {
    const now = ports.clock.monotonic();
    const lost = (await lostTurns(ports, starting)).filter(({ id }) => (this.#tries.get(id)?.nextAt ?? 0) <= now);
    if (lost.length === 0) return [];
    const taken = await ports.store.transaction(async (tx) => {
      const claimed: Claimed[] = [];
      for (const turn of lost) {
        const current = await tx.turns.get(turn.id);
        if (current?.fence !== turn.fence) continue;
        const fence = await tx.turns.takeOver(turn.id);
        if (fence !== undefined) claimed.push({ turnId: turn.id, fence });
      }
      return claimed;
    });
    for (const { turnId } of taken) {
      const count = (this.#tries.get(turnId)?.count ?? 0) + 1;
      // The first successor may come at once; from the second on something is wrong with the turn itself.
      const pause = count === 1 ? 0 : Math.min(firstPauseMs * 2 ** (count - 2), longestPauseMs);
      this.#tries.set(turnId, { count, nextAt: now + pause });
    }
    return taken;
  }
}

async function lostTurns(ports: EnginePorts, starting: ReadonlySet<string>): Promise<Turn[]> {
  return ports.store.read(async (tx) => {
    const lost: Turn[] = [];
    for (const turn of await tx.turns.running()) {
      if (starting.has(turn.id)) continue;
      const supervisors = (await tx.processes.liveForTurn(turn.id)).filter((process) => process.role === "supervisor");
      if (supervisors.every((process) => ports.processes.check(process) === "gone")) lost.push(turn);
    }
    return lost;
  });
}
